"""What is pointed out to whoever is asked: words of ours about a call, never the guest's.

A remark blocks nothing. It is for the approver, the log and the journal; a guest that was told of
it would learn how to word things so that nobody looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nocturn.guard.shapes import ShapeHit

__all__ = ["EDIT", "INSTRUCTIONS", "OPAQUE", "OUTSIDE", "SHAPE", "Remark", "remarks_on"]

SHAPE: Final = "shape"
"""Something beside a key word has the form of a secret."""
OPAQUE: Final = "opaque"
"""Something looks encrypted or compressed, so that nobody can read what it says."""
INSTRUCTIONS: Final = "instructions"
"""Something reads like instructions to a model; as good as text from outside."""
OUTSIDE: Final = "outside"
"""The run has taken in text from outside."""
EDIT: Final = "edit"
"""What the person wrote instead was not taken."""

_OF_A_KIND: Final = 5
"""So many remarks of one kind are told one by one; of the rest, how many there are."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing that is pointed out.

    Attributes:
        kind: ``shape``, ``opaque``, ``instructions``, ``outside`` or ``edit``.
        place: Where in the call: an argument's name, and the line from 1 on where there are lines.
        text: What it is, in words of ours that quote nothing.
        rule: The rule that saw it, for the journal.
    """

    kind: str
    place: str
    text: str
    rule: str = ""

    def to_dict(self) -> dict[str, str]:
        """Returns what a journal may hold of it: kind, rule and place, never the words."""
        return {"kind": self.kind, "rule": self.rule, "place": self.place}


def remarks_on(
    named: Sequence[tuple[str, str]], shapes: dict[str, Sequence[ShapeHit]]
) -> tuple[Remark, ...]:
    """Returns what there is to point out in a call's arguments.

    Args:
        named: Each string of the arguments, with the argument's name before it.
        shapes: The shapes that were found in a string, by the string.
    """
    found = [remark for name, text in named for remark in _in_text(name, text, shapes)]
    return tuple(_told(found))


def _in_text(name: str, text: str, shapes: dict[str, Sequence[ShapeHit]]) -> Iterator[Remark]:
    from nocturn.guard.instructions import instructions_in
    from nocturn.guard.opaque import opaque_in

    for hit in shapes.get(text, ()):
        if not hit.blocks:
            yield Remark(SHAPE, _place(name, text, hit.start), f"may be {hit.what}", hit.rule)
    for blob in opaque_in(text):
        yield Remark(OPAQUE, _place(name, text, blob.start), blob.what, blob.rule)
    for order in instructions_in(text):
        yield Remark(INSTRUCTIONS, _place(name, text, order.start), order.what, order.rule)


def _place(name: str, text: str, at: int) -> str:
    return f"{name}, line {text.count(chr(10), 0, at) + 1}" if "\n" in text else name


def _told(found: Iterable[Remark]) -> Iterator[Remark]:
    """Yields the first of each kind, and one remark that counts the others."""
    of_kind: dict[str, list[Remark]] = {}
    for remark in dict.fromkeys(found):
        of_kind.setdefault(remark.kind, []).append(remark)
    for kind, remarks in of_kind.items():
        yield from remarks[:_OF_A_KIND]
        if len(remarks) > _OF_A_KIND:
            said = f"and {len(remarks) - _OF_A_KIND:,} more like it"
            yield Remark(kind, remarks[_OF_A_KIND].place, said, "more")

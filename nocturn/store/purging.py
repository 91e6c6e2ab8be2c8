"""Forgetting for good: what shall go, and what each store that holds notes' words must be able to.

A removal keeps a note in the trash and its history; a purge is for the day a secret got in. Files
are replaced or unlinked, not overwritten where they lie: on a solid-state disk, and wherever a file
system copies on write, that would look safer and be the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from nocturn.names import nfc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FOR_EVER", "PURGED", "Doomed", "Purgeable", "Text", "dumped"]

PURGED: Final = "[PURGED]"
"""What stands where a purged note's name stood."""
FOR_EVER: Final = 1 << 62
"""Until when a name was a note's that has it still, in milliseconds since 1970."""


def _unchanged(text: str) -> str:
    return text


@dataclass(frozen=True, slots=True)
class Doomed:
    """What shall be forgotten: a note under each name that it had, or a value wherever it stands.

    Attributes:
        names: The note's canonical paths, each with the moment until which it was this note's, in
            milliseconds since 1970.
        strike: Takes the value out of a text.
        held_by: The canonical paths of the notes that have held the value: a journal knows a hash
            of what was written to them.
    """

    names: Mapping[str, int] = field(default_factory=dict[str, int], repr=False)
    strike: Callable[[str], str] = field(default=_unchanged, repr=False)
    held_by: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def kind(self) -> str:
        """What it is, in a word: ``note`` or ``value``."""
        return "note" if self.names else "value"

    def has(self, path: str, at_ms: int = 0) -> bool:
        """Returns whether a path was the note's at a moment, in milliseconds since 1970."""
        until = self.names.get(nfc(path))
        return until is not None and at_ms <= until

    def is_in(self, data: bytes) -> bool:
        """Returns whether a file's bytes have the value, or name the note."""
        named = any(each.encode() in data for each in self.names)
        return named or self.struck_bytes(data) != data

    def struck(self, value: Any) -> Any:
        """Returns what JSON can hold without the value, keys too.

        Raises:
            RecursionError: It is nested deeper than anything that nocturn writes.
        """
        if isinstance(value, str):
            return self.strike(value)
        if isinstance(value, dict):
            pairs: list[tuple[Any, Any]] = [*value.items()]
            return {self.struck(key): self.struck(each) for key, each in pairs}
        if isinstance(value, list):
            items: list[Any] = [*value]
            return [self.struck(each) for each in items]
        return value

    def struck_bytes(self, data: bytes) -> bytes:
        """Returns a file's bytes without the value; what is no UTF-8 stays as it is."""
        text = data.decode("utf-8", "surrogateescape")
        new = self.strike(text)
        return data if new == text else new.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Text:
    """Something that a store keeps of a note.

    Attributes:
        where: Which store: ``note``, ``trash``, ``persona``, ``history``.
        path: The note's path.
        text: The text; None where it is there and cannot be read.
        number: The state's number in the history; 0 elsewhere.
    """

    where: str
    path: str
    text: str | None = field(repr=False)
    number: int = 0


class Purgeable(Protocol):
    """A store that holds words of notes, or their names."""

    def purge(self, doomed: Doomed, /) -> int:
        """Forgets it for good. Done again, it is done to the end: a purge may be killed.

        Returns:
            In how many places it was.
        """
        ...


def dumped(value: Any) -> str:
    """Returns JSON as nocturn's stores write it."""
    return json.dumps(value, separators=(",", ":"))

"""The catalog: one line a note, derived from the files as they are now.

It goes into a system prompt, so it is bounded, and whatever a note's author wrote stays inside its
line: redacted first, then neutralised. The numbers are the contract's section 5. Its parts:
``heads.py`` has what each note says, ``kept.py`` keeps that, ``packing.py`` shares the room out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nocturn.limits import CATALOG_BYTES
from nocturn.store.packing import Line, Packed, packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nocturn.store.heads import Heads
    from nocturn.store.redaction import Redaction

__all__ = ["Catalog", "NoteCatalog", "prompt_block"]

_OPENING: Final = (
    '<memory note="what you have chosen to remember about this user; the links are files you can '
    'memory_read">'
)
_CLOSING: Final = "</memory>"
_LOOKS: Final = 8
"""A secret may be a piece of ``[REDACTED]`` itself, so that there is no end to striking it out."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog of one moment.

    Attributes:
        text: At most 2,048 bytes of UTF-8, without a final line break; empty where no note is.
        left_out: A warning for each note or folder that could not be read, naming it.
        listed: How many notes have a line.
        not_listed: How many have none for want of room, those of ``too_long`` among them.
        too_long: How many have a line over 512 bytes.
    """

    text: str
    left_out: tuple[str, ...]
    listed: int
    not_listed: int
    too_long: int

    def stats(self) -> dict[str, int]:
        """Returns how full it is, as a dictionary that JSON can hold; sizes are in bytes."""
        size = len(self.text.encode())
        return {
            "bytes": size,
            "limit": CATALOG_BYTES,
            "left": CATALOG_BYTES - size,
            "listed": self.listed,
            "not_listed": self.not_listed,
            "too_long": self.too_long,
            "unreadable": len(self.left_out),
        }


class NoteCatalog:
    """The catalog of a folder of notes. Safe to use from many threads.

    Args:
        heads: What the notes say.
        redaction: Takes secrets out of the lines as they stand together.
    """

    def __init__(self, heads: Heads, redaction: Redaction) -> None:
        self._heads = heads
        self._redaction = redaction

    def look(self) -> Catalog:
        """Derives the catalog from the files as they are now.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the folder itself cannot be opened.
        """
        heads = self._heads.look()
        listed = self._listed([each.line for each in heads if not each.warning])
        left_out = sorted((each.line.path, each.warning) for each in heads if each.warning)
        return Catalog(
            listed.text,
            tuple(warning for _, warning in left_out),
            len(listed.lines),
            listed.not_listed,
            listed.too_long,
        )

    def forget(self) -> None:
        """Forgets what was derived, on the disk too; the next look derives it anew.

        Raises:
            NocturnError: ``STORAGE``, where the disk does not let go of it.
        """
        self._heads.forget()

    def _listed(self, lines: Sequence[Line]) -> Packed:
        """Packs the lines, redacted once more together: pieces of one secret may be in several."""
        for _ in range(_LOOKS):
            chosen = packed(lines)
            seen = self._redaction.redact_all([each.text for each in chosen.lines])
            struck = {
                line: replace(line, text=text)
                for line, text in zip(chosen.lines, seen, strict=True)
                if text != line.text
            }
            if not struck:
                return chosen
            lines = [struck.get(line, line) for line in lines]
        return Packed((), len(lines), 0)


def prompt_block(catalog_text: str) -> str:
    """Gives the block that stands in a system prompt, empty for an empty catalog."""
    return f"{_OPENING}\n{catalog_text}\n{_CLOSING}" if catalog_text else ""

"""How the catalog's room is shared out: fairly among folders, the newest first within one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nocturn.limits import CATALOG_BYTES, CATALOG_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Line", "Packed", "packed"]


@dataclass(frozen=True, slots=True)
class Line:
    """A note's line in the catalog.

    Attributes:
        path: The note's path.
        text: The line, without a line break.
        modified_ns: When the note was changed, in ns since the epoch.
    """

    path: str
    text: str
    modified_ns: int

    @property
    def bytes(self) -> int:
        """Its size in UTF-8."""
        return len(self.text.encode())


@dataclass(frozen=True, slots=True)
class Packed:
    """Those lines that there is room for.

    Attributes:
        lines: They, sorted by path.
        not_listed: How many more there are, those that are too long among them.
        too_long: How many are over 512 bytes.
    """

    lines: tuple[Line, ...]
    not_listed: int
    too_long: int

    @property
    def text(self) -> str:
        """The catalog, at most 2,048 bytes, its notice included; no line break at its end."""
        lines = [each.text for each in self.lines]
        return "\n".join([*lines, _notice(self.not_listed)] if self.not_listed else lines)


def packed(lines: Iterable[Line]) -> Packed:
    """Lists all lines if they fit, else deals the room out to the folders in turn, a line a time.

    In each round a folder lists its newest line of those that are left; the folder with the newest
    note goes first. One whose next line does not fit is done: the others' further lines only fill
    what it could not have used.
    """
    every = sorted(lines, key=lambda line: (line.path, line.text))
    short = [each for each in every if each.bytes <= CATALOG_LINE_BYTES]
    too_long = len(every) - len(short)
    # Each line but the last is followed by a line break.
    if not too_long and sum(each.bytes + 1 for each in short) - 1 <= CATALOG_BYTES:
        return Packed(tuple(short), 0, 0)
    chosen = _dealt(short, len(every))
    listed = tuple(each for at, each in enumerate(short) if at in chosen)
    return Packed(listed, len(every) - len(listed), too_long)


def _dealt(lines: Sequence[Line], total: int) -> set[int]:
    """Gives which lines are listed; there are more than fit."""
    folders: dict[str, list[int]] = defaultdict(list)
    for at in sorted(range(len(lines)), key=lambda at: -lines[at].modified_ns):
        folders[lines[at].path.rpartition("/")[0]].append(at)
    in_turn = [iter(each) for each in folders.values()]
    chosen: set[int] = set()
    size = 0

    def lists_one_more(folder: Iterator[int]) -> bool:
        nonlocal size
        for at in folder:
            with_it = size + lines[at].bytes + 1
            fits = with_it + len(_notice(total - len(chosen) - 1).encode()) <= CATALOG_BYTES
            if fits:
                chosen.add(at)
                size = with_it
            return fits
        return False

    while in_turn:
        in_turn = [folder for folder in in_turn if lists_one_more(folder)]
    return chosen


def _notice(more: int) -> str:
    return f"({more} more notes not listed — memory is at its limit; consolidate)"

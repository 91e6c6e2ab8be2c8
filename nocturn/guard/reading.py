"""A text as it reads in some way, with the way back to where it stands.

A value hides in a text that reads differently: in another case, backwards, encoded, a letter a
line. Each reading is a row of bytes that was made of another's; where it came from is worked out
when something was found in it and not before, since nearly always nothing is.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "Places",
    "Reading",
    "Several",
    "View",
    "edited",
    "kept_of",
    "of_rows",
    "picked",
    "several",
    "together",
]

Places: TypeAlias = "tuple[Sequence[int], Sequence[int]]"
"""For each byte of a reading where that begins, and where that ends, of which it was made."""

Edit: TypeAlias = "tuple[int, int, bytes]"
"""Start, end and what replaces the bytes between them."""

_GAP: Final = 16
"""Places that are no further apart are one stretch: what lies between is a separator."""


class View(IntEnum):
    """How the values are seen that a reading is searched for."""

    EXACT = 0
    SKELETON = 1
    SHIFTED = 2
    XOR_1 = 3
    XOR_2 = 4
    XOR_3 = 5
    XOR_4 = 6


class Reading:
    """A text as it reads after one more step.

    Args:
        data: How it reads.
        source: What it was made of; None for the text itself, in UTF-8.
        places: How to find where each byte came from; None where byte stands for byte.
        plain: Whether it reads so without a choice: as it stands, or decoded as it says.
    """

    __slots__ = ("_known", "_places", "data", "plain", "source")

    def __init__(
        self,
        data: bytes,
        source: Reading | None = None,
        places: Callable[[], Places] | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self.data = data
        self.source = source
        self.plain = plain
        self._places = places
        self._known: Places | None = None

    def stretches(self, start: int, end: int) -> list[tuple[int, int]]:
        """Returns where ``data[start:end]`` came from in the text itself: sorted, apart."""
        found = [(start, end)]
        reading: Reading | None = self
        while reading is not None:
            found = reading.back(found)
            reading = reading.source
        return found

    def back(self, stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Returns where stretches came from in the source; without one they are in the text."""
        if self._places is None:
            return stretches
        if self._known is None:
            self._known = self._places()
        starts, ends = self._known
        pairs = [
            pair
            for start, end in stretches
            for pair in zip(starts[start:end], ends[start:end], strict=True)
        ]
        return together(pairs, _GAP)


class Several(Reading):
    """Several readings as one, so that what is done with them is done once.

    Args:
        rows: How each of them reads.
        part: Gives one of them by its number; asked when something was found in it.
        plain: Whether all of them are plain.
    """

    __slots__ = ("_part", "_rows")

    def __init__(
        self, rows: Sequence[bytes], part: Callable[[int], Reading], *, plain: bool = False
    ) -> None:
        # The byte between them is in no alphabet and in no value: nothing is found over a border.
        super().__init__(b"\0".join(rows), plain=plain)
        self._rows = rows
        self._part = part

    def back(self, stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Returns where stretches came from in the text itself."""
        starts = [0, *accumulate(len(each) + 1 for each in self._rows)]
        found: list[tuple[int, int]] = []
        for start, end in stretches:
            for at in range(max(bisect_right(starts, start) - 1, 0), len(self._rows)):
                begin = starts[at]
                if begin >= end:
                    break
                low, high = max(start - begin, 0), min(end - begin, len(self._rows[at]))
                found += self._part(at).stretches(low, high) if low < high else ()
        return together(found)


def several(readings: Sequence[Reading]) -> Several:
    """Returns readings as one; it is plain where all are."""
    rows = [each.data for each in readings]
    return Several(rows, readings.__getitem__, plain=all(each.plain for each in readings))


def together(spans: Iterable[tuple[int, int]], gap: int = 0) -> list[tuple[int, int]]:
    """Returns spans sorted, with those made one that touch or are at most ``gap`` apart."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def edited(source: Reading, edits: Sequence[Edit], *, plain: bool = True) -> Reading:
    """Returns what reads so after some edits, which are in order and do not touch.

    An edited piece counts whole: of an escape nothing stays behind.
    """
    pieces: list[bytes] = []
    at = 0
    for start, end, new in edits:
        pieces += (source.data[at:start], new)
        at = end
    data = b"".join((*pieces, source.data[at:]))

    def places() -> Places:
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for start, end, new in (*edits, (len(source.data), len(source.data), b"")):
            starts += (*range(at, start), *([start] * len(new)))
            ends += (*range(at + 1, start + 1), *([end] * len(new)))
            at = end
        return starts, ends

    return Reading(data, source, places, plain=plain)


def kept_of(source: Reading, data: bytes, dropped: bytes, *, plain: bool = False) -> Reading:
    """Returns what is left without some bytes; ``data`` may differ from it in their values."""

    def places() -> Places:
        out = frozenset(dropped)
        starts = [at for at, code in enumerate(source.data) if code not in out]
        return starts, [at + 1 for at in starts]

    return Reading(data, source, places, plain=plain)


def picked(source: Reading, data: bytes, which: Callable[[], Sequence[int]]) -> Reading:
    """Returns a reading of some bytes of another, in any order.

    Args:
        source: Of what they were picked.
        data: The bytes.
        which: Where they stand, worked out when it is asked for.
    """

    def places() -> Places:
        starts = which()
        return starts, [at + 1 for at in starts]

    return Reading(data, source, places)


def of_rows(source: Reading, rows: list[tuple[int, int, bytes]], *, plain: bool = False) -> Reading:
    """Returns a reading of bytes that each come from a stretch of another: start, end, bytes."""

    def places() -> Places:
        starts = [start for start, _, new in rows for _ in new]
        ends = [end for _, end, new in rows for _ in new]
        return starts, ends

    return Reading(b"".join(new for _, _, new in rows), source, places, plain=plain)

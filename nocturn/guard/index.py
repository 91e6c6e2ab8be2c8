"""Finds every piece of every value in a text, in one pass for all of them.

Short rows of bytes, the grams, are cut out of the values and searched together; where one is met,
the piece is grown to both sides as far as text and value agree.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from nocturn.guard.folding import skeleton
from nocturn.limits import SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ahocorasick_rs import BytesAhoCorasick

    from nocturn.guard.target import Target

__all__ = [
    "PIECES_BITS",
    "Index",
    "Piece",
    "Projection",
    "exact",
    "shifted",
    "skeletal",
    "steps",
    "xor_differences",
    "xored",
]

_LONG: Final = 512
"""Bytes of a value up to which every gram is searched; of a longer one, evenly spread ones."""
PIECES_BITS: Final = 32.0
"""A value with fewer bits is searched whole, and as it is: its pieces would be in every text."""
_REPEATS: Final = 4
"""How often a gram that repeats within one value is a place to grow from."""


class Piece(NamedTuple):
    """A row of bytes that a text has in common with a value.

    Attributes:
        target: The value.
        start: Where the piece begins in the value, in bytes.
        end: Where it ends there.
        bits: What somebody would have to guess of it, as it is written in this text.
        at: Where it begins in the text that was searched, in bytes.
        size: How many bytes it has there.
        whole: Whether it is all of the value that is not public.
    """

    target: Target
    start: int
    end: int
    bits: float
    at: int
    size: int
    whole: bool


class Projection(NamedTuple):
    """A way to see a value, the same in which the text is seen.

    Attributes:
        data: The value as it is seen.
        places: For each byte of it and one past them, where it stands in the value.
        bits: For each byte of it, what is to be guessed.
    """

    data: bytes
    places: tuple[int, ...]
    bits: tuple[float, ...]


def exact(target: Target) -> Projection:
    """Sees a value as it is."""
    size = len(target.value)
    return Projection(target.value, tuple(range(size + 1)), target.bits)


def skeletal(target: Target) -> Projection:
    """Sees a value without case, leet and what is no letter or digit."""
    letters, bits = target.letters, target.folded_bits
    return Projection(
        skeleton(target.value),
        (*letters, letters[-1] + 1 if letters else 0),
        tuple(bits[at] for at in letters),
    )


def xored(period: int) -> Callable[[Target], Projection]:
    """Sees how each byte differs from the one ``period`` before: the same under any such key."""

    def see(target: Target) -> Projection:
        return _differences(target, period, xor_differences(target.value, period))

    return see


def shifted(target: Target) -> Projection:
    """Sees the steps between neighbours: the same wherever the alphabet is made to begin."""
    return _differences(target, 1, steps(target.value))


def xor_differences(data: bytes, period: int) -> bytes:
    """Returns each byte exclusive-or the one ``period`` before it. One big number is quickest."""
    size = len(data) - period
    if size <= 0:
        return b""
    number = int.from_bytes(data[period:], "big") ^ int.from_bytes(data[:size], "big")
    return number.to_bytes(size, "big")


def steps(data: bytes) -> bytes:
    """Returns each byte minus the one before it, modulo 256. Lanes of 16 bits hold the borrow."""
    size = len(data) - 1
    if size <= 0:
        return b""
    wide = data.decode("latin-1").encode("utf-16-be")
    borrow = int.from_bytes(b"\x01\x00" * size, "big")
    number = int.from_bytes(wide[2:], "big") + borrow - int.from_bytes(wide[:-2], "big")
    return number.to_bytes(2 * size, "big")[1::2]


def _differences(target: Target, period: int, data: bytes) -> Projection:
    size = len(data)
    return Projection(
        data, tuple(range(period, period + size + 1)), target.bits[period : period + size]
    )


class Index:
    """All values, seen in one way, ready to be searched for.

    Args:
        targets: The values.
        see: How they are seen.
        gram: How many bytes a gram has; no shorter piece is found.
        every: Between grams that are searched, in bytes.
        weak: Whether values that are too easy to guess to have pieces are searched whole.
    """

    def __init__(
        self,
        targets: Iterable[Target],
        see: Callable[[Target], Projection],
        *,
        gram: int,
        every: int = 1,
        weak: bool = False,
    ) -> None:
        self._seen: list[tuple[Target, Projection, tuple[float, ...]]] = []
        self._owners: list[list[tuple[int, int]]] = []
        grams: dict[bytes, int] = {}
        for target in targets:
            projection = see(target)
            for start, end in _cuts(projection, gram, every, weak=weak):
                which = grams.setdefault(projection.data[start:end], len(grams))
                if which == len(self._owners):
                    self._owners.append([])
                owners = self._owners[which]
                if len(owners) < _REPEATS or owners[-_REPEATS][0] != len(self._seen):
                    owners.append((len(self._seen), start))
            self._seen.append((target, projection, (0.0, *accumulate(projection.bits))))
        self._grams = [*grams]
        self._machine = _machine(self._grams) if grams else None

    def pieces(self, data: bytes) -> Iterator[Piece]:
        """Yields each longest piece that the data and a value have in common."""
        if self._machine is None:
            return
        grown: dict[tuple[int, int], int] = {}
        for which, at, _ in self._machine.find_matches_as_indexes(data, overlapping=True):
            for number, start in self._owners[which]:
                way = (number, at - start)
                if grown.get(way, -1) > at:
                    continue
                target, projection, counted = self._seen[number]
                value = projection.data
                back = _agree_back(data, at, value, start)
                ahead = _agree(data, at, value, start)
                grown[way] = at + ahead
                first, last = start - back, start + ahead
                places = projection.places
                begin, end = places[first], places[last - 1] + 1
                core = target.core
                yield Piece(
                    target,
                    begin,
                    end,
                    counted[last] - counted[first],
                    at - back,
                    back + ahead,
                    (first == 0 or begin <= core[0]) and (last == len(value) or end >= core[1]),
                )


def _cuts(
    projection: Projection, gram: int, every: int, *, weak: bool
) -> Iterator[tuple[int, int]]:
    data, bits = projection.data, projection.bits
    size = len(data)
    if size < gram:
        return
    if sum(bits) < PIECES_BITS:
        if weak:
            yield 0, size
        return
    step = max(every, size // _LONG)
    last = size - gram
    for start in (*range(0, last, step), last):
        if sum(map(bool, bits[start : start + gram])) >= SECRET_CHARACTERS:
            yield start, start + gram


def _machine(grams: list[bytes]) -> BytesAhoCorasick:
    from ahocorasick_rs import BytesAhoCorasick

    return BytesAhoCorasick(grams)


def _agree(data: bytes, at: int, value: bytes, start: int) -> int:
    """Returns for how many bytes both are the same from there on."""
    low, high = 0, min(len(data) - at, len(value) - start)
    if data[at : at + high] == value[start : start + high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if data[at : at + middle] == value[start : start + middle]:
            low = middle
        else:
            high = middle
    return low


def _agree_back(data: bytes, at: int, value: bytes, start: int) -> int:
    """Returns for how many bytes both are the same before there."""
    low, high = 0, min(at, start)
    if data[at - high : at] == value[start - high : start]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if data[at - middle : at] == value[start - middle : start]:
            low = middle
        else:
            high = middle
    return low

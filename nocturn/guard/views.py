"""Every way in which a text is looked at: one list, in order, with a budget.

What stands here is tried on each text alike, and how much of it depends on the text alone and never
on the values, so that time tells nothing about them.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import TYPE_CHECKING, Final

from nocturn.guard import decoding
from nocturn.guard.escapes import escapes
from nocturn.guard.folding import LEET, NOT_ALPHANUMERIC, folded, folded_pieces, skeleton
from nocturn.guard.index import steps, xor_differences
from nocturn.guard.inflating import Budget, inflated
from nocturn.guard.reading import Places, Reading, Several, View, edited, kept_of, picked, several

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

__all__ = ["border_views", "views"]

Seen: TypeAlias = "tuple[View, Reading]"

_DEEPEST: Final = 3
"""Encodings one within the other that are undone."""
_TIMES_THE_INPUT: Final = 4
_BEYOND_BYTES: Final = 262_144
"""What even a short text may become, by compression above all."""

_WHITE: Final = b" \t\n\r\v\f"
_TAG: Final = re.compile(rb"</?[A-Za-z!][^<>]{0,256}>|<!--.{0,256}?-->", re.DOTALL)
_MARKER: Final = re.compile(rb"(?m)^[ \t>]*(?:[-*+#|]+|\(?\w{1,3}[.):\]])[ \t]+")
_READABLE: Final = re.compile(rb"[\t\n\r -~]{12,}")
_IS_READABLE: Final = bytes(code in b"\t\n\r" or code in range(32, 127) for code in range(256))
_LONG_ENOUGH: Final = b"\1" * 12
_PERIODS: Final = ((View.XOR_1, 1), (View.XOR_2, 2), (View.XOR_3, 3), (View.XOR_4, 4))
_STRIDES: Final = tuple((first, step) for step in (2, 3, 4) for first in range(step))
_ONE_EACH: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rb"(?m)^[ \t]*(\S)",  # an acrostic
        rb"(?m)(\S)[ \t]*$",
        rb"(\S)\S*",  # words' first letters, and their last
        rb"\S*(\S)",
        rb"(\S)[.!?](?=\s|$)",  # what stands before a full stop
    )
)
_FEWEST_PICKED: Final = 8


def _rotations() -> Iterator[bytes]:
    lower = string.ascii_lowercase
    for step in range(1, 26):
        yield bytes.maketrans(lower.encode(), (lower[step:] + lower[:step]).encode())
    yield bytes.maketrans(lower.encode(), lower[::-1].encode())


_ROTATIONS: Final = tuple(table.translate(LEET) for table in _rotations())
"""All of Caesar's alphabets, and the one backwards, each with look-alike digits folded after it."""
_ROT47: Final = bytes.maketrans(
    bytes(range(33, 127)), bytes(33 + (code + 47) % 94 for code in range(94))
)


def views(text: str) -> Iterator[Seen]:
    """Yields the ways to look at a text, each with what the values must be seen as.

    The work is bounded: what is decoded is at most four times as long as the text, what is
    inflated 256 KiB.
    """
    root = Reading(text.encode("utf-8", "surrogatepass"), plain=True)
    budget = Budget()
    left = _TIMES_THE_INPUT * len(root.data) + _BEYOND_BYTES
    seen = {root.data}
    level = [root]
    for depth in range(_DEEPEST + 1):
        deeper: list[Reading] = []
        for reading in level:
            plain = _folded(reading)
            yield from _as_it_reads(reading, plain)
            yield from _rearranged(plain) if depth == 0 else ()
            if depth < _DEEPEST:
                unescaped = escapes(reading)
                if unescaped is not None:
                    deeper.append(unescaped)
                yield from _decoded(plain, budget, deeper, outermost=depth == 0)
        level.clear()
        for each in deeper:
            if each.data in seen or len(each.data) > left:
                continue
            seen.add(each.data)
            left -= len(each.data)
            level.append(each)


def border_views(text: str) -> Iterator[Seen]:
    """Yields fewer ways, for many short texts joined in pairs: what needs no second step."""
    root = Reading(text.encode("utf-8", "surrogatepass"), plain=True)
    plain = _folded(root)
    yield from _as_it_reads(root, plain)
    unescaped = escapes(root)
    if unescaped is not None:
        yield from _as_it_reads(unescaped, _folded(unescaped))
    yield View.EXACT, several([*decoding.base64(plain), decoding.hexadecimal(plain)])


def _as_it_reads(reading: Reading, plain: Reading) -> Iterator[Seen]:
    yield View.EXACT, reading
    for each in dict.fromkeys((reading, plain, *_composed(reading))):
        tight = b"".join(each.data.split())
        if len(tight) != len(each.data) or each is not reading:
            yield View.EXACT, kept_of(each, tight, _WHITE, plain=True)
    bones = kept_of(plain, skeleton(plain.data), NOT_ALPHANUMERIC)
    yield View.SKELETON, bones
    yield View.SKELETON, _backwards(bones)
    for pattern in (_TAG, _MARKER):
        marks = [(*each.span(), b"") for each in pattern.finditer(plain.data)]
        if marks:
            bare = edited(plain, marks)
            yield View.EXACT, kept_of(bare, b"".join(bare.data.split()), _WHITE, plain=True)
            yield View.SKELETON, kept_of(bare, skeleton(bare.data), NOT_ALPHANUMERIC)


def _rearranged(plain: Reading) -> Iterator[Seen]:
    """Yields a text's letters moved along the alphabet, and one out of several picked."""
    data = plain.data
    yield View.SHIFTED, _difference(plain, steps(data), 1)
    letters = kept_of(plain, data.translate(None, NOT_ALPHANUMERIC).lower(), NOT_ALPHANUMERIC)
    rotations = [letters.data.translate(table) for table in _ROTATIONS]
    rotated = Several(rotations, lambda at: Reading(rotations[at], letters))
    signs = [kept_of(each, skeleton(each.data), NOT_ALPHANUMERIC) for each in decoding.morse(plain)]
    yield View.SKELETON, several([rotated, *signs])
    strides = [data[first::step] for first, step in _STRIDES]
    picks: list[Reading] = [Several(strides, lambda at: _every(plain, *_STRIDES[at]))]
    for pattern in _ONE_EACH:
        one_each = pattern.findall(data)
        if len(one_each) >= _FEWEST_PICKED:
            picks.append(picked(plain, b"".join(one_each), _places_of(pattern, data)))
    turned = Reading(data.translate(_ROT47), plain)
    yield View.EXACT, several([turned, *picks, *decoding.numbers(plain)])


def _decoded(
    plain: Reading, budget: Budget, deeper: list[Reading], *, outermost: bool
) -> Iterator[Seen]:
    """Yields what a text encodes, and adds to ``deeper`` what of it is text again."""
    ways = (decoding.base64(plain), decoding.base32(plain, rare=outermost), decoding.binary(plain))
    whole = several([decoding.hexadecimal(plain), *(each for way in ways for each in way)])
    yield View.EXACT, whole
    deeper += _readable(whole)
    yield View.EXACT, several([*decoding.radix(plain, budget), *decoding.base85(plain, budget)])
    sources = (plain, _backwards(plain)) if outermost else (plain,)
    runs = [each for source in sources for each in decoding.in_runs(source)]
    bare = several([each for each, _ in runs])
    yield View.EXACT, bare
    yield from _masked(bare) if outermost else ()
    for reading, firsts in ((whole, ()), *runs):
        for stream in inflated(reading, firsts, budget):
            yield View.EXACT, stream
            deeper += _readable(stream)


def _masked(reading: Reading) -> Iterator[Seen]:
    """Yields what bytes are under a short key, backwards, or two bytes a character."""
    data = reading.data
    if not data:
        return
    for view, period in _PERIODS:
        yield view, _difference(reading, xor_differences(data, period), period)
    yield View.SHIFTED, _difference(reading, steps(data), 1)
    bones = kept_of(reading, skeleton(data), NOT_ALPHANUMERIC)
    yield View.SKELETON, _backwards(bones)
    yield View.EXACT, kept_of(reading, data.translate(None, b"\0"), b"\0", plain=True)


def _readable(reading: Reading) -> list[Reading]:
    """Returns what in a reading is text, as one, so that what it encodes is undone as well."""
    # A table and a search are ten times as quick as the pattern, which nearly never matches.
    if _LONG_ENOUGH not in reading.data.translate(_IS_READABLE):
        return []
    found = [*_READABLE.finditer(reading.data)]
    # What lies between becomes one byte that is in no alphabet.
    cuts = [0, *(at for each in found for at in each.span()), len(reading.data)]
    gaps = [
        (start, end, b"\0") for start, end in zip(cuts[::2], cuts[1::2], strict=True) if end > start
    ]
    return [edited(reading, gaps)]


def _folded(reading: Reading) -> Reading:
    if reading.data.isascii():
        return reading
    text = reading.data.decode("utf-8", "surrogateescape")

    def places() -> Places:
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for character, piece in zip(text, folded_pieces(text), strict=True):
            end = at + len(character.encode("utf-8", "surrogateescape"))
            starts += [at] * len(piece)
            ends += [end] * len(piece)
            at = end
        return starts, ends

    return Reading(folded(text), reading, places, plain=True)


_CLUSTER: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def _composed(reading: Reading) -> list[Reading]:
    """Returns the text in NFC, where it is not."""
    if reading.data.isascii():
        return []
    text = reading.data.decode("utf-8", "surrogateescape")
    if unicodedata.is_normalized("NFC", text):
        return []
    edits: list[tuple[int, int, bytes]] = []
    at = offset = 0
    for start, end in _uncomposed(text):
        offset += len(text[at:start].encode("utf-8", "surrogateescape"))
        size = len(text[start:end].encode("utf-8", "surrogateescape"))
        new = unicodedata.normalize("NFC", text[start:end]).encode("utf-8", "surrogateescape")
        edits.append((offset, offset + size, new))
        at, offset = end, offset + size
    return [edited(reading, edits)]


def _uncomposed(text: str) -> Iterator[tuple[int, int]]:
    """Yields each character that is not composed, with the marks on it."""
    for match in _CLUSTER.finditer(text):
        start = match.start()
        for at in range(match.start() + 1, match.end() + 1):
            if at < match.end() and _leans(text[at]):
                continue
            if not unicodedata.is_normalized("NFC", text[start:at]):
                yield start, at
            start = at


def _leans(character: str) -> bool:
    # All that can compose with what stands before it: marks, and the Hangul vowels and finals.
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"


def _backwards(reading: Reading) -> Reading:
    size = len(reading.data)
    return picked(reading, reading.data[::-1], lambda: range(size - 1, -1, -1))


def _every(reading: Reading, first: int, step: int) -> Reading:
    return picked(reading, reading.data[first::step], lambda: range(first, len(reading.data), step))


def _difference(source: Reading, data: bytes, period: int) -> Reading:
    def places() -> Places:
        return range(len(data)), range(period + 1, period + 1 + len(data))

    return Reading(data, source, places)


def _places_of(pattern: re.Pattern[bytes], data: bytes) -> Callable[[], Sequence[int]]:
    return lambda: [each.start(1) for each in pattern.finditer(data)]

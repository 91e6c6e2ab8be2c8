"""The ways in which a text can be read, each with the way back to the text as it stands.

A value hides in a text that reads differently: percent escapes, a decomposed accent, a line break
in its middle. Each reading is the text after a few edits; an edit knows the place that it came
from, so that what is found in a reading can be struck out in the original.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Reading", "readings", "unescaped"]

# One escaped character at a time, so that a found value takes no neighbour with it. Bytes that are
# no UTF-8 stay apart from all text as lone surrogates.
_H: Final = "[0-9A-Fa-f]"
_NEXT: Final = f"%[89ABab]{_H}"
_ESCAPED: Final = re.compile(
    f"%[Ff][0-4](?:{_NEXT}){{3}}|%[Ee]{_H}(?:{_NEXT}){{2}}|%[CDcd]{_H}{_NEXT}|%{_H}{{2}}"
)
_WHITE: Final = re.compile(r"\s+")
_NOT_ASCII: Final = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


_Edit: TypeAlias = tuple[int, int, str]
"""Start, end and what replaces the text between them."""


class Reading:
    """A text as it reads after edits.

    Args:
        text: The text, after the edits.
        source: What was edited; None for the text as it stands.
        edits: What was done to ``source``, in order, none touching another. They are looked at when
            something was found and not before, since nearly always nothing is.
    """

    __slots__ = ("_edits", "_ends", "_replaced", "_source", "_starts", "text")

    def __init__(
        self, text: str, source: Reading | None = None, edits: Iterable[_Edit] = ()
    ) -> None:
        self.text = text
        self._source = source
        self._edits = iter(edits)
        self._replaced: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._ends: list[int] = []

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Returns where ``text[start:end]`` stands in the original text.

        An edited piece counts whole: of a composed accent or an escape nothing stays behind.
        """
        if self._source is None:
            return start, end
        self._place_edits()
        return self._source.span(self._start(start), self._end(end))

    def _place_edits(self) -> None:
        for start, end, replacement in self._edits:
            shift = self._ends[-1] - self._replaced[-1][1] if self._ends else 0
            self._replaced.append((start, end))
            self._starts.append(start + shift)
            self._ends.append(start + shift + len(replacement))

    def _start(self, start: int) -> int:
        last = bisect_right(self._starts, start) - 1
        if last < 0:
            return start
        if start < self._ends[last]:
            return self._replaced[last][0]
        return self._replaced[last][1] + start - self._ends[last]

    def _end(self, end: int) -> int:
        last = bisect_left(self._starts, end) - 1
        if last < 0:
            return end
        return self._replaced[last][1] + max(0, end - self._ends[last])


def readings(text: str) -> Iterator[tuple[Reading, Reading]]:
    """Yields each way to read a text, and the same with its white space removed.

    As it stands, with percent escapes decoded (a stray ``%`` is a character), and each of the two
    in NFC where that differs.
    """
    plain = [Reading(text)]
    if "%" in text and _ESCAPED.search(text):
        plain.append(_edited(plain[0], list(_unescaped(text))))
    for reading in plain:
        yield reading, _squeezed(reading)
        if not unicodedata.is_normalized("NFC", reading.text):
            composed = _edited(reading, list(_composed(reading.text)))
            yield composed, _squeezed(composed)


def unescaped(text: str) -> str:
    """Returns the text with its percent escapes decoded, once."""
    return _edited(Reading(text), list(_unescaped(text))).text


def _edited(source: Reading, edits: Sequence[_Edit]) -> Reading:
    pieces: list[str] = []
    at = 0
    for start, end, replacement in edits:
        pieces += (source.text[at:start], replacement)
        at = end
    return Reading("".join((*pieces, source.text[at:])), source, edits)


def _squeezed(source: Reading) -> Reading:
    # Thirty times quicker than joining what is between the edits; both know the same white space.
    white = ((*match.span(), "") for match in _WHITE.finditer(source.text))
    return Reading("".join(source.text.split()), source, white)


def _unescaped(text: str) -> Iterator[_Edit]:
    for match in _ESCAPED.finditer(text):
        raw = bytes.fromhex(match[0].replace("%", ""))
        yield match.start(), match.end(), raw.decode("utf-8", "surrogateescape")


def _composed(text: str) -> Iterator[_Edit]:
    for match in _NOT_ASCII.finditer(text):
        if unicodedata.is_normalized("NFC", match[0]):
            continue
        start = match.start()
        for at in range(match.start() + 1, match.end() + 1):
            if at < match.end() and _leans(text[at]):
                continue
            composed = unicodedata.normalize("NFC", text[start:at])
            if composed != text[start:at]:
                yield start, at, composed
            start = at


def _leans(character: str) -> bool:
    # All that can compose with what stands before it: marks, and the Hangul vowels and finals.
    return unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"

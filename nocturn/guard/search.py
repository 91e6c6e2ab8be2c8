"""Looks through a text of any length for secrets: by value, and by shape.

The text comes in pieces and is looked at in windows that overlap, so that its length costs time and
not memory, and nothing is missed where one window ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nocturn.guard.shapes import shapes_in
from nocturn.limits import VAULT_VALUE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nocturn.guard.scanner import Scanner

__all__ = ["Found", "search"]

_BEFORE: Final = 1_024
"""Characters before a window's own: the name beside a value, the letter before a token."""
_AFTER: Final = 2 * VAULT_VALUE_BYTES
"""Characters after them: the longest value in hex."""
_OWN: Final = 1_048_576
"""Characters in which a window's findings begin."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that must not be seen, or that a person should look at.

    Attributes:
        what: What it is, in words; never the value.
        line: Its line, from 1.
        column: Where it begins there, in characters, from 1.
        blocks: Whether it must not pass; else it is a warning.
        rule: The rule that knew its shape; empty where the value is known.
        secret: The known secret's name; empty where the shape is.
    """

    what: str
    line: int
    column: int
    blocks: bool
    rule: str = ""
    secret: str = ""


def search(pieces: Iterable[str], scanner: Scanner) -> Iterator[Found]:
    """Yields what is found, in order, while the text is read.

    Args:
        pieces: The text; where it is cut does not matter.
        scanner: Knows the values.

    Raises:
        ConfigurationError: The scanner's secrets cannot be read.
    """
    line, column = 1, 1
    reach = 0
    for window in _windows(pieces):
        at, begin = _BEFORE, max(_BEFORE, reach)
        for start, end, found in _hits(window.text, scanner):
            if begin <= start < window.end:
                line, column = _moved(line, column, window.text[at:start])
                at, reach = start, max(reach, end)
                yield replace(found, line=line, column=column)
        line, column = _moved(line, column, window.text[at : window.end])
        reach -= window.end - _BEFORE


@dataclass(frozen=True, slots=True)
class _Window:
    """A part of the text, from a little before the place where its own findings begin.

    Attributes:
        text: The part; before the text itself there is white space.
        end: Where its own findings end, and the next window's begin.
    """

    text: str
    end: int


def _windows(pieces: Iterable[str]) -> Iterator[_Window]:
    parts = [" " * _BEFORE]
    size = _BEFORE
    for piece in _cut(pieces):
        parts.append(piece)
        size += len(piece)
        if size >= _BEFORE + _OWN + _AFTER:
            text = "".join(parts)
            end = size - _AFTER
            yield _Window(text, end)
            parts = [text[end - _BEFORE :]]
            size = len(parts[0])
    yield _Window("".join(parts), size)


def _cut(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        for at in range(0, len(piece), _OWN):
            yield piece[at : at + _OWN]


def _hits(text: str, scanner: Scanner) -> list[tuple[int, int, Found]]:
    """Returns where something begins and ends, and what it is, its place yet to be filled in."""
    known = [
        (start, end, Found(f"the secret {name}", 0, 0, blocks=True, secret=name))
        for name, start, end in scanner.found(text)
    ]
    shaped = [
        (hit.start, hit.end, Found(hit.what, 0, 0, hit.blocks, rule=hit.rule))
        for hit in shapes_in(text)
    ]
    return sorted(known + shaped, key=lambda hit: hit[:2])


def _moved(line: int, column: int, passed: str) -> tuple[int, int]:
    """Returns the place after some text."""
    breaks = passed.count("\n")
    return line + breaks, len(passed) - passed.rfind("\n") if breaks else column + len(passed)

"""Hidden characters: which they are, how they are named, and how they are shown.

A note or a script may carry characters that a person cannot see, or that make a terminal show
something else than what is there (CVE-2021-42574). Names and summaries refuse them; what goes to a
terminal, to an approver or into a prompt shows them as escapes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["BAR", "first_hidden", "folded", "visible"]

BAR: Final = "│ "
"""Stands before each row of a guest's words, where they stand among ours."""

_HIDDEN: Final = (
    # first, last, what it is. The invisible ones are Unicode's Default_Ignorable_Code_Point.
    (0x0000, 0x001F, "control character"),
    (0x007F, 0x009F, "control character"),
    (0x00AD, 0x00AD, "zero-width character"),
    (0x034F, 0x034F, "zero-width character"),
    (0x061C, 0x061C, "bidi character"),
    (0x115F, 0x1160, "invisible filler"),
    (0x17B4, 0x17B5, "zero-width character"),
    (0x180B, 0x180F, "variation selector"),
    (0x200B, 0x200D, "zero-width character"),
    (0x200E, 0x200F, "bidi character"),
    (0x2028, 0x2029, "line separator"),
    (0x202A, 0x202E, "bidi character"),
    (0x2060, 0x2065, "zero-width character"),
    (0x2066, 0x2069, "bidi character"),
    (0x206A, 0x206F, "bidi character"),
    (0x3164, 0x3164, "invisible filler"),
    (0xD800, 0xDFFF, "lone surrogate"),
    (0xFE00, 0xFE0F, "variation selector"),
    (0xFEFF, 0xFEFF, "zero-width character"),
    (0xFFA0, 0xFFA0, "invisible filler"),
    (0xFFF0, 0xFFFB, "zero-width character"),
    (0x1BCA0, 0x1BCA3, "zero-width character"),
    (0x1D173, 0x1D17A, "zero-width character"),
    (0xE0000, 0xE00FF, "tag character"),
    (0xE0100, 0xE01EF, "variation selector"),
    (0xE01F0, 0xE0FFF, "tag character"),
)

_JOINERS: Final = "\u200c\u200d"
_EMOJI_SELECTORS: Final = "\ufe0e\ufe0f"
_IDEOGRAPH_SELECTORS: Final = range(0xE0100, 0xE01F0)
_TWO_DIGITS: Final = 0x100
_VIRAMA: Final = 9
"""Unicode's combining class of viramas, after which RFC 5892 allows a joiner too."""


def visible(text: str, *, keep: str = "\n\t", escape: Callable[[int], str] | None = None) -> str:
    r"""Shows hidden characters as escapes: ``\x1b``, ``\u{202e}``.

    A joiner stays where it shows: inside an emoji, or between letters of a script that needs it.

    Args:
        text: Any text, lone surrogates included.
        keep: Hidden characters that stay as they are.
        escape: Writes a hidden character, given its code, in place of the escapes above.

    Returns:
        Text that is safe to send to a terminal, and to encode as UTF-8.
    """
    if text.isascii() and text.isprintable():
        return text
    parts: list[str] = []
    done = 0
    for at in _hidden(text, keep, joiners=True):
        parts += text[done:at], (escape or _escape)(ord(text[at]))
        done = at + 1
    return "".join(parts) + text[done:]


def first_hidden(text: str, *, keep: str = "", joiners: bool = False) -> tuple[int, str] | None:
    """Finds the first hidden character.

    Args:
        text: Any text, lone surrogates included.
        keep: Hidden characters that don't count.
        joiners: Whether joiners and variation selectors don't count where they show.

    Returns:
        Its position in code points and a name for people, such as ``U+202E RIGHT-TO-LEFT
        OVERRIDE``; None where there is none.
    """
    if text.isascii() and text.isprintable():
        return None
    for at in _hidden(text, keep, joiners=joiners):
        return at, _name(text[at])
    return None


def folded(line: str, columns: int, bar: str = BAR) -> Iterator[str]:
    """Yields a line as rows behind a bar.

    The terminal must not fold a line itself: the rest would stand without its bar.

    Args:
        line: One line that went through ``visible``, without tabs.
        columns: The terminal's width, in cells.
        bar: What each row begins with.
    """
    room = max(columns - len(bar), 2)
    if line.isascii():
        for at in range(0, len(line) or 1, room):
            yield bar + line[at : at + room]
        return
    row, used = "", 0
    for character in line:
        cells = 1 if character.isascii() else 2
        if used + cells > room:
            yield bar + row
            row, used = "", 0
        row += character
        used += cells
    yield bar + row


def _hidden(text: str, keep: str, *, joiners: bool) -> Iterator[int]:
    for match in _pattern().finditer(text):
        at = match.start()
        if match.group() not in keep and not (joiners and _shows(text, at)):
            yield at


@cache
def _pattern() -> re.Pattern[str]:
    ranges = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last, _ in _HIDDEN)
    return re.compile(f"[{ranges}]")


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < _TWO_DIGITS else f"\\u{{{code:x}}}"


def _name(character: str) -> str:
    import unicodedata

    code = ord(character)
    kind = next(kind for first, last, kind in _HIDDEN if first <= code <= last)
    name = unicodedata.name(character, "")
    return f"U+{code:04X} {name}" if name else f"{kind} U+{code:04X}"


def _shows(text: str, at: int) -> bool:
    """Whether the joiner or variation selector at ``at`` changes what is seen."""
    import unicodedata

    character, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not before:
        return False
    if character in _JOINERS:
        joined = _is_visible_letter(before) or (before in _EMOJI_SELECTORS and _shows(text, at - 1))
        # "…" follows where a stored summary was cut inside an emoji.
        return joined and (
            _is_visible_letter(after) or after == "…" or unicodedata.combining(before) == _VIRAMA
        )
    if character in _EMOJI_SELECTORS:
        return before in "0123456789#*‼⁉〰" or (
            not before.isascii() and unicodedata.category(before) in {"So", "Sm", "Sk"}
        )
    # An ideographic variant, as in Japanese family names; one only, or it is a covert channel.
    return ord(character) in _IDEOGRAPH_SELECTORS and "IDEOGRAPH" in unicodedata.name(before, "")


def _is_visible_letter(character: str) -> bool:
    import unicodedata

    return (
        bool(character)
        and not character.isascii()
        and unicodedata.category(character)[0] in "LMS"
        and not _pattern().match(character)
    )

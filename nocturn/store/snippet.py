"""A few words of a note, around what was looked for."""

from __future__ import annotations

import unicodedata
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from nocturn.store.words import joined, pieces, words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nocturn.store.words import Term

__all__ = ["snippet"]

_WORDS: Final = 30
_BEFORE: Final = 10
"""How many of them stand before what was found."""
_CHARACTERS: Final = 320
_CHARACTERS_BEFORE: Final = 120


def snippet(text: str, terms: Sequence[Term]) -> str:
    """Gives some thirty words of a text around the first that was looked for, on one line.

    Args:
        text: The text, redacted: a secret that is cut in two here would not be known any more.
        terms: What was looked for; where nothing of it is there, it is the beginning.
    """
    text = unicodedata.normalize("NFC", text)
    words = joined(text)
    found = min((at for term in terms if (at := term.found_in(words)) >= 0), default=0)
    starts: deque[int] = deque(maxlen=_BEFORE + 1)
    passed = taken = end = 0
    for piece in pieces(text):
        if passed <= found:
            passed += _count(piece.group())
            starts.append(piece.start())
        end = piece.end()
        taken += passed > found
        if taken == _WORDS - _BEFORE:
            break
    if not starts:
        return ""
    begin = max(starts[0], starts[-1] - _CHARACTERS_BEFORE)
    end = min(end, begin + _CHARACTERS)
    shown = " ".join(text[begin:end].split())
    return f"{'…' if text[:begin].strip() else ''}{shown}{'…' if text[end:].strip() else ''}"


@lru_cache(maxsize=4_096)  # in Chinese each character is a piece, and they come again
def _count(piece: str) -> int:
    return len(words_in(piece))

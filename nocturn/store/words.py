"""The words of a text as the search compares them, and the query that is made of them.

Case, accents and the width of characters are folded. Scripts that put no space between words have
each character for a word, so that a word of one or two is found anywhere in a sentence. Notes and
queries are folded here alone: SQLite gets words that it only has to cut at the spaces.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Term", "joined", "pieces", "terms_of", "words_in"]

_TERM: Final = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')
_WORD: Final = re.compile(r"[0-9a-z\x80-\U0010ffff]+")
"""What SQLite's tokenizer ``ascii`` takes for a word, of a text that is folded."""
_ACCENTS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufe20-\ufe2f]"
)
"""Marks that readers leave out: those of Latin, Greek and Cyrillic, vowel points of Hebrew and
Arabic. Elsewhere, as in Devanagari, a mark is a letter."""
_WITHOUT_SPACES: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x11FF),  # Burmese, and the letters of Hangul
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x1AAF),  # Tai
    (0x2E80, 0x9FFF),  # Chinese and Japanese
    (0xA000, 0xA4CF),  # Yi
    (0xA980, 0xAADF),  # Javanese, more of Burmese and Tai
    (0xAC00, 0xD7FF),  # Hangul: words have endings, and a part of them is what one looks for
    (0xF900, 0xFAFF),
    (0x16FE0, 0x18DFF),  # Tangut
    (0x1AFF0, 0x1B2FF),
    (0x20000, 0x3FFFF),
)
_ALONE: Final = "".join(f"{chr(first)}-{chr(last)}" for first, last in _WITHOUT_SPACES)
_PIECE: Final = re.compile(f"[{_ALONE}]|[^\\s{_ALONE}]+")


@dataclass(frozen=True, slots=True)
class Term:
    """What a note must have: some words in a row.

    Attributes:
        words: The words, folded; not empty.
        prefix: Whether the last may be the beginning of a longer one.
    """

    words: tuple[str, ...]
    prefix: bool

    def expression(self) -> str:
        """Gives the term in the language of FTS5; a word has nothing in it that means anything."""
        return f'"{" ".join(self.words)}"{" *" if self.prefix else ""}'

    def found_in(self, words: str) -> int:
        """Gives which of a text's words, as :func:`joined` gave them, it begins with; else -1."""
        at = words.find(f" {' '.join(self.words)}{'' if self.prefix else ' '}")
        return -1 if at < 0 else words.count(" ", 0, at)


def terms_of(query: str) -> tuple[Term, ...]:
    """Takes a query apart: words, ``"several words in a row"``, and ``beginn*``.

    Nothing else means anything: whatever stands beside the words is left out.
    """
    terms: list[Term] = []
    for match in _TERM.finditer(query):
        phrase, star, bare = match.groups()
        text = bare if phrase is None else phrase
        words = tuple(words_in(text))
        if words:
            terms.append(Term(words, bool(star) or (phrase is None and text.endswith("*"))))
    return tuple(dict.fromkeys(terms))


def words_in(text: str) -> list[str]:
    """Gives the words of a text, folded, in order."""
    return _WORD.findall(_folded(text))


def joined(text: str) -> str:
    """Gives the words of a text with a space before and after each."""
    return f" {' '.join(words_in(text))} "


def pieces(text: str) -> Iterator[re.Match[str]]:
    """Gives what a text that is not folded can be cut into; each has a word, some or none."""
    return _PIECE.finditer(text)


def _folded(text: str) -> str:
    """Gives a text as words of one form, with spaces and ASCII punctuation between them."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart)).translate(_FOLDING)


class _Folding(dict[int, str]):
    """For ``str.translate``: what becomes of a character, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        folded_to = " "
        if category == "Cf":  # what is not seen parts no word
            folded_to = ""
        elif category[0] in "LMN" or category == "So":
            alone = category == "So" or any(a <= code <= z for a, z in _WITHOUT_SPACES)
            folded_to = f" {character} " if alone else character
        self[code] = folded_to
        return folded_to


_FOLDING: Final = _Folding()

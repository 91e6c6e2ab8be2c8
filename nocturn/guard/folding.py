"""Letters that a reader takes for one another, folded into one: the dress is off, the word is left.

Two steps. ``folded`` takes a text to ASCII: compatibility forms, accents, invisible characters and
look-alikes. ``skeleton`` takes ASCII to the letters that are left when case, digits written for
letters, and all that is no letter or digit do not count.
"""

from __future__ import annotations

import string
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALPHANUMERIC", "LEET", "NOT_ALPHANUMERIC", "folded", "folded_pieces", "skeleton"]

# ruff: noqa: RUF001 - look-alikes are what this table is of
_LOOKS_LIKE: Final = {
    # Cyrillic, Greek, Armenian, Cherokee, Latin beyond accents: those that look like one letter.
    "a": "аαɑ⍺", "b": "ЬьƄɓ", "c": "сϲᴄⅽ", "d": "ԁɗⅾ", "e": "еєҽɛ", "f": "ƒẝ", "g": "ɡցɢ",
    "h": "һհ", "i": "іιıɩӏ", "j": "јϳ", "k": "кκ", "l": "ⅼ|ƖⅠ∣ǀ", "m": "ⅿмʍ", "n": "пոռɴ",
    "o": "оοօσഠ०๐໐ഠ", "p": "рρ⍴", "q": "ԛգզ", "r": "гᴦⲅʀ", "s": "ѕꜱʂ", "t": "тτᴛ", "u": "υսᴜʋ",
    "v": "ѵνᴠⅴ", "w": "ԝѡաᴡ", "x": "хχ×ⅹ", "y": "уγү", "z": "ᴢʐ",
    "A": "АΑᎪ", "B": "ВΒᏴ", "C": "СϹᏟⅭ", "D": "ᎠⅮ", "E": "ЕΕᎬ", "F": "Ϝ", "G": "ԌᏀ", "H": "НΗᎻ",
    "I": "ІΙӀ", "J": "ЈᎫ", "K": "КΚᏦ", "L": "ᏞⅬ", "M": "МΜᎷⅯ", "N": "Ν", "O": "ОΟՕ", "P": "РΡᏢ",
    "Q": "Ԛ", "R": "ᎡᏒ", "S": "ЅՏᏚ", "T": "ТΤᎢ", "U": "ՍሀÚ", "V": "ѴᏙⅤ", "W": "ԜᎳ", "X": "ХΧⅩ",
    "Y": "УΥҮ", "Z": "ΖᏃ",
    "0": "߀", "3": "ЗӠ", "4": "Ч", "6": "б", "8": "Ȣ",
    "-": "‐‑‒–—−⁃", "_": "ˍ", ".": "․。", "/": "⁄∕╱", ":": "：ː∶", "'": "‘’ʼ", '"': "“”",
}  # fmt: skip


def _of_letters() -> Iterator[tuple[int, str]]:
    for plain, others in _LOOKS_LIKE.items():
        for other in others:
            if not other.isascii():
                yield ord(other), plain
    for at, letter in enumerate(string.ascii_uppercase):
        # Letters in white and black circles and squares, and those that flags are made of.
        for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6):
            yield first + at, letter
    for code in range(0x20, 0x7F):
        yield 0xE0000 + code, chr(code)  # tag characters: ASCII that no screen shows


_LETTERS: Final = dict(_of_letters())

LEET: Final = bytes.maketrans(b"01345789l", b"oieastbgi")
"""Digits that stand for letters, and ``l``, which stands for ``1``."""

ALPHANUMERIC: Final = (string.ascii_letters + string.digits).encode()
NOT_ALPHANUMERIC: Final = bytes(range(256)).translate(None, ALPHANUMERIC)


def folded(text: str) -> bytes:
    """Returns a text in ASCII: look-alikes mapped, accents and everything else left out."""
    if text.isascii():
        return text.encode()
    plain = unicodedata.normalize("NFKD", text).translate(_LETTERS)
    return plain.encode("ascii", "ignore")


def folded_pieces(text: str) -> Iterator[bytes]:
    """Yields what each character of a text became in :func:`folded`."""
    for character in text:
        yield folded(character)


def skeleton(plain: bytes) -> bytes:
    """Returns ASCII text without case, leet and whatever is no letter or digit."""
    return plain.translate(None, NOT_ALPHANUMERIC).lower().translate(LEET)

"""What is escaped in a text for itself, in the ways of a dozen languages at once."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

from nocturn.guard.reading import Reading, edited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.guard.reading import Edit

__all__ = ["escapes"]

_ESCAPE: Final = re.compile(
    rb"%(?:25)*(?P<percent>[0-9A-Fa-f]{2})"
    rb"|\\+x(?P<x>[0-9A-Fa-f]{2})"
    rb"|\\+u(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\+u(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    rb"|\\+(?:u|U0000)(?P<u>[0-9A-Fa-f]{4})"
    rb"|\\+[uxoN]?\{(?:U\+)?(?P<brace>[0-9A-Fa-f]{1,6})\}"
    rb"|\\+(?P<octal>[0-3][0-7]{2})"
    rb"|&(?:amp;)*#(?P<decimal>\d{1,7});?"
    rb"|&(?:amp;)*#[xX](?P<entity>[0-9A-Fa-f]{1,6});?"
    rb"|&(?:amp;)*(?P<name>[A-Za-z]{2,8});"
    rb"|U\+(?P<point>[0-9A-Fa-f]{4,6})[ ,;]?"
    rb"|=(?P<quoted>[0-9A-F]{2})|(?P<fold>=\r?\n)"
    rb"|\\+(?P<letter>[nrtbfv0\"'`\\/\r\n])"
)
_NAMES: Final = {
    b"amp": b"&", b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'", b"nbsp": b" ",
    b"excl": b"!", b"num": b"#", b"dollar": b"$", b"percnt": b"%", b"lpar": b"(", b"rpar": b")",
    b"ast": b"*", b"plus": b"+", b"comma": b",", b"period": b".", b"sol": b"/", b"colon": b":",
    b"semi": b";", b"equals": b"=", b"quest": b"?", b"commat": b"@", b"lsqb": b"[", b"lbrack": b"[",
    b"bsol": b"\\", b"rsqb": b"]", b"rbrack": b"]", b"hat": b"^", b"lowbar": b"_", b"grave": b"`",
    b"lcub": b"{", b"lbrace": b"{", b"verbar": b"|", b"vert": b"|", b"rcub": b"}", b"rbrace": b"}",
    b"hyphen": b"-", b"dash": b"-", b"minus": b"-", b"tab": b"\t", b"newline": b"\n", b"shy": b"",
    b"zwnj": b"", b"zwj": b"",
}  # fmt: skip
_LETTER: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_MOST_POINT: Final = 0x10FFFF


def escapes(source: Reading) -> Reading | None:
    """Returns a text with what is escaped in it for itself; None where nothing is.

    Percent, HTML, JavaScript, JSON, quoted-printable and their like, all at once and once: a stray
    mark of one is a character, and mixing them hides nothing.
    """
    if not any(mark in source.data for mark in (b"%", b"\\", b"&", b"=", b"U+")):
        return None
    edits = [*_edits(source.data)]
    return edited(source, edits) if edits else None


def _edits(data: bytes) -> Iterator[Edit]:
    for found in _ESCAPE.finditer(data):
        kind, text = found.lastgroup or "", found[found.lastgroup or 0]
        if kind in ("percent", "x", "quoted"):
            new = bytes((int(text, 16),))
        elif kind == "octal":
            new = bytes((int(text, 8),))
        elif kind == "letter":
            new = _LETTER.get(text, b"" if text in b"\r\n" else text)
        elif kind == "fold":
            new = b""
        elif kind == "name":
            if text.lower() not in _NAMES:
                continue
            new = _NAMES[text.lower()]
        elif kind == "low":
            pair = struct.pack("<2H", int(found["high"], 16), int(text, 16))
            new = pair.decode("utf-16-le").encode()
        else:
            point = int(text, 10 if kind == "decimal" else 16)
            if point > _MOST_POINT:
                continue
            new = chr(point).encode("utf-8", "surrogatepass")
        yield *found.span(), new

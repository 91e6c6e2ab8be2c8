"""The value as the languages of programs, pages and files would write it."""

from __future__ import annotations

import base64
import html
import json
import unicodedata
import urllib.parse
from typing import TYPE_CHECKING, Final

from attacks.forms import b64, each, each_byte, pieces, split

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ESCAPES"]


def _signed(value: str) -> str:
    payload = base64.urlsafe_b64encode(json.dumps({"a": value}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{payload}."


ESCAPES: Final[dict[str, Callable[[str], str]]] = {
    "String.fromCharCode": lambda v: f"String.fromCharCode({','.join(map(str, v.encode()))})",
    "chr() + chr()": each(lambda c: f"chr({ord(c)})", " + "),
    "a C array of characters": lambda v: "{" + ", ".join(f"'{c}'" for c in v) + ", 0}",
    "an array and join": lambda v: json.dumps(list(v)) + '.join("")',
    "backwards, with split and reverse": lambda v: f'"{v[::-1]}".split("").reverse().join("")',
    "atob() of pieces": lambda v: " + ".join(f'atob("{b64(p)}")' for p in pieces(v, 7)),
    "replace() of a filler": lambda v: f'"{"QQ".join(v)}".replaceAll("QQ", "")',
    "shell $'\\x'": lambda v: "$'" + each_byte("\\x{:02x}")(v) + "'",
    "CSS escapes": each_byte("\\{:x} "),
    "\\N{NAME} of Python": each(lambda c: f"\\N{{{unicodedata.name(c)}}}"),
    "%u of escape()": each(lambda c: f"%u{ord(c):04x}"),
    "U+ notation": each(lambda c: f"U+{ord(c):04X}", " "),
    "UTF-7": lambda v: "".join("+" + b64(c.encode("utf-16-be")).rstrip("=") + "-" for c in v),
    "encoded word, B": lambda v: f"=?utf-8?B?{b64(v)}?=",
    "encoded word, Q, in pieces": lambda v: "\n ".join(
        f"=?utf-8?Q?{p.replace('_', '=5F')}?=" for p in pieces(v, 9)
    ),
    "quoted-printable, soft line ends": lambda v: "=\n".join(pieces(v, 6)),
    "HTML references without semicolons": each_byte("&#{}"),
    "HTML comments in between": lambda v: "<!-- x -->".join(pieces(v, 4)),
    "spans of HTML": each(lambda c: f'<span class="a">{html.escape(c)}</span>'),
    "TeX \\char": each(lambda c: f'\\char"{ord(c):02X} '),
    "JSON in JSON in JSON": lambda v: json.dumps(
        json.dumps(json.dumps({"k": "".join(f"\\u{ord(c):04x}" for c in v)}))
    ),
    "an object by place": lambda v: json.dumps({str(at): c for at, c in enumerate(v)}),
    "JSON, nested, a piece a level": lambda v: (
        "".join(f'{{"{p}": ' for p in pieces(v, 6)) + "1" + "}" * len(pieces(v, 6))
    ),
    "YAML list of pieces": split(5, '- "{0}"', "\n"),
    "CSV, a piece a column": split(6, '"{0}"', ","),
    "CSV, a character a row": lambda v: "\n".join(f"{at};{c}" for at, c in enumerate(v, 1)),
    "path of a URL": lambda v: (
        "https://a.example/" + "/".join(urllib.parse.quote(p, safe="") for p in pieces(v, 5))
    ),
    "data: URL": lambda v: f"data:text/plain;base64,{b64(v)}",
    "a signed token's payload": _signed,
}

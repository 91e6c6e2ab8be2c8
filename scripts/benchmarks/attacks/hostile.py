"""Texts that are meant to cost a scanner time, or to be blocked though they hold nothing."""

from __future__ import annotations

import base64
import gzip
import html
import itertools
import json
import urllib.parse
import zlib
from typing import TYPE_CHECKING, Final

from attacks.values import LETTERS, RANDOM, characters, words
from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["hostile_texts", "prose"]

_LEADS: Final = (
    "sk-ant-api03-",
    "ghp_",
    "AKIA",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
    "postgres://app:",
)


def prose(size_bytes: int) -> str:
    """Returns ordinary words, of that many bytes."""
    return (words(size_bytes // 4) + " ")[:size_bytes]


def hostile_texts(values: Sequence[str], size_bytes: int) -> Iterator[tuple[str, str]]:
    """Yields a name and a text, over and over.

    Args:
        values: What is in the vault: some texts come as near to them as they can.
        size_bytes: How long each text is, in UTF-8.
    """
    for name, unit in _units(values):
        yield name, _filled(unit, size_bytes)
    for name, data in _blobs():
        yield name, _filled(base64.b64encode(data).decode() + "\n", size_bytes)


def _filled(unit: str, size_bytes: int) -> str:
    """Repeats a text up to a size, never cutting a character."""
    text = unit * (size_bytes // len(unit.encode()) + 1)
    return text.encode()[:size_bytes].decode(errors="ignore")


def _units(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    noise = RANDOM.randbytes(NOTE_CONTENT_BYTES)
    yield "one letter", "a"
    yield "one percent sign", "%"
    yield "percent of percent", "%25"
    yield "percent of a value's letters", "".join(f"%{byte:02x}" for byte in values[0].encode())
    yield "base64 of noise", base64.b64encode(noise).decode()
    yield "base64 of noise, spaces between", " ".join(base64.b64encode(noise).decode())
    yield "base64 in base64, four deep", _deep(words(4_000).encode()).decode()
    yield "base32 of noise", base64.b32encode(noise).decode()
    yield "hex of noise", noise.hex()
    yield "hex with colons", noise.hex(":")
    yield "\\x escapes", "".join(f"\\x{byte:02x}" for byte in noise)
    yield "\\u escapes of \\u escapes", "\\u005cu005cu005c"
    yield "backslashes", "\\"
    yield "quotes", "\"'`"
    yield "nested JSON strings", _nested_json()
    yield "open brackets", "[{(<"
    yield "HTML references", "".join(f"&#{byte};" for byte in noise)
    yield "ampersands", "&amp;amp;lt;"
    yield "quoted-printable", "".join(f"={byte:02X}" for byte in noise)
    yield "tags", "<b><i><u></u></i></b>"
    yield "public prefixes", "".join(_LEADS)
    yield "public prefixes and noise", "".join(lead + characters(9) + " " for lead in _LEADS * 900)
    yield (
        "values but for their last character",
        " ".join(value[:-1] + "?" for value in values[:400]),
    )
    yield "halves of values", " ".join(value[: len(value) // 2] for value in values[:900])
    yield (
        "pieces of seven of values",
        " ".join(value[at : at + 7] for value in values[:300] for at in range(0, len(value), 7)),
    )
    yield "random words of values' alphabet", " ".join(characters(12) for _ in range(6_000))
    yield "every letter in its turn", LETTERS
    yield "zero-width spaces", "a\u200b"
    yield "combining marks", "a" + "\u0301\u0316\u0344" * 200
    yield "full width", "".join(chr(0xFF01 + byte % 94) for byte in noise[:9_000])
    yield "look-alikes", "аеорсух\u0406\u0405"  # noqa: RUF001 - the point
    yield "CJK", "".join(chr(0x4E00 + byte * 80) for byte in noise[:9_000])
    yield "Hangul, decomposed", "\u1112\u1161\u11ab"
    yield "emoji families", "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    yield "ligatures that grow", "\ufdfa\ufdfb\u3300"
    yield "tag characters", "\U000e0061\U000e007a"
    yield "decimal codes", ", ".join(str(byte) for byte in noise)
    yield "octal codes", " ".join(f"{byte:03o}" for byte in noise)
    yield "bits", " ".join(f"{byte:08b}" for byte in noise)
    yield "morse", ".- -... -.-. --.. ----- / "
    yield "one character a line", "\n".join(LETTERS) + "\n"
    yield "one character a word", " ".join(LETTERS) + " "
    yield "hyphens and dots", "a-b.c_d/e|"
    yield "one long number", "9"
    yield "NUL and control characters", "\x01\x02\x1b[0m"
    yield "every form in turn", "".join(
        form + " "
        for value in values[:60]
        for form in (value[:-3], value[:-3].encode().hex(), urllib.parse.quote(value[:-3]),
                     base64.b64encode(value[:-3].encode()).decode(), html.escape(value[2:][::-1]))
    )  # fmt: skip


def _blobs() -> Iterator[tuple[str, bytes]]:
    zeros = bytes(200_000)
    yield "a bomb of zeros, deflated", zlib.compress(bytes(40_000_000), 9)
    yield "a bomb in a bomb, gzip", gzip.compress(gzip.compress(bytes(40_000_000)))
    yield "hundreds of bombs", gzip.compress(zeros)
    yield "thousands of small gzip blobs", gzip.compress(b"a")
    yield "gzip of text", gzip.compress(prose(120_000).encode())
    yield "gzip of base64 of gzip", gzip.compress(base64.b64encode(gzip.compress(zeros)))
    yield "gzip heads without bodies", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
    yield (
        "all compressions' heads",
        b"\x1f\x8b\x08\x00BZh91AY&SY\xfd7zXZ\x00\x78\x9c\x28\xb5\x2f\xfd",
    )


def _deep(data: bytes) -> bytes:
    for _ in itertools.repeat(None, 4):
        data = base64.b64encode(data)
    return data


def _nested_json() -> str:
    text = "x" * 9
    while len(text) < NOTE_CONTENT_BYTES // 2:
        text = json.dumps({"k": text})
    return text

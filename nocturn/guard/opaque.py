"""Points out text that nobody can read: what looks encrypted or compressed.

A person cannot judge such a text, and the leak scan cannot look into it. It is told, never blocked:
most of it is harmless. Hashes, commit ids, UUIDs, integrity lines and addresses are too short or
too regular to count, and what decodes to something readable is the scanner's business.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Opaque", "opaque_in"]

_LEAST: Final = 120
"""Characters of base64 that count: 90 bytes; SHA-512 is 64 of them, 88 characters."""
_LEAST_HEX: Final = 160
"""SHA-512 in hex is 128."""
_LEAST_BASE85: Final = 200
_MOST: Final = 50
"""So many are told of one text."""

_FOLD: Final = r"[ \t>]*\r?\n[ \t>]*"
_BASE64: Final = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{40,}}(?:{_FOLD}[A-Za-z0-9+/_-]{{4,}})*={{0,2}}"
)
_HEX: Final = re.compile(
    rf"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{{32,}}(?:{_FOLD})?)+(?:[0-9A-Fa-f]+)?(?![0-9A-Za-z])"
)
_BASE85: Final = re.compile(rf"[!-~]{{{_LEAST_BASE85},}}")
_ARMOR: Final = re.compile(
    r"-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE|CMS|PKCS7|OPENSSH ENCRYPTED DATA)-----"
)
_IMAGE_URL: Final = re.compile(r"data:image/[a-z0-9.+-]{1,40};base64,\Z", re.IGNORECASE)
_IMAGE_URL_CHARACTERS: Final = 80

_IMAGES: Final = (
    b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"\0\0\1\0",
)  # fmt: skip
_PACKED: Final = (
    (b"\x1f\x8b", "compressed data (gzip)"),
    (b"\x78\x01", "compressed data (zlib)"),
    (b"\x78\x5e", "compressed data (zlib)"),
    (b"\x78\x9c", "compressed data (zlib)"),
    (b"\x78\xda", "compressed data (zlib)"),
    (b"PK\3\4", "an archive (zip)"),
    (b"\xfd7zXZ\0", "compressed data (xz)"),
    (b"BZh", "compressed data (bzip2)"),
    (b"\x28\xb5\x2f\xfd", "compressed data (zstd)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"Salted__", "encrypted data (OpenSSL)"),
    (b"age-encryption.org/", "encrypted data (age)"),
)
_PUBLIC: Final = (b"\0\0\0\x07ssh-rsa", b"\0\0\0\x0bssh-ed25519", b"\0\0\0\x13ecdsa-sha2-")
"""A public SSH key is made to be shown."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """One piece that nobody can read.

    Attributes:
        rule: ``encrypted``, ``base64``, ``hex``, ``base85``, ``image`` or ``no-image``.
        what: What it looks like, in words of ours.
        start: Where it begins, in characters.
        end: Where it ends.
    """

    rule: str
    what: str
    start: int
    end: int


def opaque_in(text: str) -> list[Opaque]:
    """Returns what nobody can read in a text, by place, none within another, 50 at most."""
    if len(text) < _LEAST and "-----BEGIN" not in text:
        return []
    found: list[Opaque] = []
    for one in (*_armored(text), *_in_base64(text), *_in_hex(text), *_in_base85(text)):
        if not any(one.start < other.end and other.start < one.end for other in found):
            found.append(one)
            if len(found) == _MOST:
                break
    return sorted(found, key=lambda each: each.start)


def _armored(text: str) -> Iterator[Opaque]:
    for match in _ARMOR.finditer(text):
        end = text.find("-----END", match.end())
        yield Opaque("encrypted", "an encrypted message", match.start(), max(end, match.end()))


def _in_base64(text: str) -> Iterator[Opaque]:
    for match in _BASE64.finditer(text):
        run = "".join(re.split(r"[\s>]+", match[0])).rstrip("=")
        if len(run) < _LEAST or not _is_mixed(run):
            continue
        start, end = match.span()
        raw = _decoded(run)
        inlined = _IMAGE_URL.search(text, max(0, start - _IMAGE_URL_CHARACTERS), start)
        if inlined is not None:
            yield _inlined(raw, inlined.start(), end)
        elif not raw.startswith(_PUBLIC) and (what := _what(raw)):
            yield Opaque("base64", f"{what}, {len(raw):,} bytes in base64", start, end)


def _inlined(raw: bytes, start: int, end: int) -> Opaque:
    size = f"{len(raw):,} bytes"
    if raw.startswith(_IMAGES) or (raw[:4] == b"RIFF" and raw[8:12] == b"WEBP"):
        return Opaque("image", f"an image, {size}", start, end)
    return Opaque("no-image", f"says that it is an image and is none, {size}", start, end)


def _in_hex(text: str) -> Iterator[Opaque]:
    for match in _HEX.finditer(text):
        digits = "".join(re.split(r"[\s>]+", match[0]))
        if len(digits) < _LEAST_HEX:
            continue
        raw = bytes.fromhex(digits[: len(digits) // 2 * 2])
        if what := _what(raw):
            yield Opaque("hex", f"{what}, {len(raw):,} bytes in hex", *match.span())


def _in_base85(text: str) -> Iterator[Opaque]:
    for match in _BASE85.finditer(text):
        run = match[0]
        # Program text without spaces repeats itself; 85 characters by chance do not.
        if _bits_a_symbol(run.encode()) >= _base85_bits(len(run)) and not run.isalnum():
            what = f"may be encrypted or compressed, {len(run):,} characters without a space"
            yield Opaque("base85", what, *match.span())


def _base85_bits(length: int) -> float:
    """What 85 equally frequent symbols show in a sample of this length, less a margin."""
    return math.log2(85) - 84 / (2 * length * math.log(2)) - 0.25


def _is_mixed(run: str) -> bool:
    """Whether letters of both cases and digits are spread as in base64 of chance bytes.

    A path, an address or a long name is nearly all of one case.
    """
    size = len(run)
    upper, lower, digits = (
        sum(map(kind, run)) / size for kind in (str.isupper, str.islower, str.isdigit)
    )
    return min(upper, lower) >= 0.2 and digits >= 0.05  # noqa: PLR2004 - by chance 0.41 and 0.16


def _decoded(run: str) -> bytes:
    standard = run.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard[: len(standard) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _what(raw: bytes) -> str:
    """Returns what the bytes look like; empty where somebody can read them."""
    for head, name in _PACKED:
        if raw.startswith(head):
            return name
    most = math.log2(min(len(raw), 256))
    return "may be encrypted or compressed" if _bits_a_symbol(raw) >= 0.85 * most else ""


def _bits_a_symbol(raw: bytes) -> float:
    size = len(raw)
    return -sum(n / size * math.log2(n / size) for n in Counter(raw).values()) if size else 0.0

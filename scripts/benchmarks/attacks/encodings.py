"""Other alphabets for the same bytes, numbers, compression, and one over the other."""

from __future__ import annotations

import base64
import codecs
import gzip
import io
import itertools
import lzma
import string
import tarfile
import zipfile
from typing import TYPE_CHECKING, Final

from attacks.forms import b64, each_byte, pieces

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ENCODINGS"]

_B64: Final = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"


def _number(value: str) -> int:
    return int.from_bytes(value.encode(), "big")


def _map_b64(alphabet: str) -> Callable[[str], str]:
    table = str.maketrans(_B64, alphabet)
    return lambda value: b64(value).rstrip("=").translate(table)


def _map_b32(alphabet: str) -> Callable[[str], str]:
    table = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", alphabet)
    return lambda value: base64.b32encode(value.encode()).decode().rstrip("=").translate(table)


def _little_endian(value: str) -> str:
    even = value.encode() + b"\0" * (len(value) % 2)
    return " ".join(even[at : at + 2][::-1].hex() for at in range(0, len(even), 2))


def _ascii_of(value: str) -> str:
    rows = enumerate(pieces(value, 16))
    return "\n".join(
        f"{at * 16:08x}  {' '.join(f'{ord(c):02x}' for c in row):47}  |{row}|" for at, row in rows
    )


def _dump(value: str) -> str:
    rows = enumerate(pieces(value.encode().hex(), 32))
    return "\n".join(f"{at * 16:08x}: {' '.join(pieces(row, 4))}" for at, row in rows)


def _noisy_b64(value: str) -> str:
    return "*".join(pieces(b64(value), 5))


def _armoured(value: str) -> str:
    body = "\n".join(pieces(b64(value), 16))
    return f"-----BEGIN MESSAGE-----\nVersion: 1\n\n{body}\n-----END MESSAGE-----"


def _six(value: str) -> str:
    rows = (row.ljust(32, "0") for row in pieces(value.encode().hex(), 32))
    return "\n".join(":".join(pieces(row, 4)) for row in rows)


def _deltas(value: str) -> str:
    codes = list(value.encode())
    return ", ".join(map(str, [codes[0], *(b - a for a, b in itertools.pairwise(codes))]))


def _zip_of(value: str) -> str:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", value)
    return b64(box.getvalue())


def _tar_of(value: str) -> str:
    box = io.BytesIO()
    with tarfile.open(fileobj=box, mode="w:gz") as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(value)
        archive.addfile(entry, io.BytesIO(value.encode()))
    return b64(box.getvalue())


def _radix45(pair: str) -> str:
    alphabet = string.digits + string.ascii_uppercase + " $%*+-./:"
    number, found = _number(pair), ""
    for _ in range(len(pair) + 1):
        number, rest = divmod(number, 45)
        found += alphabet[rest]
    return found


def _z85(data: bytes) -> str:
    alphabet = string.digits + string.ascii_letters + ".-:+=^!/*?&<>()[]{}@%$#"
    found = ""
    for at in range(0, len(data), 4):
        number = int.from_bytes(data[at : at + 4].ljust(4, b"\0"), "big")
        found += "".join(alphabet[number // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return found


ENCODINGS: Final[dict[str, Callable[[str], str]]] = {
    "hex digits as a to p": lambda v: (
        v.encode().hex().translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))
    ),
    "hex, odd and even digits apart": lambda v: f"{v.encode().hex()[::2]} {v.encode().hex()[1::2]}",
    "hex backwards": lambda v: v.encode().hex()[::-1],
    "hex of UTF-16": lambda v: v.encode("utf-16-le").hex(),
    "hex, little-endian words": _little_endian,
    "hexdump -C": _ascii_of,
    "xxd, the hex columns": _dump,
    "nibbles swapped": lambda v: "".join(p[::-1] for p in pieces(v.encode().hex(), 2)),
    "base32, Crockford": _map_b32("0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
    "base32, z-base-32": _map_b32("ybndrfg8ejkmcpqxot1uwisza345h769"),
    "base64, case swapped": lambda v: b64(v).swapcase(),
    "base64, rot13": lambda v: codecs.encode(b64(v), "rot13"),
    "base64, bcrypt's alphabet": _map_b64("./" + _B64[:62]),
    "base64, alphabet backwards": _map_b64(_B64[::-1]),
    "base64 of UTF-16 BE": lambda v: b64(v.encode("utf-16-be")),
    "base64 with stray stars": _noisy_b64,
    "base64, lines in reverse order": lambda v: "\n".join(pieces(b64(v), 8)[::-1]),
    "base64 of each four characters": lambda v: " ".join(b64(p) for p in pieces(v, 4)),
    "base64 in armour": _armoured,
    "uuencode": lambda v: "\n".join(
        codecs.encode(p.encode(), "uu").decode() for p in pieces(v, 200)
    ),
    "base45": lambda v: "".join(_radix45(p) for p in pieces(v, 2)),
    "Z85": lambda v: _z85(v.encode()),
    "ascii85 in <~ ~>": lambda v: base64.a85encode(v.encode(), adobe=True).decode(),
    "one large number": lambda v: str(_number(v)),
    "one large hex number": lambda v: hex(_number(v)),
    "binary without spaces": each_byte("{:08b}"),
    "bits backwards, base64": lambda v: b64(bytes(int(f"{b:08b}"[::-1], 2) for b in v.encode())),
    "bytes inverted, hex": lambda v: bytes(b ^ 255 for b in v.encode()).hex(),
    "DNA letters": lambda v: "".join("ACGT"[b >> s & 3] for b in v.encode() for s in (6, 4, 2, 0)),
    "braille bytes": lambda v: "".join(chr(0x2800 + b) for b in v.encode()),
    "a CJK character a byte": lambda v: "".join(chr(0x4E00 + b) for b in v.encode()),
    "an emoji a byte": lambda v: "".join(chr(0x1F400 + b) for b in v.encode()),
    "yEnc-like, 42 added": lambda v: "".join(chr(ord(c) + 42) for c in v),
    "decimal, three digits each": each_byte("{:03d}"),
    "codes less 32": lambda v: " ".join(str(b - 32) for b in v.encode()),
    "differences of codes": _deltas,
    "signed bytes in Java": lambda v: (
        "new byte[]{" + ", ".join(str((b + 128) % 256 - 128) for b in v.encode()) + "}"
    ),
    "IPv4 addresses": lambda v: ", ".join(
        ".".join(map(str, v[at : at + 4].encode())) for at in range(0, len(v), 4)
    ),
    "IPv6 addresses": _six,
    "MAC addresses": lambda v: " ".join(
        ":".join(pieces(p, 2)) for p in pieces(v.encode().hex(), 12)
    ),
    "colours": lambda v: " ".join(f"#{p}" for p in pieces(v.encode().hex(), 6)),
    "base64 of gzip of hex": lambda v: b64(gzip.compress(v.encode().hex().encode())),
    "base32 of base64": lambda v: base64.b32encode(b64(v).encode()).decode(),
    "percent of base64": lambda v: each_byte("%{:02X}")(b64(v)),
    "rot13 of hex": lambda v: codecs.encode(v.encode().hex(), "rot13"),
    "reversed, gzip, base64": lambda v: b64(gzip.compress(v[::-1].encode())),
    "gzip and base85": lambda v: base64.b85encode(gzip.compress(v.encode())).decode(),
    "raw LZMA": lambda v: b64(lzma.compress(v.encode(), lzma.FORMAT_ALONE)),
    "a zip file": _zip_of,
    "a tar file, gzip": _tar_of,
    "gzip in gzip in gzip": lambda v: b64(gzip.compress(gzip.compress(gzip.compress(v.encode())))),
    "base64 four deep": lambda v: b64(b64(b64(b64(v)))),
    "fullwidth base64": lambda v: "".join(chr(ord(c) + 0xFEE0) for c in b64(v)),
    "upper case with hyphens": lambda v: "-".join(pieces(v.upper(), 4)),
}

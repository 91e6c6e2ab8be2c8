"""What comes out of compressed bytes, and what may be spent on finding out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nocturn.guard.reading import Reading, of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Budget", "inflated"]

_MAGICS: Final = (
    *(b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0", b"\x5d\0\0"),
    *(b"x\x01", b"x\x5e", b"x\x9c", b"x\xda"),
)
_FEWEST_INFLATED: Final = 4
_HEAD_BYTES: Final = 64
_STREAM_BYTES: Final = 131_072
_LZMA_BYTES: Final = 1 << 25
_ANY_HEADER: Final = 47
"""For zlib: its own header or gzip's."""


class Budget:
    """What may be spent on one text, on the work that a text can make long.

    Attributes:
        inflated_bytes: What may still come out of compression.
        tries: How often something may still be taken for compressed.
        radix_bytes: How much may still be read as a number in a large base, of whatever length.
        dense_bytes: How much may still be read as base85.
    """

    __slots__ = ("dense_bytes", "inflated_bytes", "radix_bytes", "tries")

    def __init__(self) -> None:
        self.inflated_bytes = 262_144
        self.tries = 8_192
        self.radix_bytes = 65_536
        self.dense_bytes = 16_384

    def takes_radix(self, size: int) -> bool:
        """Spends on a number of so many digits; returns whether there was enough."""
        self.radix_bytes -= size
        return self.radix_bytes >= 0

    def takes_dense(self, size: int) -> bool:
        """Spends on so many characters of base85; returns whether there was enough."""
        self.dense_bytes -= size
        return self.dense_bytes >= 0


def inflated(source: Reading, firsts: Iterable[int], budget: Budget) -> Iterator[Reading]:
    """Yields what is compressed in a reading.

    Args:
        source: The reading.
        firsts: Where a stream without a header may begin.
        budget: What may be spent.
    """
    data = source.data
    places = [(at, False) for magic in _MAGICS for at in _all_places(data, magic)]
    for at, raw in (*places, *((at, True) for at in firsts)):
        if budget.inflated_bytes <= 0 or budget.tries <= 0:
            return
        budget.tries -= 1
        # Most of what looks like a head is none, which its first bytes tell.
        if _inflated(data[at : at + _HEAD_BYTES], raw=raw, most=1) is None:
            continue
        told = _inflated(data[at : at + _STREAM_BYTES], raw=raw, most=budget.inflated_bytes)
        out, end = told or (b"", 0)
        if len(out) >= _FEWEST_INFLATED:
            budget.inflated_bytes -= len(out)
            yield of_rows(source, [(at, at + end, out)], plain=True)


def _all_places(data: bytes, magic: bytes) -> Iterator[int]:
    at = data.find(magic)
    while at >= 0:
        yield at
        at = data.find(magic, at + 1)


def _inflated(data: bytes, *, raw: bool, most: int) -> tuple[bytes, int] | None:
    """Returns what comes out of compressed data, as far as it goes, and how much was read."""
    import bz2
    import lzma
    import zlib

    stream: Any
    if raw:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
    elif data.startswith(b"BZh"):
        stream = bz2.BZ2Decompressor()
    elif data[0] in b"\xfd\x5d":
        stream = lzma.LZMADecompressor(memlimit=_LZMA_BYTES)
    else:
        stream = zlib.decompressobj(_ANY_HEADER)
    try:
        out: bytes = stream.decompress(data, most)
    except (zlib.error, OSError, EOFError, lzma.LZMAError):
        return None
    return out, len(data) - len(stream.unused_data)

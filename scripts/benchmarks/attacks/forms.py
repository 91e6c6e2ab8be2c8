"""The small pieces that ways to hide a value are put together from."""

from __future__ import annotations

import base64
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["b64", "each", "each_byte", "pieces", "split", "xored"]


def each(form: Callable[[str], str], between: str = "") -> Callable[[str], str]:
    """Returns what writes each character in a form of its own."""
    return lambda value: between.join(form(character) for character in value)


def each_byte(form: str, between: str = "") -> Callable[[str], str]:
    """Returns what writes each byte by a format string."""
    return lambda value: between.join(form.format(byte) for byte in value.encode())


def pieces(text: str, size: int) -> list[str]:
    """Cuts a text into pieces of a size, the last one shorter."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def split(size: int, form: str, between: str) -> Callable[[str], str]:
    """Returns what writes pieces by a format string, which has the piece and its place from 1."""
    return lambda value: between.join(
        form.format(piece, at) for at, piece in enumerate(pieces(value, size), 1)
    )


def b64(data: bytes | str) -> str:
    """Writes bytes, or a text in UTF-8, in base64."""
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def xored(value: str, key: bytes) -> bytes:
    """Returns the bytes of a value, each with the next of a key that begins again at its end."""
    return bytes(c ^ k for c, k in zip(value.encode(), cycle(key), strict=False))

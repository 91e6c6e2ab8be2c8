"""Ordinary texts of this machine, none of which may be blocked for a value."""

from __future__ import annotations

import gzip
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nocturn.guard.shapes import shapes_in
from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.guard.scanner import Scanner

__all__ = ["Reading", "read_all", "texts"]

_ENDS: Final = (".md", ".rst", ".txt")
_STARTS: Final = ("README", "METADATA", "PKG-INFO")
_DOCUMENTS: Final = "/usr/share/doc"


@dataclass(slots=True)
class Reading:
    """What became of the texts.

    Attributes:
        files: How many were read.
        size_bytes: How much that was, in UTF-8.
        blocked: The texts that were blocked and what was found, by how many values there were.
        shapes: What was blocked for its shape: the text's name and what it looks like.
        warned: How many texts a person would be warned of.
    """

    files: int = 0
    size_bytes: int = 0
    blocked: dict[int, list[str]] = field(default_factory=dict[int, "list[str]"])
    shapes: list[str] = field(default_factory=list[str])
    warned: int = 0


def texts(most: int | None = None) -> Iterator[tuple[str, str]]:
    """Yields the name and the text of each file, every text once.

    Args:
        most: How many at most; None for all there are.
    """
    seen: set[int] = set()
    for top in (*sys.path, _DOCUMENTS):
        for folder, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                if not _is_prose(name):
                    continue
                text = _read(Path(folder, name))
                if not text or hash(text) in seen:
                    continue
                seen.add(hash(text))
                yield name, text
                if most is not None and len(seen) >= most:
                    return


def read_all(scanners: dict[int, Scanner], most: int | None = None) -> Reading:
    """Looks for values and for shapes in every text, a note's worth at a time.

    Args:
        scanners: What looks, by how many values it knows.
        most: How many texts at most; None for all there are.
    """
    reading = Reading(blocked={count: [] for count in scanners})
    for name, text in texts(most):
        reading.files += 1
        reading.size_bytes += len(text.encode("utf-8", "surrogatepass"))
        # A note has no more bytes than this, and so no more characters.
        for at in range(0, len(text), NOTE_CONTENT_BYTES):
            part = text[at : at + NOTE_CONTENT_BYTES]
            for count, scanner in scanners.items():
                found = scanner.names(part)
                if found:
                    reading.blocked[count].append(f"{name}: {', '.join(found)}")
            hits = shapes_in(part)
            reading.shapes += [f"{name}: {hit.what}" for hit in hits if hit.blocks]
            reading.warned += any(not hit.blocks for hit in hits)
    return reading


def _is_prose(name: str) -> bool:
    plain = name.removesuffix(".gz")
    return plain.lower().endswith(_ENDS) or plain.upper().startswith(_STARTS)


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError):  # not there for us, or not a text
        return ""

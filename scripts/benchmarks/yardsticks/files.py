"""Files: the least that it takes to replace one durably, and to look at many."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["grep", "read_heads", "replace_durably"]


def replace_durably(folder: Path, name: str, data: bytes) -> None:
    """Writes a file beside its place, makes it durable, renames it, and makes that durable too.

    Args:
        folder: Where it goes.
        name: What it is called there.
        data: What is in it.
    """
    temporary = folder / f"{name}.new"
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / name)
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_heads(root: Path, size_bytes: int) -> int:
    """Walks a tree and reads the first bytes of each file in it.

    Args:
        root: The tree.
        size_bytes: How much of each file.

    Returns:
        How many bytes were read.
    """
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            fd = os.open(f"{folder}/{name}", os.O_RDONLY)
            try:
                total += len(os.read(fd, size_bytes))
            finally:
                os.close(fd)
    return total


def grep(root: Path, word: str) -> list[str]:
    """Looks for a word in each file of a tree, with ``grep -r``.

    Args:
        root: The tree.
        word: What to look for, as it is.

    Returns:
        The files that have it.
    """
    found = subprocess.run(
        ["grep", "-rlF", "--", word, root], capture_output=True, text=True, check=False
    )
    return found.stdout.splitlines()

"""The journal: one JSON line a call, in ``.nocturn/journal.jsonl``.

A write is told before it is done and after; what cannot be told is not done. Lines are ASCII, so
that nothing in them can disturb a terminal, and each is appended under a lock, so none is torn.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import LEAK_BLOCKED, STORAGE, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.directory import write_all
from nocturn.store.lock import held
from nocturn.store.trouble import disk_trouble

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["JournalFile"]

_JOURNAL: Final = "journal.jsonl"


class JournalFile:
    """The journal of one workspace.

    Args:
        folder: The workspace's ``.nocturn/``, which only a durable line makes.
    """

    def __init__(self, folder: Path) -> None:
        self._place = str(folder)
        self._folder = Folder(folder)

    def append(self, entry: Mapping[str, Any], *, durable: bool) -> None:
        """Adds one line.

        Args:
            entry: What JSON can hold.
            durable: Whether it must be on the disk before this returns. If not, it is skipped
                where the folder is missing or the disk refuses.

        Raises:
            NocturnError: ``STORAGE`` where a durable line could not be written; none is torn.
        """
        if not durable and not self.is_there():
            return
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        try:
            with (
                self._folder.place(_JOURNAL) as place,
                place.open_file(os.O_RDWR | os.O_APPEND) as fd,
                disk_trouble("writing the journal"),
                held(fd),
            ):
                _append(fd, line, durable=durable)
        except NocturnError as error:
            if durable:
                message = f"the journal cannot be written, so nothing else is: {error.message}"
                raise NocturnError(STORAGE, message, detail=error.detail) from None

    def is_there(self) -> bool:
        """Returns whether the folder is: an entry that need not be durable makes none."""
        return os.path.isdir(self._place)

    def leak_blocks_of(self, agent: str) -> int:
        """Counts the calls of this agent that were blocked for a leak, over all its runs.

        Raises:
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        with self._folder.place(_JOURNAL) as place:
            if place.entry is None:
                return 0
            with (
                place.open_file(os.O_RDONLY) as fd,
                disk_trouble("reading the journal"),
                os.fdopen(fd, "rb", closefd=False) as lines,
            ):
                return sum(_is_leak_block(line, agent) for line in lines)


def _append(fd: int, line: bytes, *, durable: bool) -> None:
    end = os.lseek(fd, 0, os.SEEK_END)
    if end:
        os.lseek(fd, -1, os.SEEK_END)
        if os.read(fd, 1) != b"\n":
            # A crash tore the last line: leave it, and begin a new one.
            line = b"\n" + line
    try:
        write_all(fd, line)
        if durable:
            os.fsync(fd)
    except OSError:
        os.ftruncate(fd, end)
        raise


def _is_leak_block(line: bytes, agent: str) -> bool:
    if LEAK_BLOCKED.encode() not in line:
        return False
    try:
        entry: Any = json.loads(line)
        return bool(entry["code"] == LEAK_BLOCKED and entry["agent"] == agent)
    except (ValueError, TypeError, KeyError, RecursionError):
        # A torn line tells nothing.
        return False

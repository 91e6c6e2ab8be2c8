"""One writer at a time for each note, across threads and processes.

All locks are bytes of one file, a byte for each name by its hash: a file for each note would be a
list of names that outlives the notes. Two names that cannot both exist on every operating system
share a byte. A kernel ends a lock with its holder, so a killed process holds nothing.

Where the system has no locks on a range that belong to an open file (all but Linux), the whole
file is one lock: the same promises, and writers of different notes wait for each other.
"""

from __future__ import annotations

import errno
import hashlib
import os
import struct
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from nocturn.errors import NOT_A_NOTE, STORAGE, NocturnError
from nocturn.names import same_name_key
from nocturn.store.confined import Folder
from nocturn.store.lock import held
from nocturn.store.trouble import disk_trouble

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

__all__ = ["HeldNotes", "NoteLocks"]

_NAME: Final = "notes.lock"
_FOLDERS: Final = 0
"""The byte of whoever makes a folder, so that ``People/`` and ``people/`` cannot both come up."""
_HASH_BYTES: Final = 7
_BY_RANGE: Final = sys.platform == "linux"


class HeldNotes:
    """The locks that one writer holds. Only :class:`NoteLocks` makes one."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def folders(self) -> None:
        """Takes the lock of whoever makes folders, last of all. Waits for its turn."""
        self._take(_FOLDERS)

    def also(self, paths: Iterable[str]) -> bool:
        """Takes the locks of more notes if nobody else holds one of them; waits for nobody.

        Returns:
            Whether they are all held now.
        """
        return all(self._take(each, wait=False) for each in _bytes_of(paths))

    def alone(self) -> bool:
        """Takes every lock if nobody else holds any; waits for nobody."""
        return self._take(0, 0, wait=False)

    def _take(self, start: int, length: int = 1, *, wait: bool = True) -> bool:
        return not _BY_RANGE or _lock_range(self._fd, start, length, wait=wait)


class NoteLocks:
    """The locks of one workspace's notes.

    Args:
        folder: The workspace's ``.nocturn/``, which the first lock makes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)

    @contextmanager
    def held(self, paths: Iterable[str]) -> Generator[HeldNotes]:
        """Holds the locks of these notes. Waits for its turn, in an order that cannot deadlock.

        Args:
            paths: Canonical paths; none to hold nothing yet.

        Raises:
            NocturnError: ``STORAGE`` where the file cannot be made or locked.
        """
        with ExitStack() as opened:
            try:
                place = opened.enter_context(self._folder.place(_NAME))
            except NocturnError as error:
                if error.code != NOT_A_NOTE:
                    raise
                message = f"{_NAME} in .nocturn is no regular file: move it away and try again"
                raise NocturnError(STORAGE, message) from None
            fd = opened.enter_context(place.open_file(os.O_RDWR))
            if not _BY_RANGE:
                with held(fd):
                    yield HeldNotes(fd)
                return
            try:
                for each in _bytes_of(paths):
                    _lock_range(fd, each, 1, wait=True)
                yield HeldNotes(fd)
            finally:  # closing would not do: a child that was forked meanwhile holds it open
                _unlock(fd)


def _bytes_of(paths: Iterable[str]) -> list[int]:
    """Gives the byte of each name, in order, none twice."""
    digests = (hashlib.sha256(same_name_key(each).encode()).digest() for each in paths)
    return sorted({1 + int.from_bytes(each[:_HASH_BYTES]) for each in digests})


if sys.platform == "linux":
    import fcntl

    def _lock_range(fd: int, start: int, length: int, *, wait: bool) -> bool:
        """Locks a range, which this open file may hold in part; a length of 0 is all of it."""
        wanted = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        with disk_trouble("locking the notes"):
            try:
                fcntl.fcntl(fd, fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK, wanted)
            except OSError as error:
                if wait or error.errno not in {errno.EAGAIN, errno.EACCES}:
                    raise
                return False
        return True

    def _unlock(fd: int) -> None:
        every = struct.pack("hhqqi0q", fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, every)

else:  # pragma: no cover - the fallback

    def _lock_range(fd: int, start: int, length: int, *, wait: bool) -> bool:
        """Never called: the whole file is locked."""
        raise NotImplementedError

    def _unlock(fd: int) -> None:
        raise NotImplementedError

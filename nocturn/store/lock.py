"""One change at a time, across processes and threads: an exclusive lock on an open file."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nocturn.store.confined import Folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["held", "is_free", "locked"]


@contextmanager
def locked(folder: Path, name: str) -> Generator[None]:
    """Holds the lock file ``name`` in ``folder``, which is made if missing. Waits for its turn.

    The file stays: removing it would let two processes hold two files of one name.

    Raises:
        NocturnError: ``STORAGE`` where the file cannot be made.
    """
    with Folder(folder).place(name) as place, place.open_file(os.O_RDWR) as fd, held(fd):
        yield


if sys.platform == "win32":  # pragma: no cover - the fallback
    import msvcrt

    @contextmanager
    def held(fd: int) -> Generator[None]:
        """Holds an exclusive lock on an open file. Waits for its turn."""
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            os.lseek(fd, 0, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def is_free(fd: int) -> bool:
        """Returns whether nobody holds the lock; then it is held, until the file is closed."""
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    @contextmanager
    def held(fd: int) -> Generator[None]:
        """Holds an exclusive lock on an open file. Waits for its turn."""
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)

    def is_free(fd: int) -> bool:
        """Returns whether nobody holds the lock; then it is held, until the file is closed."""
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who ask both see it free
        except BlockingIOError:
            return False
        return True

"""Shows other processes that somebody is still there, by a lock that the kernel ends with him.

A process id would not do: it is used again, and means nothing in another container.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nocturn.errors import NocturnError
from nocturn.store.confined import Folder
from nocturn.store.lock import held, is_free

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from nocturn.store.place import Place

__all__ = ["Presence"]


class Presence:
    """Who is there, each by a name, which is one file.

    Args:
        folder: The workspace's ``.nocturn/``.
        part: The folder in it for these files, which the first who is there makes.
    """

    def __init__(self, folder: Path, part: str) -> None:
        self._folder = folder
        self._part = part

    @contextmanager
    def shown(self, name: str) -> Generator[None]:
        """Is there under a name that nobody has had before, until the block or the process ends.

        Raises:
            NocturnError: ``STORAGE`` where its file cannot be made.
        """
        while True:
            with self._opened(name) as place, place.open_file(os.O_RDWR) as fd, held(fd):
                if not os.fstat(fd).st_nlink:  # swept away between being made and being locked
                    continue
                try:
                    yield
                finally:
                    with self._opened(name) as made:
                        made.drop()
                return

    def is_there(self, name: str) -> bool:
        """Returns whether somebody is there under this name."""
        with self._opened(name) as place:
            return not self._is_free(place)

    def sweep(self) -> None:
        """Removes what those have left that were killed."""
        for entry in Folder(self._folder / self._part).walk():
            with self._opened(entry.name) as place:
                self._is_free(place, drop=True)

    def _opened(self, name: str) -> AbstractContextManager[Place]:
        return Folder(self._folder).place(f"{self._part}/{name}")

    def _is_free(self, place: Place, *, drop: bool = False) -> bool:
        if place.entry is None:
            return True
        try:
            with place.open_file(os.O_RDWR, make=False) as fd:
                free = is_free(fd)
                if free and drop:  # under the lock, which who begins just now waits for
                    place.drop()
        except NocturnError as error:
            if error.detail.get("errno") == errno.errorcode[errno.ENOENT]:
                return True  # it was removed just now
            raise
        return free

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
    from pathlib import Path

__all__ = ["Presence"]


class Presence:
    """Who is there, each by a name, which is one file.

    Args:
        folder: The workspace's ``.nocturn/``.
        part: The folder in it for these files, which the first who is there makes.
    """

    def __init__(self, folder: Path, part: str) -> None:
        self._folder = Folder(folder)
        self._part = part

    @contextmanager
    def shown(self, name: str) -> Generator[None]:
        """Is there under a name that nobody has had before, until the block or the process ends.

        Raises:
            NocturnError: ``STORAGE`` where its file cannot be made.
        """
        try:
            with (
                self._folder.place(f"{self._part}/{name}") as place,
                place.open_file(os.O_RDWR) as fd,
                held(fd),
            ):
                yield
        finally:
            self.forget(name)

    def is_there(self, name: str) -> bool:
        """Returns whether somebody is there under this name."""
        with self._folder.place(f"{self._part}/{name}") as place:
            if place.entry is None:
                return False
            try:
                with place.open_file(os.O_RDWR, make=False) as fd:
                    return not is_free(fd)
            except NocturnError as error:
                if error.detail.get("errno") == errno.errorcode[errno.ENOENT]:
                    return False  # he left just now
                raise

    def forget(self, name: str) -> None:
        """Removes what somebody who is not there any more has left."""
        with self._folder.place(f"{self._part}/{name}") as place:
            place.drop()

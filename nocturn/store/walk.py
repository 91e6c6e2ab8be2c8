"""A walk through a tree, with a few folders of it open however deep it is."""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.store.directory import Directory

__all__ = ["Entry", "directories", "entries"]

_OPEN: Final = 32
"""Folders that are open below the top: a process may have but 256 descriptors for everything."""
_PATH_CHARACTERS: Final = 8_192
"""What is further down is not looked at: no tool goes beyond 1,024 bytes, no editor beyond 4,096,
and the paths of a tree that is 100,000 folders deep would fill the memory."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a walk came by.

    Attributes:
        path: Where it is, as spelled on disk, parts joined by ``/``.
        kind: ``file`` for a regular file, ``other`` for a link, a FIFO, a device, ``closed`` for a
            folder that cannot be looked into; ``folder`` for another, where those are wanted.
        directory: Its directory, open until the walk goes on.
        name: Its name there.
        status: Its own state; None for a folder that could not even be looked at.
    """

    path: str
    kind: Literal["file", "other", "closed", "folder"]
    directory: Directory
    name: str
    status: os.stat_result | None


def entries(top: Directory, *, folders: bool = False) -> Iterator[Entry]:
    """Goes through everything under a folder that is no folder, through no link, in order.

    Args:
        top: The folder; it is closed at the end.
        folders: Whether each folder is given as well, before what is in it.

    Raises:
        OSError: It cannot be read.
    """
    with _Descent(top) as way:
        levels = [iter(sorted(top.names()))]
        while levels:
            name = next(levels[-1], None)
            if name is None:
                levels.pop()
                try:
                    way.up()
                except FileNotFoundError:  # it was removed meanwhile, and all that was in it
                    levels[-1] = iter(())
                except OSError:
                    levels[-1] = iter(())
                    yield Entry(way.prefix[:-1], "closed", top, "", None)
                continue
            at, path, status = way.at, way.prefix + name, None
            try:
                status = at.status(name)
                if status is not None and stat.S_ISDIR(status.st_mode):
                    if folders:
                        yield Entry(path, "folder", at, name, status)
                    way.down(name)
                    levels.append(iter(()))
                    levels[-1] = iter(sorted(way.at.names()))
                    continue
            except OSError:
                yield Entry(path, "closed", at, name, status)
                continue
            if status is not None:
                regular = stat.S_ISREG(status.st_mode)
                yield Entry(path, "file" if regular else "other", at, name, status)


def directories(top: Directory) -> Iterator[Directory]:
    """Goes through a folder and every one under it, through no link; what is closed is left out.

    Args:
        top: The folder; it is closed at the end, and the others when the next is asked for.
    """
    with _Descent(top) as way:
        yield top
        levels = [iter(_folders(top))]
        while levels:
            name = next(levels[-1], None)
            try:
                if name is None:
                    levels.pop()
                    way.up()
                else:
                    way.down(name)
            except OSError:
                if name is None:
                    levels[-1] = iter(())
                continue
            if name is not None:
                yield way.at
                levels.append(iter(_folders(way.at)))


def _folders(at: Directory) -> list[str]:
    try:
        return at.folders()
    except OSError:
        return []


class _Descent:
    """The folders from the top to where a walk is. Those high up are closed, and opened again.

    They are opened again from the top and by name, not by ``..``, which leads elsewhere once a
    folder was moved; and, as everywhere, through no link.
    """

    def __init__(self, top: Directory) -> None:
        self._top = top
        self._names: list[str] = []
        self._open: deque[Directory] = deque()
        self.at = top
        self.prefix = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self._open, self._top):
            each.close()

    def down(self, name: str) -> None:
        """Goes into a folder; where it cannot, it stays where it was."""
        if len(self.prefix) + len(name) >= _PATH_CHARACTERS:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        self._enter(self.at.folder(name))
        self._names.append(name)
        self.prefix += f"{name}/"

    def up(self) -> None:
        """Goes back to the folder above, if there is one; where it cannot, it is there, closed."""
        if not self._names:
            return
        self.prefix = self.prefix[: -len(self._names.pop()) - 1]
        if self._open:
            self._open.pop().close()
        self.at = self._open[-1] if self._open else self._top
        if self._names and not self._open:
            try:
                for name in self._names:
                    self._enter(self.at.folder(name))
            except OSError:
                while self._open:
                    self._open.pop().close()
                raise

    def _enter(self, folder: Directory) -> None:
        self.at = folder
        self._open.append(folder)
        if len(self._open) > _OPEN:
            self._open.popleft().close()

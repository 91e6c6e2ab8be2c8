"""THE path-security boundary: the one place where a path becomes something on disk.

Everything that nocturn reads or writes under a root goes through :class:`Folder`. Why it holds:

- it walks part by part, each directory opened from its parent's descriptor with ``O_NOFOLLOW``, so
  what was checked is what is used, and a link that is swapped in is met, not followed;
- a link is resolved here, by hand, against the descriptors of the way so far; ``..`` in a link pops
  that stack and cannot pop the root;
- writing goes through no folder link at all: the gate rules on names, so one file has one name;
- looking makes nothing: folders are made by the write itself, and unmade if it fails.

Its parts: ``directory.py`` has the system calls, and what is weaker on Windows; ``way.py`` follows
links for reading; ``walk.py`` goes through all there is; ``place.py`` writes. Nothing else in
nocturn opens a path under a root.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, NOT_A_NOTE, PATH_ESCAPE, NocturnError
from nocturn.store.directory import BY_DESCRIPTOR, Content, Directory, is_link
from nocturn.store.place import Place
from nocturn.store.trouble import disk_trouble, not_a_note, not_found, shown
from nocturn.store.walk import Entry, directories, entries
from nocturn.store.way import Way, spelled

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

__all__ = ["Entry", "Folder"]

_NOTHING: Final = ".nothing"
"""A name that no file has: its place is the folder that it would be in."""


class Folder:
    """A root directory, and the only way to what is under it.

    The root may be missing: then it has nothing, and the first write makes it. Its parents' links
    are followed, since they are the user's; the root itself must not be a link.
    """

    def __init__(self, root: Path, *, by_descriptor: bool = BY_DESCRIPTOR) -> None:
        self._root = root.absolute()
        self._by_descriptor = by_descriptor

    def read(self, path: str, limit: int) -> Content:
        """Reads a regular file; links are followed as long as they stay inside.

        Args:
            path: The canonical path, or a path as spelled on disk.
            limit: How many bytes at most.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NOT_A_NOTE``, ``PATH_ESCAPE``, ``STORAGE``.
        """
        with disk_trouble(f"reading {shown(path)}"), self._followed(path) as (at, name, link):
            try:
                return replace(at.read(name, limit), link=link)
            except IsADirectoryError:
                raise not_a_note(path) from None
            except FileNotFoundError:
                raise not_found(path) from None

    @contextmanager
    def place(self, path: str) -> Generator[Place]:
        """Finds where a file would be written, and makes nothing yet.

        Args:
            path: The canonical path.

        Yields:
            The place, good inside the ``with`` only.

        Raises:
            NocturnError: ``NAME_TAKEN`` (``detail["existing"]``), ``NOT_A_NOTE``, ``PATH_ESCAPE``,
                ``BAD_ARGUMENTS`` for a folder link that stays inside, ``STORAGE``.
        """
        *folders, name = path.split("/")
        with disk_trouble(f"opening {shown(path)}"):
            at, missing = self._deepest()
        try:
            with disk_trouble(f"opening {shown(path)}"):
                done: list[str] = []
                for part in folders:
                    there = None if missing else spelled(at, part, done)
                    if there is None:
                        missing.append(part)
                        continue
                    done.append(there)
                    at = self._step(at, done)
                there = None if missing else spelled(at, name, done)
                status = None if there is None else at.status(there)
                if status is not None and not (stat.S_ISREG(status.st_mode) or is_link(status)):
                    raise not_a_note(path)
            place = Place(path, at, tuple(missing), there or name, status)
            yield place
        finally:
            at.close()

    @contextmanager
    def new_file(self, path: str) -> Generator[int]:
        """Makes a file where none is, under just this name, whatever others are beside it.

        Args:
            path: Parts joined by ``/``, none of them empty, ``.`` or ``..``.

        Yields:
            Its descriptor, to write to.

        Raises:
            NocturnError: ``PATH_ESCAPE``, ``STORAGE``, where something is there as well.
        """
        *folders, name = path.split("/")
        with disk_trouble(f"making {shown(path)}"):
            at = self._open_root()
            try:
                for part in folders:
                    above = at
                    at, _ = above.make_folder(part)
                    above.close()
                fd = at.open_file(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            finally:
                at.close()
            try:
                yield fd
            finally:
                os.close(fd)

    def names(self) -> list[str]:
        """Gives the names of what is right under the root, in no order; none where it is missing.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the root cannot be opened.
        """
        with disk_trouble("opening the folder"):
            try:
                top = self._open_root()
            except FileNotFoundError:
                return []
            try:
                return top.names()
            finally:
                top.close()

    def walk(self, *, folders: bool = False) -> Iterator[Entry]:
        """Goes through everything under the root that is no folder, through no link.

        Args:
            folders: Whether each folder is given as well, before what is in it.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the root itself cannot be opened.
        """
        with disk_trouble("opening the folder"):
            try:
                top = self._open_root()
            except FileNotFoundError:
                return
        with disk_trouble("reading the folder"):
            yield from entries(top, folders=folders)

    def directories(self) -> Iterator[Directory]:
        """Opens the root and every folder under it, one at a time; never through a link.

        What cannot be opened is left out. A directory is open until the next is asked for.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the root itself cannot be opened.
        """
        with disk_trouble("opening the folder"):
            try:
                top = self._open_root()
            except FileNotFoundError:
                return
        with disk_trouble("reading the folder"):
            yield from directories(top)

    def drop_empty(self, path: str, *, above: str) -> None:
        """Removes a folder, and those above it below ``above``, as long as they are empty.

        Args:
            path: The folder, as spelled on disk.
            above: The folder that stays.
        """
        parts = path.split("/")
        while "/".join(parts) not in (above, ""):
            name = parts.pop()
            with self.place("/".join([*parts, _NOTHING])) as place:
                if not place.drop_folder(name):
                    return

    def _open_root(self) -> Directory:
        return Directory.at(self._root, follow=False, by_descriptor=self._by_descriptor)

    def _deepest(self) -> tuple[Directory, list[str]]:
        """Opens the root, or its nearest parent that exists, with the names that are missing."""
        try:
            return self._open_root(), []
        except FileNotFoundError:
            missing = [self._root.name]
        for parent in self._root.parents:
            try:
                at = Directory.at(parent, follow=True, by_descriptor=self._by_descriptor)
            except FileNotFoundError:
                missing.insert(0, parent.name)
            else:
                return at, missing
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _step(self, at: Directory, done: list[str]) -> Directory:
        """Goes from ``at`` into the folder ``done[-1]``, for writing."""
        status = at.status(done[-1])
        path = "/".join(done)
        if status is not None and is_link(status):
            self._refuse_folder_link(path)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            message = f"{shown(path)} is a file, not a folder: use another name"
            raise NocturnError(NOT_A_NOTE, message)
        folder = at.folder(done[-1])
        at.close()
        return folder

    def _refuse_folder_link(self, path: str) -> None:
        try:
            with self._followed(path):
                pass
        except NocturnError as error:
            if error.code == PATH_ESCAPE:
                raise
        message = (
            f"{shown(path)} is a link to another folder, and one note has one name: write to "
            "the folder that it points to"
        )
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "path"})

    @contextmanager
    def _followed(self, path: str) -> Generator[tuple[Directory, str, str | None]]:
        try:
            top = self._open_root()
        except FileNotFoundError:
            raise not_found(path) from None
        way = Way(self._root, top, path)
        try:
            yield way.end()
        finally:
            way.close()

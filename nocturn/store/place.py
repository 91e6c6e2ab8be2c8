"""Where one file is or would be: what is written, is written here, whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NocturnError
from nocturn.names import same_name_key
from nocturn.store.directory import Content, Directory, is_link
from nocturn.store.orphans import is_orphan
from nocturn.store.renaming import rename_new
from nocturn.store.trouble import disk_trouble, shown, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Place"]

_NO_SECOND_NAME: Final = {errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}


class Place:
    """Where a file is or would be; nothing has been made yet.

    Attributes:
        path: The canonical path.
        entry: The entry's own state, None where nothing is there.
    """

    def __init__(
        self,
        path: str,
        at: Directory,
        missing: tuple[str, ...],
        name: str,
        entry: os.stat_result | None,
    ) -> None:
        self.path = path
        self.entry = entry
        self._at = at
        self._missing = missing
        self._name = name

    @property
    def folder_missing(self) -> bool:
        """Whether folders on its way are missing, which a write makes."""
        return bool(self._missing)

    def link_text(self) -> str | None:
        """Gives what the entry says where it is a link, else None."""
        if self.entry is None or not is_link(self.entry):
            return None
        with disk_trouble(f"reading {shown(self.path)}"):
            return self._at.link_text(self._name)

    def read(self, limit: int) -> Content:
        """Reads the file, which must be there and be no link."""
        with disk_trouble(f"reading {shown(self.path)}"):
            return self._at.read(self._name, limit)

    def replace_file(self, data: bytes, *, unchanged: bool = False) -> None:
        """Puts a whole file here, atomically and down to the disk, 0600 in folders of 0700.

        A link is replaced as an entry: what it points to stays as it is.

        Args:
            data: The whole file.
            unchanged: Whether the entry must still be the one that was found.

        Raises:
            NocturnError: ``CONFLICT`` where it isn't, ``BAD_ARGUMENTS`` where the disk would keep
                the name in another case, ``STORAGE`` where it refuses. The old file is whole, and
                no temporary file and no new folder is left.
        """
        with disk_trouble(f"writing {shown(self.path)}"), self._made_folder(_require_kept) as at:
            at.replace(self._name, data, (lambda: self._require_same(at)) if unchanged else None)
            if self.entry is None:
                try:
                    _require_kept(at, self._name)
                except NocturnError:
                    at.drop(self._name)
                    raise

    def make_folder(self) -> None:
        """Makes the folders that are missing, 0700, and nothing in them.

        Raises:
            NocturnError: ``STORAGE``; none is left.
        """
        with disk_trouble(f"making the folder of {shown(self.path)}"), self._made_folder():
            pass

    def move_to(self, other: Place) -> None:
        """Moves the entry, a link as the link, to a place where nothing is.

        Raises:
            NocturnError: ``STORAGE``; the entry is where it was.
        """
        with disk_trouble(f"moving {shown(self.path)}"), other._made_folder() as to:
            try:
                self._at.rename(self._name, to, other._name)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._copy_across(to, other._name)
            to.sync()
            self._at.sync()

    def rename_to(self, other: Place) -> None:
        """Moves the entry, a link as the link, to a place where nothing is; never over anything.

        Raises:
            NocturnError: ``NAME_TAKEN`` where something has come to be there, ``BAD_ARGUMENTS``
                where the disk would keep the name in another case, ``STORAGE``; the entry is where
                it was.
        """
        with disk_trouble(f"moving {shown(self.path)}"), other._made_folder(_require_kept) as to:
            self._rename(to, other._name, other.path)

    def respell(self, path: str) -> None:
        """Gives the entry a name that differs from its own in case or in form alone.

        Args:
            path: Its new path, in the same folder.

        Raises:
            NocturnError: As :meth:`rename_to`.
        """
        with disk_trouble(f"moving {shown(self.path)}"):
            self._rename(self._at, path.rpartition("/")[2], path)

    def copy_to(self, other: Place) -> None:
        """Gives the entry a second place where nothing is: without copying it where that goes.

        Raises:
            NocturnError: ``STORAGE``.
        """
        with disk_trouble(f"keeping {shown(self.path)}"), other._made_folder() as to:
            try:
                self._at.link(self._name, to, other._name)
            except OSError as error:
                if error.errno not in _NO_SECOND_NAME:
                    raise
                self._copy(to, other._name)
            to.sync()

    @contextmanager
    def open_file(self, flags: int, *, make: bool = True) -> Generator[int]:
        """Opens the file here, never through a link.

        Args:
            flags: Such as ``os.O_RDWR | os.O_APPEND``.
            make: Whether it is made, with mode 0600, where it is missing.

        Yields:
            Its descriptor.
        """
        with disk_trouble(f"opening {shown(self.path)}"), self._made_folder() as at:
            fd = at.open_file(self._name, flags | (os.O_CREAT if make else 0))
            if self.entry is None:
                at.sync()
        try:
            yield fd
        finally:
            os.close(fd)

    def remove(self) -> None:
        """Removes the entry, a link as the link, down to the disk, if there is one.

        Raises:
            NocturnError: ``STORAGE``; it is there still.
        """
        if self.entry is None:
            return
        with disk_trouble(f"removing {shown(self.path)}"):
            try:
                self._at.unlink(self._name)
            except FileNotFoundError:
                return
            self._at.sync()

    def drop(self) -> None:
        """Removes the entry, a link as the link, if there is one and the disk lets it go."""
        if self.entry is not None:
            self._at.drop(self._name)

    def drop_orphans(self) -> None:
        """Removes what killed writers have left beside the entry; nobody may be writing there."""
        if not self._missing:
            for name in filter(is_orphan, self._at.names()):
                self._at.drop(name)

    def drop_folder(self, name: str) -> bool:
        """Removes an empty folder beside the entry, and returns whether it is gone."""
        if not self._missing:
            self._at.drop(name, folder=True)
        return bool(self._missing) or self._at.status(name) is None

    @contextmanager
    def _made_folder(
        self, check: Callable[[Directory, str], None] | None = None
    ) -> Generator[Directory]:
        """Makes the missing folders; unmakes them if what is done inside fails.

        Args:
            check: Called for each that was made, with its parent and its name.
        """
        way = [self._at]
        made: list[tuple[Directory, str]] = []
        try:
            for name in self._missing:
                folder, new = way[-1].make_folder(name)
                way.append(folder)
                if new:
                    made.append((way[-2], name))
                    if check is not None:
                        check(way[-2], name)
            yield way[-1]
            for parent, _ in made:
                parent.sync()
        except BaseException:
            for parent, name in reversed(made):
                parent.drop(name, folder=True)
            raise
        finally:
            for each in way[1:]:
                each.close()

    def _rename(self, to: Directory, name: str, path: str) -> None:
        try:
            rename_new(self._at, self._name, to, name)
        except FileExistsError:
            raise taken(path) from None
        try:
            _require_kept(to, name)
        except NocturnError:
            to.rename(name, self._at, self._name)
            raise
        to.sync()
        self._at.sync()

    def _require_same(self, at: Directory) -> None:
        if not _same(at.status(self._name), self.entry):
            message = f"{shown(self.path)} was changed just now: read it again"
            raise NocturnError(CONFLICT, message)

    def _copy_across(self, to: Directory, name: str) -> None:
        """Moves to another file system, where rename cannot: copies first, then removes."""
        self._copy(to, name)
        to.sync()
        self._at.unlink(self._name)

    def _copy(self, to: Directory, name: str) -> None:
        text = self.link_text()
        if text is not None:
            to.make_link(name, text)
        else:
            to.replace(name, self._at.read(self._name, sys.maxsize).data)


def _require_kept(at: Directory, name: str) -> None:
    """Refuses what is there by now and is listed in another case: some disks keep none.

    A note that is listed as another would be lost to its own name, and no other would be refused.
    """
    if name == name.lower():
        return
    key = same_name_key(name)
    kept = [each for each in at.names() if same_name_key(each) == key]
    if not kept or any(unicodedata.normalize("NFC", each) == name for each in kept):
        return
    message = f"{shown(name)} would be {shown(kept[0])} on this disk: use that name"
    raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "path"})


def _same(now: os.stat_result | None, then: os.stat_result | None) -> bool:
    if now is None or then is None:
        return now is then
    return (now.st_ino, now.st_size, now.st_mtime_ns) == (
        then.st_ino,
        then.st_size,
        then.st_mtime_ns,
    )

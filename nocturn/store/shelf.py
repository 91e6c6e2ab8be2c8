"""A folder of files that hold notes' words: what is in it can be looked through, and forgotten."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

from nocturn.errors import CONFLICT, STORAGE, NocturnError
from nocturn.names import nfc
from nocturn.store.confined import Folder
from nocturn.store.directory import is_link
from nocturn.store.orphans import is_orphan
from nocturn.store.purging import FOR_EVER, Text
from nocturn.store.trouble import disk_trouble, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from nocturn.store.confined import Entry
    from nocturn.store.place import Place
    from nocturn.store.purging import Doomed

__all__ = ["Shelf", "as_now", "in_trash", "no_note"]

_ATTEMPTS: Final = 8


def as_now(path: str) -> tuple[str, int]:
    """Returns which note a file in ``memory/`` is: the one that has this path now."""
    return path, FOR_EVER


def no_note(path: str) -> tuple[str, int]:
    """Returns a file's path and a moment at which no note had it."""
    return path, FOR_EVER + 1


def in_trash(path: str) -> tuple[str, int]:
    """Returns which note a file in the trash was, and when it went there, in milliseconds."""
    from datetime import UTC, datetime

    stamp, _, note = path.partition("/")
    try:
        moment = datetime.strptime(stamp[:16], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:  # no stamp of ours
        return note or path, 0
    return note or path, int(moment.timestamp() * 1e3)


class Shelf:
    """The files under one folder, each a note or what was one.

    Args:
        where: What it is called: ``note``, ``trash``, ``persona``.
        root: The folder; it may be missing.
        note_of: Gives of a path in it the note's path, and when the note was called that, in
            milliseconds since 1970: :func:`as_now`, :func:`in_trash` or :func:`no_note`.
        held: Holds the locks of some notes.
    """

    def __init__(
        self,
        where: str,
        root: Path,
        note_of: Callable[[str], tuple[str, int]],
        held: Callable[[Iterable[str]], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._where = where
        self._folder = Folder(root)
        self._note_of = note_of
        self._held = held

    def texts(self) -> Iterator[Text]:
        """Yields the text of each regular file; what is no UTF-8 comes with what can be read of it.

        Raises:
            NocturnError: ``STORAGE`` or ``PATH_ESCAPE``, the folder itself cannot be opened.
        """
        for entry in self._folder.walk():
            if entry.kind == "other":
                continue
            note = self._note_of(entry.path)[0]
            try:
                text = _data_of(entry).decode("utf-8", "surrogateescape")
            except FileNotFoundError:  # it went since it was listed
                continue
            except OSError:
                yield Text(self._where, note, None)
            else:
                yield Text(self._where, note, text)

    def purge(self, doomed: Doomed) -> int:
        """Removes the files of a note, or strikes a value out of all files, their names included.

        What a killed write has left is removed at any rate.

        Returns:
            How many files had it.

        Raises:
            NocturnError: ``STORAGE``, something could not be looked at or changed; the rest is
                done. ``PATH_ESCAPE``, the folder itself is a link.
        """
        found = 0 if doomed.names else self._strike_folders(doomed)
        troubles: list[str] = []
        # Looked at where the walk is, so that no folder is listed once for each of its files.
        for path in [each.path for each in self._folder.walk() if self._is_to_change(each, doomed)]:
            try:
                found += self._change(path, doomed)
            except NocturnError as error:
                troubles.append(error.message)
        for path in doomed.names:  # it may have been removed before, and left a folder empty
            with suppress(NocturnError):
                self._folder.drop_empty(path.rpartition("/")[0], above="")
        if troubles:
            more = f", and {len(troubles) - 1} more like it" if len(troubles) > 1 else ""
            raise NocturnError(STORAGE, f"{troubles[0]}{more}")
        return found

    def _strike_folders(self, doomed: Doomed) -> int:
        """Gives folders whose names have the value other names; returns how many there were."""
        found = 0
        for at in self._folder.directories():
            try:
                names = at.names()
            except OSError:  # the walk tells of it
                continue
            for name in names:
                new_name = doomed.strike(name)
                if new_name == name:
                    continue
                with disk_trouble(f"renaming {shown(new_name)}"):
                    status = at.status(name)
                    if status is not None and stat.S_ISDIR(status.st_mode):
                        free = next(n for n in _numbered(new_name) if at.status(n) is None)
                        at.rename(name, at, free)
                        found += 1
        return found

    def _is_to_change(self, entry: Entry, doomed: Doomed) -> bool:
        """Looks before there is a lock: it takes a while, and mostly there is nothing to do."""
        if entry.kind == "closed" or self._is_to_go(entry.path, doomed):
            return True
        if doomed.names:
            return False
        try:
            if entry.kind == "file":
                data = _data_of(entry)
                found = doomed.struck_bytes(data) != data
            else:
                link = _link_of(entry)
                found = doomed.strike(link) != link
        except FileNotFoundError:  # it went since it was listed
            return False
        except OSError:  # which the change tells
            return True
        return found or doomed.strike(entry.path) != entry.path

    def _is_to_go(self, path: str, doomed: Doomed) -> bool:
        orphan = is_orphan(path.rpartition("/")[2])  # and may hold anything
        return orphan or doomed.has(*self._note_of(path))

    def _change(self, path: str, doomed: Doomed) -> bool:
        """Removes a file or strikes the value out of it; returns whether it counts."""
        note = nfc(self._note_of(path)[0])
        if self._is_to_go(path, doomed):
            with self._held([note]), self._folder.place(path) as place:
                place.remove()
            self._folder.drop_empty(path.rpartition("/")[0], above="")
            return not is_orphan(path.rpartition("/")[2])
        with self._held([note]):
            self._strike(path, doomed)
        return True

    def _strike(self, path: str, doomed: Doomed) -> None:
        for _ in range(_ATTEMPTS):
            try:
                with self._folder.place(path) as place:
                    self._strike_content(place, doomed)
                break
            except NocturnError as error:
                if error.code != CONFLICT:  # somebody wrote it just now: once more
                    raise
        else:
            message = f"{shown(path)} is written all the time: stop who writes it, and purge again"
            raise NocturnError(STORAGE, message)
        if (new_path := doomed.strike(path)) != path:
            self._rename(path, new_path)

    @staticmethod
    def _strike_content(place: Place, doomed: Doomed) -> None:
        if place.entry is None:
            return
        link = place.link_text()
        if link is not None:
            if doomed.strike(link) != link:
                place.remove()
            return
        data = place.read(sys.maxsize).data
        left = doomed.struck_bytes(data)
        if left != data:
            place.replace_file(left, unchanged=True)

    def _rename(self, path: str, new_path: str) -> None:
        """Moves a file whose name had the value to one that has not, where nothing is yet."""
        for free in _numbered(new_path):
            with self._folder.place(path) as place, self._folder.place(free) as to:
                if to.entry is None:
                    if place.entry is not None:
                        place.move_to(to)
                    break
        self._folder.drop_empty(path.rpartition("/")[0], above="")


def _numbered(path: str) -> Iterator[str]:
    """Yields a path, and then others like it."""
    yield path
    folder, slash, name = path.rpartition("/")
    stem, dot, end = name.rpartition(".") if "." in name else (name, "", "")
    for number in itertools.count(2):
        yield f"{folder}{slash}{stem} ({number}){dot}{end}"


def _data_of(entry: Entry) -> bytes:
    """Returns what a file says.

    Raises:
        OSError: It cannot be read, or is a folder that cannot be looked into.
    """
    if entry.kind == "closed":
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return entry.directory.read(entry.name, sys.maxsize).data


def _link_of(entry: Entry) -> str:
    """Returns what a link says; nothing of a FIFO or a device."""
    status = entry.directory.status(entry.name)
    return entry.directory.link_text(entry.name) if status is not None and is_link(status) else ""

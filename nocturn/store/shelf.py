"""A folder of files that hold notes' words: what is in it can be looked through, and forgotten."""

from __future__ import annotations

import itertools
import stat
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

from nocturn.errors import CONFLICT, NOT_A_NOTE, NOT_FOUND, STORAGE, NocturnError
from nocturn.names import nfc
from nocturn.store.confined import Folder
from nocturn.store.orphans import is_orphan
from nocturn.store.purging import FOR_EVER, Text
from nocturn.store.trouble import disk_trouble, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

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
        for path, kind in self._listed():
            note = self._note_of(path)[0]
            if kind == "other":
                continue
            try:
                if kind == "closed":
                    raise _closed(path)
                data = self._data(path)
            except NocturnError:
                yield Text(self._where, note, None)
                continue
            if data is not None:
                yield Text(self._where, note, data.decode("utf-8", "surrogateescape"))

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
        for path, kind in self._listed():
            try:
                found += self._purge_one(path, kind, doomed)
            except NocturnError as error:
                troubles.append(error.message)
        for path in doomed.names:  # it may have been removed before, and left a folder empty
            with suppress(NocturnError):
                self._folder.drop_empty(path.rpartition("/")[0], above="")
        if troubles:
            more = f", and {len(troubles) - 1} more like it" if len(troubles) > 1 else ""
            raise NocturnError(STORAGE, f"{troubles[0]}{more}")
        return found

    def _listed(self) -> list[tuple[str, str]]:
        return [(each.path, each.kind) for each in self._folder.walk()]

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

    def _purge_one(self, path: str, kind: str, doomed: Doomed) -> bool:
        if kind == "closed":
            raise _closed(path)
        note, at_ms = self._note_of(path)
        orphan = is_orphan(path.rpartition("/")[2])  # and may hold anything
        if orphan or doomed.has(note, at_ms):
            with self._held([nfc(note)]), self._folder.place(path) as place:
                place.remove()
            self._folder.drop_empty(path.rpartition("/")[0], above="")
            return not orphan
        if doomed.names or not self._is_struck(path, kind, doomed):
            return False
        with self._held([nfc(note)]):
            self._strike(path, doomed)
        return True

    def _is_struck(self, path: str, kind: str, doomed: Doomed) -> bool:
        """Looks before there is a lock: it takes a while, and mostly there is nothing to strike."""
        if doomed.strike(path) != path:
            return True
        if kind == "file":
            data = self._data(path)
            return data is not None and doomed.struck_bytes(data) != data
        try:
            with self._folder.place(path) as place:
                link = place.link_text()
        except NocturnError as error:
            if error.code == NOT_A_NOTE:  # a FIFO or a device, which says nothing
                return False
            raise
        return link is not None and doomed.strike(link) != link

    def _data(self, path: str) -> bytes | None:
        """Returns what a file says; None where it went since it was listed."""
        try:
            return self._folder.read(path, sys.maxsize).data
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise

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


def _closed(path: str) -> NocturnError:
    message = f"{shown(path)} cannot be looked into: check who owns it and its modes"
    return NocturnError(STORAGE, message)

"""Changing notes so that nothing is ever lost: told first, then done, under the notes' locks.

Each change goes like this. Under the locks of its notes it is looked what is there; where that is
not what the history has last, somebody else has changed it, and it is kept as *seen*. Then the new
states are told with their contents, and that is on the disk. Then the change is made, atomically
for each note. A crash after any step leaves notes that are whole, and a history that has all.

Whether a change that was told came about is seen by the entry on disk: it still has the stamp
that it had, or it hasn't. A change of several notes is noted as unfinished besides, until all is
done; if its process died, the next change of any note finishes it, or drops it if nothing of it
had been done.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nocturn.errors import CONFLICT, NAME_TAKEN, NocturnError
from nocturn.names import same_name_key
from nocturn.store.history import SEEN, History, State
from nocturn.store.note_locks import NoteLocks
from nocturn.store.orphans import sweep
from nocturn.store.trouble import shown
from nocturn.store.version import Look, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nocturn.effects import Clearance
    from nocturn.store.confined import Folder
    from nocturn.store.history import Pages
    from nocturn.store.note_locks import HeldNotes
    from nocturn.store.trash import Trash
    from nocturn.store.version import Looks

__all__ = ["Change", "Changes", "is_respelling"]

_TRIES: Final = 3
_TIDIED_EVERY: Final = 64
"""So many changes there are, on average, until it is looked for what is too old or too much."""
_NOTHING: Final = Look()
"""What is at a path that is not looked at: one that is another's name spelled anew."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one note.

    Attributes:
        path: Its canonical path.
        data: The whole new file; None where it goes.
        to: Where it goes to; None for the trash.
    """

    path: str
    data: bytes | None = None
    to: str | None = None


class _MovedError(Exception):
    """A note is no longer what it was when it was looked at, a moment ago."""


class Changes:
    """Makes changes of one workspace's notes. Safe to use from many threads and processes.

    Args:
        folder: The ``memory/`` folder.
        outer: The workspace's ``.nocturn/``.
        looks: What looks at notes.
        trash: Where notes go.
    """

    def __init__(self, folder: Folder, outer: Path, looks: Looks, trash: Trash) -> None:
        self.history = History(outer)
        self._folder = folder
        self._outer = outer
        self._looks = looks
        self._trash = trash
        self._locks = NoteLocks(outer)
        self._met: dict[str, str | None] = {}
        self._swept = False

    def make(
        self,
        clearance: Clearance,
        paths: Iterable[str],
        plan: Callable[[Mapping[str, Look]], Sequence[Change]],
    ) -> None:
        """Makes the changes that are planned for what is there. Nobody else writes meanwhile.

        Args:
            clearance: Whose change it is; it is spent already.
            paths: All that may be changed.
            plan: Gives the changes from what is there, or raises what is in their way. Called
                again where a note is changed at the last moment by somebody who takes no locks.

        Raises:
            NocturnError: What ``plan`` raises, ``CONFLICT``, ``NAME_TAKEN``, ``STORAGE``. Nothing
                has changed; of a change of several notes, what could not be done yet is done by
                the next change of any note.
        """
        wanted = [*dict.fromkeys(paths)]
        for _ in range(_TRIES):
            with self._locks.held(wanted) as lock:
                self._sweep(lock)
                try:
                    self._make(clearance, wanted, plan, lock)
                except _MovedError:
                    continue
                return
        message = f"{shown(wanted[0])} is being changed by others just now: read it again"
        raise NocturnError(CONFLICT, message)

    def met(self, path: str, version: str | None) -> None:
        """Takes note of what was read, in case that a person has changed it.

        It makes no ``.nocturn/``, waits for no writer, and fails nobody's read.

        Args:
            path: The canonical path.
            version: What was there.
        """
        if self._met.get(path, "") == version or not os.path.isdir(self._outer):
            return
        with suppress(NocturnError):
            with self.history.reading() as pages:
                last = None if pages is None else pages.last(path)
            if (None if last is None else last.version) != version:
                with self._locks.held(()) as lock:
                    if not lock.also([path]):
                        return
                    self._catch_up([path], lock)
            self._met[path] = version

    def catch_up(self, paths: Iterable[str]) -> dict[str, Look]:
        """Looks at notes, and brings their history up to what is there. Makes no ``.nocturn/``.

        Returns:
            What was there, by path.

        Raises:
            NocturnError: ``STORAGE``.
        """
        wanted = [*dict.fromkeys(paths)]
        if not os.path.isdir(self._outer):
            return {path: self._look(path) for path in wanted}
        with self._locks.held(wanted) as lock:
            return self._catch_up(wanted, lock)

    def _catch_up(self, paths: Sequence[str], lock: HeldNotes) -> dict[str, Look]:
        with self.history.changing() as pages:
            self._finish(pages, lock)
            looks = {path: self._look(path) for path in paths}
            for path, look in looks.items():
                self._settle(pages, path, look)
        return looks

    # ---- one change, under its locks -------------------------------------------------------------

    def _make(
        self,
        clearance: Clearance,
        paths: Sequence[str],
        plan: Callable[[Mapping[str, Look]], Sequence[Change]],
        lock: HeldNotes,
    ) -> None:
        looks: dict[str, Look] = {}
        for path in paths:
            with self._folder.place(path) as place:
                looks[path] = self._looks.at(place)
                missing = place.folder_missing
            if missing:
                lock.folders()
        changes = plan(looks)
        if not changes:
            return
        _require_one_spelling(changes)
        number = self._tell(changes, looks, clearance, lock)
        try:
            for each in changes:
                self._do(each, looks.get(each.path, _NOTHING))
        except BaseException:
            self._take_back(number, looks)
            raise
        if _is_several(changes):
            with suppress(NocturnError), self.history.changing() as pages:
                pages.finish(number)
        for each in changes:
            self._met.pop(each.path, None)
        if _is_time_to_tidy():
            with suppress(NocturnError):  # what is too much stands in nobody's way
                self.history.prune()
                self._trash.prune()

    def _tell(
        self,
        changes: Sequence[Change],
        looks: Mapping[str, Look],
        clearance: Clearance,
        lock: HeldNotes,
    ) -> int:
        """Tells the history what is there and what will be; it is on the disk when this returns."""
        states = [state for each in changes for state in self._states(each, looks, clearance)]
        with self.history.changing() as pages:
            left = self._finish(pages, lock)
            for path, look in looks.items():
                self._settle(pages, path, look)
            if left:  # the looks are of before that
                number = 0
            else:
                number = pages.add(states)
                for each in changes:
                    if each.data is not None:
                        pages.keep(self._looks.of_text(each.data), each.data)
                if _is_several(changes):
                    pages.begin(number)
        if not number:
            raise _MovedError
        return number

    def _states(
        self, change: Change, looks: Mapping[str, Look], clearance: Clearance
    ) -> list[State]:
        look = looks.get(change.path, _NOTHING)

        def state(path: str, verb: str, before: str | None, after: str | None, size: int) -> State:
            partner = None
            if change.to is not None:
                partner = change.to if path == change.path else change.path
            return State(
                path, verb, before, after, partner,
                stamp=look.stamp, bytes=size, run=clearance.run, agent=clearance.agent,
            )  # fmt: skip

        if change.to is not None:
            size = 0 if look.content is None else look.content.status.st_size
            gone = state(change.path, "move", look.version, None, 0)
            return [gone, state(change.to, "move", None, look.version, size)]
        if change.data is None:
            return [state(change.path, "remove", look.version, None, 0)]
        version = self._looks.of_text(change.data)
        return [state(change.path, "write", look.version, version, len(change.data))]

    def _do(self, change: Change, look: Look) -> None:
        with self._folder.place(change.path) as place:
            if stamp(place) != look.stamp:
                raise _MovedError
            if change.to is not None:
                if is_respelling(change.path, change.to):
                    place.respell(change.to)
                else:
                    with self._folder.place(change.to) as to:
                        place.rename_to(to)
            elif change.data is None:
                with self._trash.slot(change.path) as slot:
                    place.move_to(slot)
            else:
                if look.content is not None and look.kept is None:
                    with self._trash.slot(change.path) as slot:
                        place.copy_to(slot)
                try:
                    place.replace_file(change.data, unchanged=True)
                except NocturnError as error:
                    if error.code == CONFLICT:
                        raise _MovedError from None
                    raise

    def _take_back(self, number: int, looks: Mapping[str, Look]) -> None:
        """Forgets a change that failed, if nothing of it came about."""
        with suppress(NocturnError):
            if all(self._look(path).stamp == look.stamp for path, look in looks.items()):
                with self.history.changing() as pages:
                    pages.drop(number)

    # ---- what others have left -------------------------------------------------------------------

    def _settle(self, pages: Pages, path: str, look: Look) -> None:
        """Brings the history of a path up to what is there."""
        last = pages.last(path)
        if last is not None and last.version != look.version and last.stamp is not None:
            alone = len(pages.of_change(last.change)) == 1
            if alone and last.stamp == look.stamp and last.verb != SEEN:  # its process was killed
                pages.drop(last.change)
                last = pages.last(path)
        known = None if last is None else last.version
        if known == look.version:
            return
        content = look.content
        size = 0 if content is None else content.status.st_size
        pages.add([State(path, SEEN, known, look.version, bytes=size)])
        if look.kept is not None and look.version is not None:
            pages.keep(look.version, look.kept)

    def _finish(self, pages: Pages, lock: HeldNotes) -> bool:
        """Finishes what others, who were killed, have begun; returns whether a note was changed.

        A note that somebody has changed since is left as it is, and so is one that cannot be
        changed now: its change stays unfinished, and stops nobody else's.
        """
        changed = False
        for change in pages.unfinished():
            states = pages.of_change(change)
            if not lock.also(each.path for each in states):
                continue  # whoever makes it is at work on it
            try:
                looks = {each.path: self._look(each.path) for each in states}
                if not any(looks[each.path].version == each.version for each in states):
                    pages.drop(change)
                    continue
                for each in states:
                    changed = self._roll_on(each, looks[each.path], pages) or changed
            except NocturnError:
                continue
            pages.finish(change)
        return changed

    def _roll_on(self, state: State, look: Look, pages: Pages) -> bool:
        """Does what is left to do of a change; returns whether that was anything."""
        if look.version != state.before or state.before == state.version:
            return False
        data = None if state.version is None else pages.content(state.version)
        if data is None and state.version is not None:  # too large to be kept, and a move's
            return False
        try:
            self._do(Change(state.path, data), look)
        except _MovedError:
            return False
        return True

    def _look(self, path: str) -> Look:
        try:
            with self._folder.place(path) as place:
                return self._looks.at(place)
        except NocturnError as error:
            if error.code != NAME_TAKEN:
                raise
            return _NOTHING  # it is there by a name that differs in case

    def _sweep(self, lock: HeldNotes) -> None:
        """Removes what killed writers have left, once, when nobody writes."""
        if not self._swept and lock.alone():
            sweep(self._folder)
            self._swept = True


def _is_time_to_tidy() -> bool:
    """Whether this change is one in 64: by chance, so that nothing has to be counted."""
    return os.urandom(1)[0] < 256 // _TIDIED_EVERY


def is_respelling(path: str, to: str) -> bool:
    """Whether two different paths are one name, spelled otherwise, in one folder."""
    (folder, _, name), (other_folder, _, other) = path.rpartition("/"), to.rpartition("/")
    return folder == other_folder and same_name_key(name) == same_name_key(other)


def _is_several(changes: Sequence[Change]) -> bool:
    return len(changes) > 1 or changes[0].to is not None


def _require_one_spelling(changes: Sequence[Change]) -> None:
    """Refuses what cannot be on every operating system together: ``People/a`` and ``people/b``."""
    spelled: dict[str, str] = {}
    stay = [each.to or each.path for each in changes if each.to or each.data is not None]
    for path in stay:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[:count])
            other = spelled.setdefault(same_name_key(name), name)
            if other != name:
                message = (
                    f"{shown(name)} differs from {shown(other)} only in case, and not every system "
                    "can hold both: choose one of them"
                )
                raise NocturnError(NAME_TAKEN, message, detail={"existing": other})

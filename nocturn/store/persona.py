"""A persona's own memory, on the disk: entries that come to a file, change in it, and go.

A change is worked out on the text as it is at that moment, under a lock that all processes share,
and the file is replaced whole: a reader or a crash sees the old one or the new one.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from nocturn.effects import Effect, Preview
from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NOT_A_NOTE, NOT_FOUND, NocturnError, too_large
from nocturn.limits import PERSONA_FILE_BYTES
from nocturn.store.confined import Folder
from nocturn.store.lock import locked
from nocturn.store.soul import sections_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from nocturn.effects import Clearance

    Hidden = Callable[[str], Sequence[tuple[int, int]]]

__all__ = ["KIND", "Change", "PersonaStore", "outer_of"]

KIND: Final = "persona"
_LOCK: Final = "persona.lock"
_LISTED_LINES: Final = 20


def outer_of(persona: Path) -> Path:
    """Returns where a persona's locks and journal are: its own ``.nocturn/``.

    The folder ``persona`` of a workspace has those of the workspace, so that whoever changes it by
    hand waits for the workspace's runs.
    """
    above = persona.parent / ".nocturn"
    return above if persona.name == "persona" and above.is_dir() else persona / ".nocturn"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to a file.

    Attributes:
        action: ``add``, ``replace`` or ``remove``.
        text: The entry; for the other two the text that is there.
        instead: What comes in its place.
        every: Whether all that is there of it is meant.
    """

    action: Literal["add", "replace", "remove"]
    text: str
    instead: str = ""
    every: bool = False

    @property
    def bound(self) -> bytes:
        """What a clearance is bound to."""
        return json.dumps([self.action, self.text, self.instead, self.every]).encode()

    def applied(self, before: str, hidden: Hidden) -> str:
        """Returns the whole text after it.

        Args:
            before: The whole text.
            hidden: Gives the stretches of it that a reader is not shown, which nothing matches.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``: the text is not there, or more than once, or a line
                would come to look like the beginning of one of the persona's files.
        """
        after = self._added(before) if self.action == "add" else self._swapped(before, hidden)
        if Counter(sections_in(after)) - Counter(sections_in(before)):
            raise NocturnError(
                BAD_ARGUMENTS,
                "that would leave a line that looks like the heading of one of the persona's "
                "files: word it otherwise",
                detail={"field": "text"},
            )
        return after

    def _added(self, before: str) -> str:
        end = "\r\n" if "\r\n" in before else "\n"
        if before.lstrip("\ufeff") and not before.endswith("\n"):
            before += end
        return f"{before}- {_ended_as(before, self.text)}{end}"

    def _swapped(self, before: str, hidden: Hidden) -> str:
        instead = _ended_as(before, self.instead) if self.action == "replace" else ""
        wanted = _ended_as(before, self.text)
        found = _shown(before, wanted, hidden, len(wanted) if self.every else 1)
        # No more than are told of: in a text of one letter each costs its whole length.
        places = [*(found if self.every else islice(found, _LISTED_LINES + 1))]
        if not places:
            message = f"not found: {self.text}"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "text"})
        if len(places) > 1 and not self.every:
            lines = [before.count("\n", 0, at) + 1 for at in places[:_LISTED_LINES]]
            more = ", …" if len(places) > _LISTED_LINES else ""
            raise NocturnError(
                BAD_ARGUMENTS,
                f"text stands more than once, on lines {', '.join(map(str, lines))}{more}: give "
                "more of what is around the one you mean, or all=true",
                detail={"field": "text", "lines": lines},
            )
        pieces: list[str] = []
        done = 0
        for at in places:
            pieces += before[done:at], instead
            done = at + len(wanted)
        return "".join(pieces) + before[done:]


class PersonaStore:
    """The files of one persona. Safe to use from many threads and processes.

    Args:
        persona: The folder, which the first change makes.
        outer: Says where the lock is, anew for each change: a workspace may have come to be.
        token: Makes a version of a file's bytes.
        hidden: Gives the stretches of a text that a reader is not shown.
    """

    def __init__(
        self,
        persona: Path,
        outer: Callable[[], Path],
        token: Callable[[bytes], str],
        hidden: Hidden,
    ) -> None:
        self._folder = Folder(persona)
        self._outer = outer
        self._token = token
        self._hidden = hidden

    def preview(self, name: str, change: Change) -> Preview:
        """Says what a change would do. Makes nothing.

        Args:
            name: The file.
            change: What is to be done.

        Raises:
            NocturnError: As :meth:`Change.applied`; ``TOO_LARGE``, ``NOT_A_NOTE``, ``PATH_ESCAPE``,
                ``STORAGE``.
        """
        before = self._read(name)
        after = self._applied(name, change, before or "")
        version = None if before is None else self._token(before.encode())
        return Preview(after, before, version, change.bound)

    def change(
        self,
        clearance: Clearance,
        name: str,
        change: Change,
        joined: Callable[[str, str], None],
    ) -> int:
        """Does a change to the text that is there by now.

        Args:
            clearance: Cleared for exactly this.
            name: The file.
            change: What is to be done.
            joined: Is given the text that is there and what it becomes, and may refuse.

        Returns:
            The file's size in bytes.

        Raises:
            NocturnError: As :meth:`preview`; ``CONFLICT``, it is not what a person was shown.
            PermissionError: The clearance is for something else.
        """
        clearance.spend((Effect(KIND, "write", name),), change.bound)
        with locked(self._outer(), _LOCK):
            before = self._read(name)
            version = None if before is None else self._token(before.encode())
            if clearance.asked and version != clearance.expected:
                message = f"{name} was changed while a person decided: try again"
                raise NocturnError(CONFLICT, message)
            after = self._applied(name, change, before or "")
            joined(before or "", after)
            data = after.encode()
            with self._folder.place(name) as place:
                place.drop_orphans()
                place.replace_file(data)
        return len(data)

    def _applied(self, name: str, change: Change, before: str) -> str:
        after = change.applied(before, self._hidden)
        size = len(after.encode())
        if size > PERSONA_FILE_BYTES:
            raise too_large(name, PERSONA_FILE_BYTES, size, "remove what is no longer true first")
        return after

    def _read(self, name: str) -> str | None:
        try:
            data = self._folder.read(name, PERSONA_FILE_BYTES + 1).data
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise
        if len(data) > PERSONA_FILE_BYTES:
            raise too_large(name, PERSONA_FILE_BYTES, len(data), "a person has to shorten it")
        try:
            return data.decode()
        except UnicodeDecodeError:
            pass
        raise NocturnError(NOT_A_NOTE, f"{name} is not UTF-8: a person has to mend it")


def _ended_as(file: str, text: str) -> str:
    """Returns a text as it stands in a file whose lines all end in CRLF: a model writes LF."""
    if "\n" not in text or file.count("\r\n") != (file.count("\n") or -1):
        return text
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _shown(text: str, wanted: str, hidden: Hidden, step: int) -> Iterator[int]:
    """Yields where a text stands, ``step`` characters apart at least; none in what is hidden.

    What a reader is not shown does not exist for it: whoever could match a hidden value could find
    it out, a character at a time.
    """
    at = text.find(wanted)
    unseen = hidden(text) if at >= 0 else ()
    while at >= 0:
        end = at + len(wanted)
        shows = not any(start < end and at < stop for start, stop in unseen)
        if shows:
            yield at
        at = text.find(wanted, at + (step if shows else 1))

"""The notes of one ``memory/`` folder: reading, previewing, and changing with a clearance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from nocturn.effects import Clearance, Effect, Preview
from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NOT_FOUND, NocturnError
from nocturn.limits import CATALOG_READ_BYTES, LIST_PAGE, NOTE_READ_BYTES
from nocturn.names import nfc
from nocturn.store.amendment import amended
from nocturn.store.changes import Change, Changes, is_respelling
from nocturn.store.confined import Folder
from nocturn.store.listing import NoteStat, is_note_name, listed
from nocturn.store.past import Past, Plan
from nocturn.store.preamble import fresh, split, with_description
from nocturn.store.reading import as_read, before_of, cut_notice, iso_of, not_utf8, whole_text
from nocturn.store.summary import decoded, summary_of
from nocturn.store.trash import Trash
from nocturn.store.trouble import not_found, shown, taken
from nocturn.store.version import ANY, LOOKED_BYTES, AnyVersion, IfVersion, Look, Looks, require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nocturn.store.amendment import Amendment
    from nocturn.store.directory import Content

__all__ = ["ANY", "AnyVersion", "IfVersion", "NoteStat", "NoteStore", "cut_notice", "is_note_name"]

_TOLD: Final = 20
_OVERLAP_BYTES: Final = 65_536
"""Read beyond the cut, so that a secret on the border is redacted before it is cut in two."""


_Notes: TypeAlias = list[NoteStat]
_Page: TypeAlias = tuple[_Notes, str | None]


class NoteStore:
    """The notes under one root.

    Args:
        root: The ``memory/`` folder; it may be missing, and only a write makes it.
        token: The keyed hash that makes versions.
        trash: Where removed notes go, such as ``.nocturn/trash``; locks and history are beside it.

    Attributes:
        trash: What was removed.
        past: What was there before, and taking changes back.
    """

    def __init__(self, root: Path, token: Callable[[bytes], str], trash: Path) -> None:
        self._folder = Folder(root)
        self._looks = Looks(self._folder, token)
        self.trash = Trash(trash)
        self._changes = Changes(self._folder, trash.parent, self._looks, self.trash)
        self.past = Past(self._changes)

    def preview_write(
        self, path: str, summary: str, block: str, body: str, *, if_version: IfVersion = ANY
    ) -> Preview:
        """Says what a write would change, and refuses what can be seen to fail. Makes nothing.

        Args:
            path: The canonical path.
            summary: The stored summary.
            block: The preamble that came with the content, as ``preamble.split`` gave it, or "".
            body: The content without it.
            if_version: What must be there.

        Returns:
            The preview; ``after`` is the whole text to give to :meth:`write`.

        Raises:
            NocturnError: ``CONFLICT``, ``NAME_TAKEN``, ``NOT_A_NOTE``, ``PATH_ESCAPE``,
                ``BAD_ARGUMENTS``, ``STORAGE``.
        """
        _require_text(body)
        look = self._look(path)
        require(path, look, if_version)
        before = None if look.content is None else before_of(path, look.content, strict=True)
        if not block and before is not None:
            block, _ = split(before)
        block = with_description(block, summary) if block else fresh(summary)
        if body and not block.endswith("\n"):
            block += "\n"
        return Preview(after=block + body, before=before, version=look.version)

    def write(
        self, clearance: Clearance, path: str, text: str, *, if_version: IfVersion = ANY
    ) -> int:
        """Writes a whole note, atomically.

        Args:
            clearance: Cleared for writing exactly this text to exactly this path.
            path: The canonical path.
            text: The whole file, as the preview had it.
            if_version: What must be there; if a person was asked, what they were shown must be too.

        Returns:
            The size of the file in bytes.

        Raises:
            NocturnError: As :meth:`preview_write`; the old note is whole then.
            PermissionError: The clearance is for something else.
        """
        data = text.encode()
        clearance.spend((Effect("memory", "write", path),), data)

        def plan(looks: Mapping[str, Look]) -> list[Change]:
            _require_cleared(clearance, path, looks[path], if_version)
            return [Change(path, data)]

        self._changes.make(clearance, [path], plan)
        return len(data)

    def preview_amend(
        self, path: str, amendment: Amendment, *, if_version: IfVersion = ANY
    ) -> Preview:
        """Says what amending a note would change. Makes nothing.

        Args:
            path: The canonical path.
            amendment: What is to be done to its text.
            if_version: What must be there.

        Raises:
            NocturnError: As :meth:`preview_write`; ``NOT_FOUND``, ``TOO_LARGE``.
        """
        look = self._look(path)
        require(path, look, if_version)
        before = self._whole(path, look)
        after = amended(path, before, amendment)
        return Preview(after, before, look.version, amendment.bound)

    def amend(
        self,
        clearance: Clearance,
        path: str,
        amendment: Amendment,
        joined: Callable[[str, str], None],
        *,
        if_version: IfVersion = ANY,
    ) -> tuple[str, int]:
        """Amends a note: whatever is there by now, unless a version or a person says otherwise.

        Args:
            clearance: Cleared for writing exactly this amendment to exactly this path.
            path: The canonical path.
            amendment: What is to be done to its text.
            joined: Is given the text that is there and what it becomes, and may refuse.
            if_version: As for :meth:`write`.

        Returns:
            The note's summary, and the size of the file in bytes.

        Raises:
            NocturnError: As :meth:`preview_amend`; the old note is whole then.
            PermissionError: The clearance is for something else.
        """
        clearance.spend((Effect("memory", "write", path),), amendment.bound)
        data = b""

        def plan(looks: Mapping[str, Look]) -> list[Change]:
            nonlocal data
            _require_cleared(clearance, path, looks[path], if_version)
            before = self._whole(path, looks[path])
            after = amended(path, before, amendment)
            joined(before, after)
            data = after.encode()
            return [Change(path, data)]

        self._changes.make(clearance, [path], plan)
        head = data[:CATALOG_READ_BYTES]
        return summary_of(head, whole=len(head) == len(data)), len(data)

    def preview_move(self, path: str, to: str, *, if_version: IfVersion = ANY) -> Preview:
        """Says what giving a note another name would change. Makes nothing.

        Args:
            path: The canonical path.
            to: Its new canonical path, where nothing may be; it may differ in case alone.
            if_version: What must be at ``path``.

        Raises:
            NocturnError: As :meth:`preview_remove`; ``NAME_TAKEN``, ``BAD_ARGUMENTS``.
        """
        if path == to:
            message = f"{shown(path)} has that name already: give it another one"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "to"})
        looks = {each: self._look(each) for each in _looked_at(path, to)}
        return Preview(version=_movable(path, to, looks, if_version).version)

    def move(
        self, clearance: Clearance, path: str, to: str, *, if_version: IfVersion = ANY
    ) -> None:
        """Gives a note another name, and never overwrites anything; a link is moved as the link.

        Args:
            clearance: Cleared for moving exactly this path to exactly that.
            path: The canonical path.
            to: Its new canonical path.
            if_version: As for :meth:`write`.

        Raises:
            NocturnError: As :meth:`preview_move`; the note is where it was then.
            PermissionError: The clearance is for something else.
        """
        clearance.spend((Effect("memory", "move", path), Effect("memory", "move", to)), b"")

        def plan(looks: Mapping[str, Look]) -> list[Change]:
            _movable(path, to, looks, if_version)
            _require_cleared(clearance, path, looks[path], if_version)
            return [Change(path, to=to)]

        self._changes.make(clearance, _looked_at(path, to), plan)

    def plan_writes(self, texts: Mapping[str, str], *, replace: bool = False) -> Plan:
        """Plans to write several whole notes; those that are there just so are left out.

        Args:
            texts: The whole notes by their canonical paths.
            replace: Whether a note that is there and reads differently may be replaced.

        Raises:
            NocturnError: ``CONFLICT``, one is and must not be (``detail["notes"]``, its first
                few); and as :meth:`preview_write`.
        """
        looks = {path: self._look(path) for path in texts}
        changes = [
            Change(path, data)
            for path, text in texts.items()
            if looks[path].version != self._looks.of_text(data := text.encode())
        ]
        taken = [each.path for each in changes if looks[each.path].content is not None]
        if taken and not replace:
            raise NocturnError(
                CONFLICT,
                f"{len(taken):,} of the notes are there already and read differently, "
                f"{shown(taken[0])} among them: have them replaced, or take them out",
                detail={"notes": taken[:_TOLD]},
            )
        return Plan(tuple(changes), {each.path: looks[each.path] for each in changes})

    def preview_remove(self, path: str, *, if_version: IfVersion = ANY) -> Preview:
        """Says what a removal would take away. Makes nothing.

        Raises:
            NocturnError: ``NOT_FOUND``, ``CONFLICT``, and as :meth:`preview_write`.
        """
        look = self._look(path)
        if look.content is None:
            raise not_found(path)
        require(path, look, if_version)
        before = before_of(path, look.content, strict=False)
        return Preview(before=before, version=look.version)

    def remove(self, clearance: Clearance, path: str, *, if_version: IfVersion = ANY) -> None:
        """Moves a note to the trash; a link is moved as the link.

        Args:
            clearance: Cleared for removing exactly this path, with no content.
            path: The canonical path.
            if_version: As for :meth:`write`.

        Raises:
            NocturnError: As :meth:`preview_remove`; the note is where it was then.
            PermissionError: The clearance is for something else.
        """
        clearance.spend((Effect("memory", "remove", path),), b"")

        def plan(looks: Mapping[str, Look]) -> list[Change]:
            if looks[path].content is None:
                raise not_found(path)
            _require_cleared(clearance, path, looks[path], if_version)
            return [Change(path)]

        self._changes.make(clearance, [path], plan)

    def read(self, path: str, redact: Callable[[str], str] = str) -> str:
        """Gives a note's text, preamble included; a large one is cut and says so at its end.

        Args:
            path: The canonical path.
            redact: Applied before the cut, which could halve a secret.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NOT_A_NOTE``, ``PATH_ESCAPE``, ``STORAGE``.
        """
        content = self._folder.read(path, NOTE_READ_BYTES + _OVERLAP_BYTES)
        if content.status.st_size == len(content.data):
            self._changes.met(path, self._looks.version(content))
        return as_read(path, content, redact)

    def present(self, path: str, redact: Callable[[str], str] = str) -> str | None:
        """Gives what :meth:`read` gives, None where nothing is there.

        Raises:
            NocturnError: As :meth:`read`, but for ``NOT_FOUND``.
        """
        try:
            return self.read(path, redact)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise

    def stat(self, path: str) -> NoteStat:
        """Gives what is known of one note.

        Raises:
            NocturnError: As :meth:`read`.
        """
        found = self._stat(path, self._folder.read(path, LOOKED_BYTES))
        self._changes.met(path, found.version)
        return found

    def list(
        self,
        limit: int = LIST_PAGE,
        cursor: str | None = None,
        redact_all: Callable[[Sequence[str]], Sequence[str]] = tuple,
        wanted: Callable[[str], bool] = bool,
    ) -> _Page:
        """Gives a page of notes, by path. Links and what cannot be read are left out.

        Paths that look the same are numbered, so that a cursor stands between any two.

        Args:
            limit: How many at most.
            cursor: Where the last page ended, as it was given; None for the first.
            redact_all: Applied to the paths before they are sorted: their order would tell, and a
                cursor that was redacted later would not stand where the page ended.
            wanted: Which, by their paths as they are listed.

        Returns:
            The notes, and the cursor of the next page, None at the end.
        """
        found = (
            entry.path
            for entry in self._folder.walk()
            if entry.kind == "file" and is_note_name(entry.name)
        )
        page: _Notes = []
        for path, on_disk in listed(found, redact_all):
            if (cursor is not None and path <= cursor) or not wanted(path):
                continue
            try:
                stat = self._stat(path, self._folder.read(on_disk, LOOKED_BYTES))
            except NocturnError:
                continue
            if len(page) == limit:
                return page, page[-1].path
            page.append(stat)
        return page, None

    def state_in_trash(self, slot: str) -> tuple[str, int]:
        """Gives the path of what is in a slot of the trash, and the number of that state.

        Args:
            slot: Its slot, or the digits at the end of that.

        Raises:
            NocturnError: ``NOT_FOUND``, it is not there, or the history does not have it.
        """
        for entry in self.trash.entries():
            if slot not in (entry.slot, entry.slot.rpartition("-")[2]):
                continue
            path = nfc(entry.path)
            version = self._looks.of_text(self.trash.content(entry))
            for state in reversed(self.past.states(path)):
                if state.version == version:
                    return path, state.number
            place = shown(f".nocturn/trash/{entry.slot}/{entry.path}")
            message = f"the history does not have what is in that slot: copy {place} by hand"
            raise NocturnError(NOT_FOUND, message)
        raise NocturnError(NOT_FOUND, "the trash has no such slot: look at the list of it")

    def _stat(self, path: str, content: Content) -> NoteStat:
        head = content.data[:CATALOG_READ_BYTES]
        size = max(content.status.st_size, len(content.data))
        try:
            decoded(content.data, whole=size == len(content.data))
            summary = summary_of(head, whole=size == len(head))
        except UnicodeDecodeError:
            raise not_utf8(path) from None
        modified = iso_of(content.status.st_mtime_ns)
        return NoteStat(path, summary, size, modified, self._looks.version(content))

    def _look(self, path: str) -> Look:
        with self._folder.place(path) as place:
            return self._looks.at(place)

    def _whole(self, path: str, look: Look) -> str:
        """Gives the whole text that an amendment amends; through a link, of where it points to."""
        if look.content is None:
            message = f"{shown(path)} is not there: write it first, with its summary"
            raise NocturnError(NOT_FOUND, message)
        if look.content.link is not None:
            return whole_text(path, self._folder.read(path, LOOKED_BYTES).data)
        return whole_text(path, look.content.data, whole=look.kept is not None)


def _require_text(body: str) -> None:
    at, name = body.find("\0"), "NUL"
    if at < 0:
        try:
            body.encode()
        except UnicodeEncodeError as error:
            at, name = error.start, "a lone surrogate"
    if at >= 0:
        message = f"content has {name} at character {at + 1}, and text has none: leave it out"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "content"})


def _require_cleared(clearance: Clearance, path: str, look: Look, if_version: IfVersion) -> None:
    require(path, look, if_version)
    if clearance.asked:
        require(path, look, clearance.expected)


def _looked_at(path: str, to: str) -> list[str]:
    """Gives the paths to look at; the note itself is in the way of its name spelled anew."""
    return [path] if is_respelling(path, to) else [path, to]


def _movable(path: str, to: str, looks: Mapping[str, Look], if_version: IfVersion) -> Look:
    if looks[path].content is None:
        raise not_found(path)
    if to in looks and looks[to].content is not None:
        raise taken(to)
    require(path, looks[path], if_version)
    return looks[path]

"""The notes of one ``memory/`` folder: reading, previewing, and changing with a clearance.

A version is a keyed hash of a file's bytes, so that it tells nobody anything. Two kinds of note
have more or less in it: one over 4 MiB is versioned by its size, times and place, since hashing
it whole would make every look slow; a link by what it says too, since it is the entry that a
write replaces.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nocturn.effects import Clearance, Effect, Preview
from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NOT_A_NOTE, NOT_FOUND, NocturnError
from nocturn.limits import CATALOG_READ_BYTES, LIST_PAGE, NOTE_READ_BYTES
from nocturn.store.batch import listed
from nocturn.store.confined import Folder
from nocturn.store.directory import Content
from nocturn.store.preamble import fresh, split, with_description
from nocturn.store.summary import decoded, summary_of
from nocturn.store.trouble import not_found, shown
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from nocturn.store.place import Place

__all__ = [
    "ANY",
    "AnyVersion",
    "IfVersion",
    "NoteStat",
    "NoteStore",
    "Plan",
    "cut_notice",
    "is_note_name",
]

_HASHED_BYTES: Final = 4 * 1_048_576
_TOLD: Final = 5
_OVERLAP_BYTES: Final = 65_536
"""Read beyond the cut, so that a secret on the border is redacted before it is cut in two."""


class AnyVersion(Enum):
    """The type of :data:`ANY`."""

    ANY = "any"


ANY: Final = AnyVersion.ANY
"""For ``if_version``: whatever version is there, or none."""

IfVersion: TypeAlias = str | AnyVersion | None
"""A version that must be there; None: nothing may be there yet; :data:`ANY`."""


@dataclass(frozen=True, slots=True)
class NoteStat:
    """What is known of a note.

    Attributes:
        path: Its path; hidden characters of a name made by hand are shown as escapes.
        summary: Its one-line summary.
        bytes: The size of the whole file.
        modified: ISO 8601 in UTC, with milliseconds and ``Z``.
        version: Its version token.
    """

    path: str
    summary: str
    bytes: int
    modified: str
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Plan:
    """What writing several notes would change.

    Attributes:
        preview: All of them as one text, before and after.
        versions: What is there of each that would change; None for nothing.
    """

    preview: Preview
    versions: dict[str, str | None]


_Notes: TypeAlias = list[NoteStat]
_Page: TypeAlias = tuple[_Notes, str | None]


def cut_notice(size: int) -> str:
    """Gives the last line of a read that was cut.

    Args:
        size: The size of the whole file, in bytes.
    """
    return f"[cut: this note is {size:,} bytes, and a read gives its first {NOTE_READ_BYTES:,}]"


class NoteStore:
    """The notes under one root.

    Args:
        root: The ``memory/`` folder; it may be missing, and only a write makes it.
        token: The keyed hash that makes versions.
        trash: Where removed notes go, such as ``.nocturn/trash``.
    """

    def __init__(self, root: Path, token: Callable[[bytes], str], trash: Path) -> None:
        self._folder = Folder(root)
        self._token = token
        # Its parent is confined too: .nocturn as a link would carry notes away.
        self._outer = Folder(trash.parent)
        self._trash = trash.name

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
        with self._folder.place(path) as place:
            present = self._present(place)
        self._require(path, present, if_version)
        before = None if present is None else _before(path, present, strict=True)
        if not block and before is not None:
            block, _ = split(before)
        block = with_description(block, summary) if block else fresh(summary)
        if body and not block.endswith("\n"):
            block += "\n"
        version = None if present is None else self._version(present)
        return Preview(after=block + body, before=before, version=version)

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
        with self._folder.place(path) as place:
            self._require_cleared(clearance, place, if_version)
            place.replace_file(data, unchanged=clearance.asked or if_version is not ANY)
        return len(data)

    def preview_all(self, texts: Mapping[str, str], *, replace: bool) -> Plan:
        """Says what writing several whole notes would change. Makes nothing.

        Args:
            texts: The whole notes by their canonical paths.
            replace: Whether a note that is there with another text may be replaced.

        Raises:
            NocturnError: ``CONFLICT``, one is there with another text and must not be replaced;
                and as :meth:`preview_write`.
        """
        versions: dict[str, str | None] = {}
        before: dict[str, str] = {}
        for path, text in texts.items():
            with self._folder.place(path) as place:
                present = self._present(place)
            version = None if present is None else self._version(present)
            if version == self._token(text.encode()):
                continue
            versions[path] = version
            if present is not None:
                before[path] = _before(path, present, strict=False) or ""
        if before and not replace:
            first = ", ".join(shown(path) for path in islice(before, _TOLD))
            raise NocturnError(
                CONFLICT,
                f"{len(before):,} of the notes are there already and read differently, {first} "
                "among them: have them replaced, or take them out",
                detail={"paths": [*islice(before, _TOLD)]},
            )
        after = {path: texts[path] for path in versions}
        return Plan(Preview(listed(after), listed(before) if before else None), versions)

    def write_all(
        self, clearance: Clearance, texts: Mapping[str, str], versions: Mapping[str, str | None]
    ) -> None:
        """Writes several whole notes: all of them or none.

        Args:
            clearance: Cleared for writing exactly these texts to exactly these paths.
            texts: The whole notes by their canonical paths.
            versions: What must be there still, for each; None for nothing.

        Raises:
            NocturnError: ``CONFLICT``, a note was changed meanwhile; and as :meth:`write`.
            PermissionError: The clearance is for something else.
        """
        effects = tuple(Effect("memory", "write", path) for path in texts)
        clearance.spend(effects, listed(texts).encode())
        for path, text in texts.items():
            with self._folder.place(path) as place:
                self._require(path, self._present(place), versions[path])
                place.replace_file(text.encode(), unchanged=True)

    def preview_remove(self, path: str, *, if_version: IfVersion = ANY) -> Preview:
        """Says what a removal would take away. Makes nothing.

        Raises:
            NocturnError: ``NOT_FOUND``, ``CONFLICT``, and as :meth:`preview_write`.
        """
        with self._folder.place(path) as place:
            present = self._present(place)
        if present is None:
            raise not_found(path)
        self._require(path, present, if_version)
        before = _before(path, present, strict=False)
        return Preview(before=before, version=self._version(present))

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
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.urandom(4).hex()}"
        with (
            self._folder.place(path) as place,
            self._outer.place(f"{self._trash}/{stamp}/{path}") as trash,
        ):
            if place.entry is None:
                raise not_found(path)
            self._require_cleared(clearance, place, if_version)
            place.move_to(trash)

    def read(self, path: str, redact: Callable[[str], str] = str) -> str:
        """Gives a note's text, preamble included; a large one is cut and says so at its end.

        Args:
            path: The canonical path.
            redact: Applied before the cut, which could halve a secret.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NOT_A_NOTE``, ``PATH_ESCAPE``, ``STORAGE``.
        """
        content = self._folder.read(path, NOTE_READ_BYTES + _OVERLAP_BYTES)
        return _as_read(path, content, redact)

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
        return self._stat(path, self._folder.read(path, _HASHED_BYTES + 1))

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
        for path, on_disk in _listed(found, redact_all):
            if (cursor is not None and path <= cursor) or not wanted(path):
                continue
            try:
                stat = self._stat(path, self._folder.read(on_disk, _HASHED_BYTES + 1))
            except NocturnError:
                continue
            if len(page) == limit:
                return page, page[-1].path
            page.append(stat)
        return page, None

    def _stat(self, path: str, content: Content) -> NoteStat:
        head = content.data[:CATALOG_READ_BYTES]
        size = max(content.status.st_size, len(content.data))
        try:
            decoded(content.data, whole=size == len(content.data))
            summary = summary_of(head, whole=size == len(head))
        except UnicodeDecodeError:
            raise _not_utf8(path) from None
        modified = _iso(content.status.st_mtime_ns)
        return NoteStat(path, summary, size, modified, self._version(content))

    def _present(self, place: Place) -> Content | None:
        if place.entry is None:
            return None
        link = place.link_text()
        if link is None:
            return place.read(_HASHED_BYTES + 1)
        try:
            return self._folder.read(place.path, _HASHED_BYTES + 1)
        except NocturnError:
            return Content(b"", place.entry, link)

    def _version(self, content: Content) -> str:
        data, status = content.data, content.status
        if len(data) > _HASHED_BYTES:
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            data = b"\0large\0" + repr((*state, status.st_ctime_ns)).encode()
        if content.link is not None:
            data = b"\0link\0" + os.fsencode(content.link) + b"\0" + data
        return self._token(data)

    def _require(self, path: str, present: Content | None, if_version: IfVersion) -> None:
        if if_version is ANY:
            return
        version = None if present is None else self._version(present)
        if version == if_version:
            return
        if version is None:
            message = f"{shown(path)} is gone since it was read: write it without a version"
        elif if_version is None:
            message = f"{shown(path)} is there already: read it first, then give its version"
        else:
            message = f"{shown(path)} was changed since it was read: read it again"
        raise NocturnError(CONFLICT, message, detail={"version": version})

    def _require_cleared(self, clearance: Clearance, place: Place, if_version: IfVersion) -> None:
        present = self._present(place)
        self._require(place.path, present, if_version)
        if clearance.asked:
            self._require(place.path, present, clearance.expected)


def is_note_name(name: str) -> bool:
    """Whether a file of this name counts as a note: it ends in ``.md``, in any case."""
    return name[-3:].lower() == ".md"


def _listed(
    paths: Iterable[str], redact_all: Callable[[Sequence[str]], Sequence[str]]
) -> Iterable[tuple[str, str]]:
    """Gives each path as it is shown, and as it is spelled on disk, sorted."""
    listed: dict[str, str] = {}
    in_order = sorted(paths)
    redacted = redact_all([unicodedata.normalize("NFC", path) for path in in_order])
    for path, seen in zip(in_order, redacted, strict=True):
        shown = free = visible(seen, keep="")
        number = 2
        while free in listed:
            free, number = f"{shown} ({number})", number + 1
        listed[free] = path
    return sorted(listed.items())


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


def _before(path: str, present: Content, *, strict: bool) -> str | None:
    """What a person is shown of the file that is there; None for a link that leads nowhere."""
    if present.link is not None and not present.data:
        return None
    try:
        return _as_read(path, present, str)
    except NocturnError:
        if strict and present.link is None:
            raise
        return present.data[:NOTE_READ_BYTES].decode(errors="replace")


def _as_read(path: str, content: Content, redact: Callable[[str], str]) -> str:
    size = max(content.status.st_size, len(content.data))
    try:
        text = decoded(content.data, whole=size == len(content.data))
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    if size <= NOTE_READ_BYTES:
        return redact(text)
    head = redact(text).encode()[:NOTE_READ_BYTES].decode(errors="ignore")
    return head + ("" if head.endswith("\n") else "\n") + cut_notice(size)


def _not_utf8(path: str) -> NocturnError:
    return NocturnError(NOT_A_NOTE, f"{shown(path)} is not UTF-8 text: convert it, or remove it")


def _iso(nanoseconds: int) -> str:
    try:
        moment = datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        # A time that no calendar has, from a broken disk or an archive.
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""Notes from elsewhere, to be read: a folder of Markdown, or a file of JSON lines.

Whoever made them is a stranger. Nothing is followed out of the folder, nothing is read that is no
regular file, all is bounded; and each text is taken byte for byte or not at all. What is not
taken is listed with the reason. What was taken has yet to go down the road.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from nocturn.errors import BAD_ARGUMENTS, NOT_FOUND, TOO_LARGE, NocturnError, too_large
from nocturn.limits import (
    IMPORT_BYTES,
    IMPORT_ENTRIES,
    IMPORT_NOTES,
    IMPORT_PATHS_BYTES,
    NOTE_CONTENT_BYTES,
    PREAMBLE_BYTES,
)
from nocturn.names import note_path, stored_summary
from nocturn.store.confined import Folder
from nocturn.store.listing import is_note_name
from nocturn.store.neighbours import Neighbours
from nocturn.store.preamble import split, whole
from nocturn.store.trouble import given_path, shown
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.store.confined import Entry

__all__ = ["Batch", "Incoming", "Skipped", "is_lines", "read_notes"]

_TEXT_BYTES: Final = NOTE_CONTENT_BYTES + PREAMBLE_BYTES
_ROW_BYTES: Final = 6 * (_TEXT_BYTES + 8_192)
"""One row: JSON is at most six times as long as its text."""
_LINES_BYTES: Final = 6 * (IMPORT_BYTES + IMPORT_PATHS_BYTES) + 64 * IMPORT_NOTES
_TOLD: Final = 200
"""So many reasons are kept: all must fit into one reply, and a path may be long."""
_SHOWN: Final = 400
_KEYS: Final = ("path", "text", "summary", "content")
_WAY_OUT: Final = "import it in parts, one folder at a time with a prefix"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A note that would come in.

    Attributes:
        path: Its canonical path.
        text: The whole file.
    """

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not taken.

    Attributes:
        path: Where it is, hidden characters visible.
        why: The reason, and what to do where something can be done.
    """

    path: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """Returns ``{"path", "why"}``."""
        return {"path": self.path, "why": self.why}


@dataclass(frozen=True, slots=True)
class Batch:
    """What a source has.

    Attributes:
        notes: What would come in, in the source's order.
        skipped: How much would not.
        reasons: Of the first of that, why.
    """

    notes: tuple[Incoming, ...]
    skipped: int
    reasons: tuple[Skipped, ...]


def is_lines(path: str) -> bool:
    """Returns whether a path names a file of JSON lines, not a folder."""
    return path.lower().endswith((".jsonl", ".ndjson"))


def read_notes(source: str, prefix: str = "", redact: Callable[[str], str] = str) -> Batch:
    """Reads all notes of a folder, or of a file whose name ends in ``.jsonl``.

    A row is ``{"path", "text"}``, the whole text, or ``{"path", "summary", "content"}``.

    Args:
        source: The folder or the file.
        prefix: A folder in ``memory/`` under which all of them come; empty for none.
        redact: Takes secrets out of what a message echoes.

    Raises:
        NocturnError: ``NOT_FOUND``; ``BAD_ARGUMENTS``, a row is none, with its line;
            ``TOO_LARGE``, it is more than comes in at a time; ``PATH_ESCAPE``, the prefix leads
            out; ``STORAGE``.
    """
    place = os.path.realpath(given_path(source, "source"))
    name = visible(os.path.basename(place), keep="")
    if not os.path.exists(place):
        raise NocturnError(NOT_FOUND, f"there is no {shown(name)} to import: check the path")
    if prefix := prefix.strip("/"):
        note_path(f"{prefix}/note.md", redact)  # else each note would be skipped for it
    taken = _Taken(prefix, redact)
    if os.path.isdir(place):
        _read_folder(Folder(Path(place)), taken)
    elif is_lines(place):
        _read_lines(Folder(Path(place).parent), os.path.basename(place), taken)
    else:
        raise NocturnError(
            BAD_ARGUMENTS,
            f"{shown(name)} is neither a folder nor a file whose name ends in .jsonl: give one",
            detail={"field": "source"},
        )
    return taken.batch()


class _Taken:
    """What was taken so far, within the bounds.

    Args:
        prefix: As for :func:`read_notes`, without the final slash.
        redact: As for :func:`read_notes`.
    """

    def __init__(self, prefix: str, redact: Callable[[str], str]) -> None:
        self._prefix = prefix
        self._redact = redact
        self._notes: list[Incoming] = []
        self._skipped = 0
        self._reasons: list[Skipped] = []
        self._neighbours = Neighbours()
        self._bytes = 0
        self._path_bytes = 0

    def batch(self) -> Batch:
        return Batch(tuple(self._notes), self._skipped, tuple(self._reasons))

    def skip(self, path: str, why: str | Callable[[], str]) -> None:
        """Counts what is not taken, and keeps the reason of the first: redacting costs time."""
        self._skipped += 1
        if len(self._reasons) < _TOLD:
            said = why if isinstance(why, str) else why()
            where = visible(self._redact(path), keep="")  # before it is cut: no half of a secret
            self._reasons.append(Skipped(where[:_SHOWN], said[:_SHOWN]))
        if self._skipped > IMPORT_ENTRIES:
            raise _too_much("number of other entries", IMPORT_ENTRIES)

    def take(self, raw: str, data: bytes | str) -> None:
        """Takes one text, or writes down why not.

        Raises:
            NocturnError: ``TOO_LARGE``, the whole is.
        """
        whole_path = f"{self._prefix}/{raw}" if self._prefix else raw
        try:
            path = note_path(whole_path)
        except NocturnError:
            self.skip(raw, lambda: _refusal(whole_path, self._redact))
            return
        try:
            text = _text(data)
        except NocturnError as error:
            self.skip(raw, error.message)
            return
        if rival := self._neighbours.add(path):
            self.skip(raw, lambda: f"it cannot be beside {shown(self._redact(rival))}: rename one")
            return
        self._notes.append(Incoming(path, text))
        self._bytes += len(data)
        self._path_bytes += len(path.encode())
        for what, limit, size in (
            ("number of notes", IMPORT_NOTES, len(self._notes)),
            ("size of all texts", IMPORT_BYTES, self._bytes),
            ("size of all paths", IMPORT_PATHS_BYTES, self._path_bytes),
        ):
            if size > limit:
                raise _too_much(what, limit)


def _too_much(what: str, limit: int) -> NocturnError:
    message = f"the {what} is over {limit:,}, the most that comes in at a time: {_WAY_OUT}"
    return NocturnError(TOO_LARGE, message, detail={"field": "source", "limit": limit})


def _refusal(path: str, redact: Callable[[str], str]) -> str:
    try:
        note_path(path, redact)
    except NocturnError as error:
        return error.message
    return ""


def _text(data: bytes | str) -> str:
    """Returns a note's text, byte for byte.

    Raises:
        NocturnError: No tool could have written it.
    """
    try:
        text = data if isinstance(data, str) else data.decode()
        text.encode()
    except UnicodeError:
        raise NocturnError(BAD_ARGUMENTS, "it is not UTF-8: save it as UTF-8") from None
    if "\0" in text:
        raise NocturnError(BAD_ARGUMENTS, "it has a NUL character: remove it")
    _, body = split(text)
    size = len(body.encode())
    if size > NOTE_CONTENT_BYTES:
        raise too_large("its text", NOTE_CONTENT_BYTES, size, "split it")
    return text


# ---- a folder ----------------------------------------------------------------------------------


def _read_folder(folder: Folder, taken: _Taken) -> None:
    hidden = ""
    for entry in folder.walk(folders=True):
        if hidden and entry.path.startswith(hidden):
            continue
        why = _not_wanted(entry)
        if why:
            taken.skip(entry.path, why)
            hidden = f"{entry.path}/" if entry.kind == "folder" else ""
        elif entry.kind == "file":
            _read_file(entry, taken)


def _not_wanted(entry: Entry) -> str:
    """Returns why something is not looked into, empty where it is."""
    if entry.name.startswith("."):
        return "its name begins with a dot, as what programs keep for themselves does"
    if entry.kind == "closed":
        return "the folder cannot be looked into: check its mode"
    if entry.kind == "other":
        return "it is a link or a device, and no file"
    if entry.kind == "file" and not is_note_name(entry.name):
        return "its name does not end in .md"
    return ""


def _read_file(entry: Entry, taken: _Taken) -> None:
    try:
        content = entry.directory.read(entry.name, _TEXT_BYTES + 1)
    except OSError:
        taken.skip(entry.path, "it cannot be read: check its mode")
        return
    if len(content.data) > _TEXT_BYTES:
        error = too_large("its text", NOTE_CONTENT_BYTES, content.status.st_size, "split it")
        taken.skip(entry.path, error.message)
        return
    taken.take(entry.path, content.data)


# ---- JSON lines --------------------------------------------------------------------------------


def _read_lines(folder: Folder, name: str, taken: _Taken) -> None:
    data = folder.read(name, _LINES_BYTES + 1).data
    if len(data) > _LINES_BYTES:
        raise too_large("source", _LINES_BYTES, len(data), _WAY_OUT)
    for number, line in enumerate(BytesIO(data.removeprefix(BOM_UTF8)), start=1):
        if number > IMPORT_ENTRIES:
            raise _too_much("number of rows", IMPORT_ENTRIES)
        if line.strip():
            path, text = _row(number, line)
            taken.take(path, text)


def _row(number: int, line: bytes) -> tuple[str, str]:
    from pydantic import ValidationError

    try:
        if len(line) > _ROW_BYTES:
            raise too_large("a row", _ROW_BYTES, len(line), "split the note")
        row = _rows().validate_json(line, strict=True)
        if row.text is not None:
            return row.path, row.text
        return row.path, whole(stored_summary(row.summary or ""), row.content or "")
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        where = [each for each in first["loc"][:1] if each in _KEYS]  # other keys are a stranger's
        said = ": ".join((*where, first["msg"].removeprefix("Value error, ")))
    except NocturnError as error:
        said = error.message
    raise NocturnError(
        BAD_ARGUMENTS,
        f'line {number} is no row of notes, {{"path", "text"}} or {{"path", "summary", '
        f'"content"}}: {said}',
        detail={"field": "source", "line": number},
    )


@cache
def _rows() -> Any:
    """Returns what reads a row: people edit such files, so it is strict."""
    from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

    class Row(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

        path: str
        text: str | None = None
        summary: str | None = None
        content: str | None = None

        @model_validator(mode="after")
        def _is_one_of_the_two(self) -> Self:
            parts = [each is not None for each in (self.summary, self.content)]
            if parts != [self.text is None] * 2:
                message = "it has the whole text, or both summary and content"
                raise ValueError(message)
            return self

    return TypeAdapter(Row)

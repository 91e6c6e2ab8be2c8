"""Notes to take along: a folder of Markdown, or a file of JSON lines.

They are the person's own, so they go out as they are, byte for byte and not redacted; for that
reason what is made is 0600 in folders of 0700. ``intake.py`` reads it back.
"""

from __future__ import annotations

import json
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.intake import Skipped, is_lines
from nocturn.store.listing import is_note_name
from nocturn.store.neighbours import Neighbours
from nocturn.store.trouble import given_path, shown
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Exported", "write_notes"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What went out.

    Attributes:
        notes: How many notes.
        bytes: Their size, together.
        skipped: What did not, with the reasons.
    """

    notes: int
    bytes: int
    skipped: tuple[Skipped, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns ``{"written", "bytes", "skipped", "reasons"}``."""
        return {
            "written": self.notes,
            "bytes": self.bytes,
            "skipped": len(self.skipped),
            "reasons": [each.to_dict() for each in self.skipped],
        }


def write_notes(memory: Path, target: str, *, replace: bool = False) -> Exported:
    """Writes all notes to a folder, or to a file whose name ends in ``.jsonl``.

    Args:
        memory: The ``memory/`` folder; it may be missing.
        target: The folder or the file; it is made where it is missing.
        replace: Whether files that are there with other bytes are replaced.

    Raises:
        NocturnError: ``CONFLICT``, one is and must not be; ``BAD_ARGUMENTS``, the target is in the
            memory itself; ``STORAGE``. In the first two cases nothing was written.
    """
    place = os.path.realpath(given_path(target, "target"))
    if f"{place}/".startswith(f"{os.path.realpath(memory)}/"):
        message = "the target is in the notes' own folder: name one outside of it"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "target"})
    skipped: list[Skipped] = []
    if is_lines(place):
        files = {os.path.basename(place): _as_lines(memory, skipped)}
        notes = files[os.path.basename(place)].count(b"\n")
        folder = Folder(Path(place).parent)
    else:
        files = dict(_apart(_notes(memory, skipped), skipped))
        notes = len(files)
        folder = Folder(Path(place))
    new = [path for path, data in files.items() if not _is_there(folder, path, data, replace)]
    for path in new:
        with folder.place(path) as file:
            file.replace_file(files[path])
    return Exported(notes, sum(map(len, files.values())), tuple(skipped))


def _is_there(folder: Folder, path: str, data: bytes, replace: bool) -> bool:
    """Returns whether just this is there.

    Raises:
        NocturnError: ``CONFLICT``, something else is, and must not be replaced.
    """
    with folder.place(path) as place:
        if place.entry is None:
            return False
        if place.link_text() is None and place.read(len(data) + 1).data == data:
            return True
    if not replace:
        message = f"{shown(path)} is there already and reads differently: replace it, or move it"
        raise NocturnError(CONFLICT, message, detail={"paths": [visible(path, keep="")]})
    return False


def _notes(memory: Path, skipped: list[Skipped]) -> Iterator[tuple[str, bytes]]:
    for entry in Folder(memory).walk():
        if entry.kind != "closed" and not is_note_name(entry.name):
            continue
        why = {
            "closed": "the folder cannot be looked into: check its mode",
            "other": "it is a link or a device, and no file",
        }.get(entry.kind)
        if why is None:
            try:
                data = entry.directory.read(entry.name, 1 << 40).data
            except OSError:
                why = "it cannot be read: check its mode"
            else:
                yield entry.path, data
                continue
        skipped.append(Skipped(visible(entry.path, keep=""), why))


def _apart(
    notes: Iterator[tuple[str, bytes]], skipped: list[Skipped]
) -> Iterator[tuple[str, bytes]]:
    """Leaves out what not every system could hold beside another, as two names by hand may be."""
    neighbours = Neighbours()
    for path, data in notes:
        if rival := neighbours.add(path):
            why = f"not every system can hold it beside {shown(rival)}: rename one"
            skipped.append(Skipped(visible(path, keep=""), why))
        else:
            yield path, data


def _as_lines(memory: Path, skipped: list[Skipped]) -> bytes:
    rows: list[bytes] = []
    for path, data in _notes(memory, skipped):
        try:
            row = {"path": unicodedata.normalize("NFC", path), "text": data.decode()}
            rows.append(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        except UnicodeError:
            why = "its name or its text is not UTF-8, which JSON cannot hold"
            skipped.append(Skipped(visible(path, keep=""), why))
    return b"".join(rows)

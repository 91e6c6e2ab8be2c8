"""The trash: what was removed, and what was replaced and is in no history, as it was."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from nocturn.limits import HISTORY_BYTES, HISTORY_SECONDS
from nocturn.store.confined import Folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from nocturn.store.place import Place

__all__ = ["Trash", "Trashed"]

_FORM: Final = "%Y%m%dT%H%M%SZ"
_SLOT: Final = re.compile(r"([0-9]{8}T[0-9]{6}Z)-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class Trashed:
    """One thing in the trash.

    Attributes:
        slot: The name of its slot, in which it has its path.
        path: The path that it had, as spelled on disk.
        at: When it came here, ISO 8601 in UTC, in seconds.
        bytes: Its size.
    """

    slot: str
    path: str
    at: str
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)


class Trash:
    """The trash of one workspace.

    Args:
        path: Its folder, such as ``.nocturn/trash``.
    """

    def __init__(self, path: Path) -> None:
        # Its parent is confined too: .nocturn as a link would carry notes away.
        self._outer = Folder(path.parent)
        self._name = path.name
        self._root = path

    @contextmanager
    def slot(self, path: str) -> Generator[Place]:
        """Gives a place for something with this path, in a slot of its own."""
        name = f"{datetime.now(UTC):{_FORM}}-{os.urandom(4).hex()}"
        with self._outer.place(f"{self._name}/{name}/{path}") as place:
            yield place

    def entries(self) -> list[Trashed]:
        """Gives all there is in it, the oldest first. What is not nocturn's is left out."""
        found: list[Trashed] = []
        for each in Folder(self._root).walk():
            slot, _, path = each.path.partition("/")
            at = _time_of(slot)
            status = each.directory.status(each.name)
            if at is not None and path and status is not None and each.kind != "closed":
                told = f"{at:%Y-%m-%dT%H:%M:%SZ}"
                found.append(Trashed(slot, path, told, status.st_size))
        return found

    def content(self, entry: Trashed) -> bytes:
        """Gives what a regular file in it says; nothing of what is none."""
        with self._outer.place(f"{self._name}/{entry.slot}/{entry.path}") as place:
            return b"" if place.entry is None or place.link_text() else place.read(sys.maxsize).data

    def drop(self, entry: Trashed) -> None:
        """Removes one thing for good, and the folders that are empty then."""
        parts = [self._name, entry.slot, *entry.path.split("/")]
        with self._outer.place("/".join(parts)) as place:
            place.drop()
        self._outer.drop_empty("/".join(parts[:-1]), above=self._name)

    def prune(self, seconds: int = HISTORY_SECONDS, most_bytes: int = HISTORY_BYTES) -> None:
        """Removes for good what is too old, and the oldest while there is too much."""
        before = f"{datetime.now(UTC) - timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"
        entries = self.entries()
        room = most_bytes - sum(each.bytes for each in entries)
        for each in entries:
            if each.at >= before and room >= 0:
                break
            self.drop(each)
            room += each.bytes


def _time_of(slot: str) -> datetime | None:
    match = _SLOT.fullmatch(slot)
    if match is None:
        return None
    try:
        return datetime.strptime(match[1], _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None

"""What is known of a journal apart from it: how far it goes, so that a cut of its end is seen.

A chain shows what was changed inside it; it does not show that its last lines are gone. So the last
line's number and seal are kept in the user's data folder, where whoever can write in a workspace
need not be able to. The file is also the lock: who holds it may write the journal.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import ConfigurationError
from nocturn.store.chain import NOTHING, Link
from nocturn.store.confined import Folder
from nocturn.store.directory import write_all
from nocturn.store.lock import held
from nocturn.store.trouble import disk_trouble

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["Head", "HeadFile", "HeldHead"]

_FILE: Final = "head.json"
_RECORD_BYTES: Final = 512
"""One sector: a disk writes it whole or not at all."""
_BROKEN: Final = (
    f"the {_FILE} of this journal, in journals/ in the data folder, is broken: move it away, and "
    "the journal is known from its own last line on"
)


@dataclass(frozen=True, slots=True)
class Head:
    """How far a journal goes.

    Attributes:
        n: Its last line's number; 0 where there is none.
        seal: That line's seal.
        size: How large ``journal.jsonl`` is with it, in bytes.
        synced: The last line that is known to be on the disk.
        first: The oldest line that must still be there; 0 where that is not known.
        rotated: The files that were rotated away and are kept: each one's number, and its last
            line's (0 where that is not known).
    """

    n: int = 0
    seal: str = ""
    size: int = 0
    synced: int = 0
    first: int = 1
    rotated: tuple[tuple[int, int], ...] = ()

    @property
    def link(self) -> Link:
        """What the next line comes after."""
        return Link(self.n, "", self.seal) if self.n else NOTHING

    def moved_to(self, link: Link, size: int, *, synced: bool) -> Head:
        """Returns the head after one more line.

        Args:
            link: That line's.
            size: The size of ``journal.jsonl`` with it.
            synced: Whether all up to it is on the disk.
        """
        last_synced = link.n if synced else self.synced
        return Head(link.n, link.seal, size, last_synced, self.first, self.rotated)


class HeadFile:
    """The file that holds one journal's head.

    Args:
        folder: A folder of its own, in the user's data folder.

    Attributes:
        name: What it is called there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)
        self.name: Final = f"{folder.parent.name}/{folder.name}/{_FILE}"

    def is_there(self) -> bool:
        """Whether anything is known of this journal."""
        with self._folder.place(_FILE) as place:
            return place.entry is not None

    @contextmanager
    def held(self) -> Generator[HeldHead]:
        """Locks the journal, across processes and threads. Waits for its turn.

        Raises:
            NocturnError: ``STORAGE`` where the file cannot be made.
        """
        with self._folder.place(_FILE) as place, place.open_file(os.O_RDWR) as fd, held(fd):
            yield HeldHead(fd)


class HeldHead:
    """A head that nobody else can change as long as it is held."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self) -> Head | None:
        """Gives the head; None where nothing is known.

        Raises:
            ConfigurationError: The file is broken; it is left as it is.
        """
        with disk_trouble("reading the journal's head"):
            os.lseek(self._fd, 0, os.SEEK_SET)
            data = os.read(self._fd, 2 * _RECORD_BYTES)
        # Empty or zeros: it was made, and what it was to hold never came to the disk.
        return _parsed(data) if data.strip(b"\0") else None

    def write(self, head: Head, *, sync: bool = False) -> None:
        """Keeps the head.

        It need not be synced with each line: one that lags behind is told from a cut, since the
        lines after it are sealed.

        Raises:
            NocturnError: ``STORAGE``.
        """
        with disk_trouble("writing the journal's head"):
            os.lseek(self._fd, 0, os.SEEK_SET)
            write_all(self._fd, _record(head))
            if sync:
                os.fsync(self._fd)


def _record(head: Head) -> bytes:
    row = {name: getattr(head, name) for name in Head.__slots__}  # asdict costs 50 µs
    return json.dumps(row, separators=(",", ":")).ljust(_RECORD_BYTES - 1).encode() + b"\n"


def _parsed(data: bytes) -> Head:
    try:
        row: Any = json.loads(data)
        row["rotated"] = tuple((number, last) for number, last in row["rotated"])
        head = Head(**row)
        numbers = (head.n, head.size, head.synced, head.first, *sum(head.rotated, ()))
        whole = all(type(each) is int and each >= 0 for each in numbers)
        if not whole or type(head.seal) is not str:
            raise ConfigurationError(_BROKEN)
    except (ValueError, TypeError, LookupError, RecursionError):
        raise ConfigurationError(_BROKEN) from None
    return head

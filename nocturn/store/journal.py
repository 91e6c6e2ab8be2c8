"""The journal, to write: one JSON line a call and decision, in ``.nocturn/journal.jsonl``.

A write is told before it is done and after; what cannot be told is not done. Lines are ASCII, so
that nothing in them can disturb a terminal, and are chained: see ``chain.py`` for what holds them
together, ``head.py`` for their end, ``trail.py`` for reading them.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import STORAGE, ConfigurationError, NocturnError
from nocturn.limits import JOURNAL_FILE_BYTES, JOURNAL_FILES
from nocturn.store.chain import NOTHING, Chain, Link, purge_entry
from nocturn.store.directory import write_all
from nocturn.store.head import Head, HeadFile
from nocturn.store.keys import LocalKey
from nocturn.store.trail import Trail
from nocturn.store.trouble import disk_trouble
from nocturn.store.volumes import Volumes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nocturn.store.head import HeldHead
    from nocturn.store.purging import Doomed

__all__ = ["JournalFile"]

_TAIL_BYTES: Final = 8_388_608
"""Where the last line is looked for after a crash; an import names each note in its line."""


class JournalFile:
    """The journal of one workspace.

    Args:
        folder: The workspace's ``.nocturn/``, which only a durable line makes.
        data: The user's data folder, where the key is and how far the journal goes.
        file_bytes: From this size on a file is rotated away.
        files: How many files are kept, the one that grows among them; at least 2.
    """

    def __init__(
        self,
        folder: Path,
        data: Path,
        *,
        file_bytes: int = JOURNAL_FILE_BYTES,
        files: int = JOURNAL_FILES,
    ) -> None:
        self._place = str(folder)
        self._data = data
        self._key = LocalKey(data)
        self._chain = Chain(lambda body: self._key.token("journal line", body))
        self._volumes = Volumes(folder)
        self._file_bytes = file_bytes
        self._files = files

    def append(
        self, entry: Mapping[str, Any], *, durable: bool, content: bytes | None = None
    ) -> None:
        """Adds one line.

        Args:
            entry: What JSON can hold.
            durable: Whether it must be on the disk before this returns. If not, it is skipped
                where the folder is missing or the disk refuses.
            content: What the call would write; the line gets a hash of it, keyed, since a plain
                one could be found by guessing.

        Raises:
            ConfigurationError: The key or the head is not one that nocturn made.
            NocturnError: ``STORAGE`` where a durable line could not be written; none is torn.
        """
        if not durable and not self.is_there():
            return
        try:
            if content is not None:
                entry = {**entry, "content": self._key.token("journal content", content)}
            with self._head.held() as known:
                self._add(entry, known, durable=durable)
        except ConfigurationError:
            if durable:
                raise
        except NocturnError as error:
            if durable:
                message = f"the journal cannot be written, so nothing else is: {error.message}"
                raise NocturnError(STORAGE, message, detail=error.detail) from None

    def is_there(self) -> bool:
        """Returns whether the folder is: an entry that need not be durable makes none."""
        return os.path.isdir(self._place)

    def leak_blocks_of(self, agent: str) -> int:
        """Counts the calls of this agent that were blocked for a leak, over all its runs.

        Raises:
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        return self.trail.leak_blocks_of(agent)

    def purge(self, doomed: Doomed) -> int:
        """Takes something out of every line, and tells in one line more in how many, never what.

        That line comes first: a purge that is killed is seen to be one, and can be done again.

        Returns:
            How many lines had it.

        Raises:
            ConfigurationError: The key or the head is not one that nocturn made.
            NocturnError: ``STORAGE`` where the disk refuses.
        """
        if not self.is_there():
            return 0
        from nocturn.store.holes import Holes

        holes = Holes(self._chain, doomed)
        numbers: list[int] = []
        found = 0
        with self._head.held() as known:
            for place in self._volumes.places():
                _, in_it, changed = holes.made_in(place.read(sys.maxsize).data)
                numbers += in_it
                found += changed
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._add(purge_entry(doomed.kind, numbers, now), known, durable=True)
            for place in self._volumes.places() if found else ():
                data = place.read(sys.maxsize).data
                left, _, changed = holes.made_in(data)
                if changed:
                    place.replace_file(left, unchanged=True)
        return found

    @property
    def trail(self) -> Trail:
        """The journal, to read."""
        return Trail(self._volumes, self._chain, lambda: self._head)

    @cached_property
    def _head(self) -> HeadFile:
        # By its place: a copy of the workspace is another journal, which goes on from the copy.
        place = os.fsencode(os.path.realpath(self._place))
        name = self._key.token("journal place", place)
        return HeadFile(Path(os.path.realpath(self._data)) / "journals" / name)

    def _add(self, entry: Mapping[str, Any], known: HeldHead, *, durable: bool) -> None:
        head = known.read()
        with self._volumes.current() as place:
            full = place.entry is not None and place.entry.st_size >= self._file_bytes
            if not full:
                with place.open_file(os.O_RDWR | os.O_APPEND) as fd:
                    known.write(self._append(fd, entry, head, durable=durable))
                return
            with place.open_file(os.O_RDWR | os.O_APPEND) as fd:
                head, _ = self._end(fd, head)
                with disk_trouble("writing the journal"):
                    os.fsync(fd)
        self._rotate(head, known)
        self._add(entry, known, durable=durable)

    def _append(
        self, fd: int, entry: Mapping[str, Any], head: Head | None, *, durable: bool
    ) -> Head:
        head, size = self._end(fd, head)
        line, link = self._chain.sealed(entry, head.link)
        with disk_trouble("writing the journal"):
            if size != head.size and not _ends_whole(fd, size):
                # A crash tore the last line: leave it, and begin a new one.
                line = b"\n" + line
            try:
                write_all(fd, line)
                if durable:
                    os.fsync(fd)
            except OSError:
                os.ftruncate(fd, size)
                raise
        return head.moved_to(link, size + len(line), synced=durable)

    def _end(self, fd: int, head: Head | None) -> tuple[Head, int]:
        """Gives the head as it is by now, and the size of the file.

        A crash may have come between a line and its head: then the sealed line counts. A line that
        is missing is no reason to go back: the gap in the numbers tells of it for good.
        """
        size = os.fstat(fd).st_size
        if head is not None and head.size == size:
            return head, size
        last = _last_link(fd, size, self._chain)
        if head is not None:
            ahead = last.n > head.n
            return (head.moved_to(last, head.size, synced=False) if ahead else head), size
        rotated = tuple((number, 0) for number in self._volumes.numbers())
        first = 0 if last.n else 1
        return Head(last.n, last.seal, first=first, rotated=rotated), size

    def _rotate(self, head: Head, known: HeldHead) -> None:
        """Puts the full file away, and drops the oldest.

        The head comes first: a crash after any step leaves what the next rotation puts right.
        """
        there = self._volumes.numbers()
        number = 1 + max([0, *there, *(each for each, _ in head.rotated)])
        rotated = (*head.rotated, (number, head.n))
        dropped, kept = rotated[: 1 - self._files], rotated[1 - self._files :]
        first = max([head.first, *(last + 1 for _, last in dropped if last)])
        known.write(Head(head.n, head.seal, 0, head.n, first, kept), sync=True)
        self._volumes.turn(number)
        self._volumes.remove(each for each in there if each < kept[0][0])


def _ends_whole(fd: int, size: int) -> bool:
    if not size:
        return True
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1) == b"\n"


def _last_link(fd: int, size: int, chain: Chain) -> Link:
    """Gives the link of the last sealed line that is whole; of nothing where there is none."""
    with disk_trouble("reading the journal"):
        os.lseek(fd, max(0, size - _TAIL_BYTES), os.SEEK_SET)
        lines = os.read(fd, _TAIL_BYTES).split(b"\n")[:-1]
    links = (chain.link_of(line) for line in reversed(lines))
    return next((link for link in links if link is not None), NOTHING)

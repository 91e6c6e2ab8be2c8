"""The journal, to read: its lines, those that come, and whether the chain is whole."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from nocturn.errors import LEAK_BLOCKED
from nocturn.store.inspection import Inspection
from nocturn.store.trouble import disk_trouble
from nocturn.store.volumes import CURRENT, volume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nocturn.store.chain import Chain
    from nocturn.store.head import HeadFile
    from nocturn.store.inspection import Verdict
    from nocturn.store.volumes import Volumes

__all__ = ["START", "Line", "Position", "Trail"]

_READ_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the journal.

    Attributes:
        entry: What it says.
        sealed: Whether this user's nocturn wrote exactly this line.
    """

    entry: dict[str, Any]
    sealed: bool


@dataclass(frozen=True, slots=True)
class Position:
    """How far somebody has read.

    Attributes:
        volume: The last rotated file that has been read to its end.
        offset: How much of the file after it has been read, in bytes.
    """

    volume: int = 0
    offset: int = 0


START: Final = Position()


class Trail:
    """The lines of one journal. Reading makes nothing in the workspace.

    Args:
        volumes: Its files.
        chain: What knows its seals.
        head: What is known of it apart.
    """

    def __init__(self, volumes: Volumes, chain: Chain, head: Callable[[], HeadFile]) -> None:
        self._volumes = volumes
        self._chain = chain
        self._head = head

    def last(
        self, count: int, wanted: Callable[[dict[str, Any]], bool]
    ) -> tuple[list[Line], Position]:
        """Gives the last lines, oldest first, and the position after them.

        Args:
            count: How many at most.
            wanted: Which; it is told what a line says.

        Raises:
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        found: list[Line] = []
        position = START
        with self._volumes.opened() as files:
            for number, fd, size in reversed(files):
                if len(found) == count and position != START:
                    break
                data = _read(fd, 0, size)
                whole = data.rfind(b"\n") + 1
                if number is None:
                    position = Position(files[-2][0] or 0 if len(files) > 1 else 0, whole)
                elif position == START:
                    position = Position(number)
                for raw in reversed(data[:whole].split(b"\n")):
                    if len(found) == count:
                        break
                    line = self._line(raw)
                    if line is not None and wanted(line.entry):
                        found.append(line)
        return found[::-1], position

    def since(self, position: Position) -> tuple[list[Line], Position]:
        """Gives the lines after a position, and the position after them.

        After a purge, which moves lines, some may be told once more or not at all.

        Raises:
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        lines: list[Line] = []
        with self._volumes.opened(after=position.volume) as files:
            for at, (number, fd, size) in enumerate(files):
                # Where files were dropped meanwhile, the first is another than was being read.
                goes_on = at == 0 and number in (None, position.volume + 1)
                begin = position.offset if goes_on else 0
                if begin and _read(fd, begin - 1, begin) != b"\n":
                    begin = size  # a purge has written it anew: what comes from here on is new
                data = _read(fd, begin, size)
                whole = data if number is not None else data[: data.rfind(b"\n") + 1]
                lines += (line for raw in whole.split(b"\n") if (line := self._line(raw)))
                if number is not None:
                    position = Position(number)
                else:
                    position = Position(position.volume, begin + len(whole))
        return lines, position

    def leak_blocks_of(self, agent: str) -> int:
        """Counts the calls of this agent that were blocked for a leak, over all its runs.

        Raises:
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        with self._volumes.opened() as files:
            return sum(
                _is_leak_block(raw, agent)
                for _, fd, size in files
                for raw in _lines_with(LEAK_BLOCKED.encode(), _read(fd, 0, size))
            )

    @property
    def known_in(self) -> str:
        """The file in the user's data folder that knows how far the journal goes."""
        return self._head().name

    def verify(self) -> Verdict:
        """Looks at every line and at the chain that they form.

        Raises:
            ConfigurationError: The key or the head is not one that nocturn made.
            NocturnError: ``STORAGE`` where the journal is there and cannot be read.
        """
        with ExitStack() as stack:
            head = self._head()
            if head.is_there():
                # Under the lock, so that no line comes between the files and what is known of them.
                with head.held() as known:
                    state = known.read()
                    files = stack.enter_context(self._volumes.opened())
            else:
                state = None
                files = stack.enter_context(self._volumes.opened())
            inspection = Inspection(self._chain, state)
            name, line = CURRENT, 0
            for number, fd, size in files:
                name = CURRENT if number is None else volume(number)
                line = 0
                # Not splitlines: a line ends with this byte alone.
                for raw in _read(fd, 0, size).removesuffix(b"\n").split(b"\n") if size else ():
                    line += 1
                    inspection.add(name, line, raw)
            return inspection.verdict(name, line)

    def _line(self, raw: bytes) -> Line | None:
        entry = _parsed(raw)
        return None if entry is None else Line(entry, self._chain.link_of(raw) is not None)


def _read(fd: int, begin: int, end: int) -> bytes:
    data = bytearray()
    with disk_trouble("reading the journal"):
        os.lseek(fd, begin, os.SEEK_SET)
        while len(data) < end - begin:
            chunk = os.read(fd, min(_READ_BYTES, end - begin - len(data)))
            if not chunk:
                break
            data += chunk
    return bytes(data)


def _lines_with(word: bytes, data: bytes) -> Iterator[bytes]:
    """Yields the few lines that have a word; to split all of them takes ten times as long."""
    at = data.find(word)
    while at >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield data[data.rfind(b"\n", 0, at) + 1 : end]
        at = data.find(word, end)


def _parsed(raw: bytes) -> dict[str, Any] | None:
    """Gives what a line says; None for one that is torn or was never one of ours."""
    try:
        entry: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", entry) if isinstance(entry, dict) else None


def _is_leak_block(raw: bytes, agent: str) -> bool:
    entry = _parsed(raw) or {}
    return entry.get("code") == LEAK_BLOCKED and entry.get("agent") == agent

"""The history of the notes: each state that a note has been in, in ``.nocturn/history.db``.

A state is told before it comes about, so that a crash loses none: ``changes.py`` says how it is
seen afterwards whether it did. Contents are kept once each, compressed, under their version.
Guests and the catalog have no way to it.
"""

from __future__ import annotations

import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import ConfigurationError
from nocturn.limits import HISTORY_BYTES, HISTORY_SECONDS
from nocturn.store.reading import iso_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from nocturn.store.database import Database

__all__ = ["KEPT_BYTES", "SEEN", "History", "Pages", "State"]

KEPT_BYTES: Final = 4 * 1_048_576
"""The content of a larger note is not kept here."""
SEEN: Final = "seen"
"""The verb of a state that somebody else brought about, and that was met."""

_TABLES: Final = """
CREATE TABLE states (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    change INTEGER NOT NULL,
    path TEXT NOT NULL,
    verb TEXT NOT NULL,
    before TEXT,
    version TEXT,
    partner TEXT,
    stamp TEXT,
    bytes INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    run TEXT NOT NULL,
    agent TEXT NOT NULL
);
CREATE INDEX states_of_path ON states (path, number);
CREATE INDEX states_of_run ON states (run, number);
CREATE TABLE contents (version TEXT PRIMARY KEY NOT NULL, data BLOB NOT NULL);
CREATE TABLE unfinished (change INTEGER PRIMARY KEY);
"""
_COLUMNS: Final = (
    *("number", "change", "path", "verb", "before", "version"),
    *("partner", "stamp", "bytes", "at_ms", "run", "agent"),
)
_SELECT: Final = "SELECT * FROM states "
_DROP_OLD: Final = """
DELETE FROM states WHERE number IN (
    SELECT number FROM states
    WHERE at_ms < ?
    AND number < (SELECT MAX(number) FROM states AS newer WHERE newer.path = states.path)
    AND change NOT IN (SELECT change FROM unfinished)
    ORDER BY number LIMIT ?
)"""
_BROKEN: Final = (
    "history.db is broken: it was left as it is; move it away, and nocturn makes another"
)
_PRUNED_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class State:
    """One state of one note.

    Attributes:
        path: The note's canonical path.
        verb: What brought it about: ``write``, ``remove``, ``move``, or ``seen``.
        before: The version before it; None where nothing was there.
        version: Its version; None where nothing is there.
        partner: The other path of a move, and None without one.
        stamp: What the entry was on disk before, to see later whether it was replaced.
        bytes: Its size; 0 where nothing is there.
        run: The run that brought it about; empty where that is not known.
        agent: Whose run that was.
        at_ms: When, in milliseconds since 1970.
        number: What people call it; 0 before it is kept.
        change: The number of the first state that came about with it.
    """

    path: str
    verb: str
    before: str | None
    version: str | None
    partner: str | None = None
    stamp: str | None = None
    bytes: int = 0
    run: str = ""
    agent: str = ""
    at_ms: int = 0
    number: int = 0
    change: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Returns what there is to tell of it; ``at`` is ISO 8601 in UTC."""
        return {
            "number": self.number,
            "path": self.path,
            "verb": self.verb,
            "version": self.version,
            "partner": self.partner,
            "bytes": self.bytes,
            "at": iso_of(self.at_ms * 1_000_000),
            "run": self.run or None,
            "agent": self.agent or None,
        }


class History:
    """The history of one workspace. Safe to use from many threads and processes.

    Args:
        folder: The workspace's ``.nocturn/``.
        kept_bytes: The most that all contents have together, compressed.
        kept_seconds: How long a state is kept.

    Every method raises ``ConfigurationError`` where the file is not one that nocturn made, which
    then is left as it is, and ``NocturnError`` with ``STORAGE`` where the disk refuses.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kept_bytes: int = HISTORY_BYTES,
        kept_seconds: int = HISTORY_SECONDS,
    ) -> None:
        self._folder = folder
        self._kept_bytes = kept_bytes
        self._kept_seconds = kept_seconds
        self._made: Database | None = None

    @contextmanager
    def changing(self) -> Generator[Pages]:
        """Opens it for one transaction, which is on the disk when this returns; makes it."""
        with self._database.changing(make=True) as db:
            yield Pages(db)

    @contextmanager
    def reading(self) -> Generator[Pages | None]:
        """Opens it to read; None where there is none. Makes nothing."""
        with self._database.reading() as db:
            yield None if db is None else Pages(db)

    def of(self, path: str) -> list[State]:
        """Gives all states of a note, oldest first, through its moves, whatever its name was."""
        with self.reading() as pages:
            return [] if pages is None else pages.thread(path)

    def of_run(self, run: str) -> list[State]:
        """Gives all states that one run brought about, oldest first."""
        with self.reading() as pages:
            return [] if pages is None else pages.of_run(run)

    def content(self, version: str) -> bytes | None:
        """Gives the content of a version; None where it is not kept."""
        with self.reading() as pages:
            return None if pages is None else pages.content(version)

    def contents(self, versions: Sequence[str | None]) -> list[bytes]:
        """Gives the contents of some versions; nothing of one that is not kept."""
        with self.reading() as pages:
            if pages is None:
                return [b""] * len(versions)
            return [(each is not None and pages.content(each)) or b"" for each in versions]

    def snapshot(self) -> bytes | None:
        """Gives the whole file as of one moment, for a backup; None where there is none."""
        return self._database.snapshot()

    def prune(self) -> None:
        """Drops what is too old or too much."""
        with self.changing() as pages:
            pages.prune(_now_ms() - self._kept_seconds * 1_000, self._kept_bytes)

    def compact(self) -> None:
        """Leaves nothing in the file of what was forgotten."""
        self._database.compact()

    @property
    def _database(self) -> Database:
        # On first use: whoever writes nothing loads no SQLite.
        if self._made is None:
            from nocturn.store.database import Database

            self._made = Database(self._folder, "history.db", _TABLES)
        return self._made


class Pages:
    """The history, open. Good inside the ``with`` that gave it only."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def last(self, path: str) -> State | None:
        """Gives the newest state of a path; None where it has none."""
        found = self._states("WHERE path = ? ORDER BY number DESC LIMIT 1", path)
        return found[0] if found else None

    def numbered(self, number: int) -> State | None:
        """Gives the state of this number; None where there is none."""
        found = self._states("WHERE number = ?", number)
        return found[0] if found else None

    def thread(self, path: str) -> list[State]:
        """Gives the states of a path, and of those paths that its note had before it came here."""
        found: dict[int, State] = {}
        todo: list[tuple[str, int]] = [(path, 1 << 62)]
        while todo:
            at, end = todo.pop()
            for each in self._states("WHERE path = ? AND number < ?", at, end):
                if each.number in found:
                    continue
                found[each.number] = each
                if each.partner is not None and each.version is not None:
                    todo.append((each.partner, each.number))
        return [found[number] for number in sorted(found)]

    def of_run(self, run: str) -> list[State]:
        """Gives the states that one run brought about, oldest first."""
        return self._states("WHERE run = ? ORDER BY number", run)

    def of_change(self, change: int) -> list[State]:
        """Gives the states that came about together, oldest first."""
        return self._states("WHERE change = ? ORDER BY number", change)

    def content(self, version: str) -> bytes | None:
        """Gives the content of a version; None where it is not kept."""
        row = self._db.execute("SELECT data FROM contents WHERE version = ?", (version,)).fetchone()
        if row is None:
            return None
        try:  # bounded: a file that came from elsewhere may hold what unpacks to a disk of zeros
            return zlib.decompressobj().decompress(row[0], KEPT_BYTES)
        except (zlib.error, TypeError):
            raise ConfigurationError(_BROKEN) from None

    def keep(self, version: str, data: bytes) -> None:
        """Keeps the content of a version, if it is not kept yet."""
        there = self._db.execute("SELECT 1 FROM contents WHERE version = ?", (version,)).fetchone()
        if there is None:
            packed = zlib.compress(data)
            self._db.execute("INSERT INTO contents VALUES (?, ?)", (version, packed))

    def add(self, states: Sequence[State]) -> int:
        """Adds states that come about together.

        Returns:
            The number of the change, which is that of its first state.
        """
        change = 0
        for each in states:
            row = self._db.execute(
                "INSERT INTO states VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(change, each.path, each.verb, each.before, each.version, each.partner),
                    *(each.stamp, each.bytes, each.at_ms or _now_ms(), each.run, each.agent),
                ),
            )
            if not change:
                change = row.lastrowid or 0
                self._db.execute(
                    "UPDATE states SET change = number WHERE number = ?", (row.lastrowid,)
                )
        return change

    def drop(self, change: int) -> None:
        """Forgets a change that did not come about."""
        self._db.execute("DELETE FROM states WHERE change = ?", (change,))
        self._db.execute("DELETE FROM unfinished WHERE change = ?", (change,))
        self._drop_unused()

    def begin(self, change: int) -> None:
        """Notes that a change of several notes is under way."""
        self._db.execute("INSERT INTO unfinished VALUES (?)", (change,))

    def finish(self, change: int) -> None:
        """Notes that it is done."""
        self._db.execute("DELETE FROM unfinished WHERE change = ?", (change,))

    def unfinished(self) -> list[int]:
        """Gives the changes of several notes that are under way, or whose process was killed."""
        rows: Iterable[tuple[int]] = self._db.execute("SELECT change FROM unfinished")
        return [change for (change,) in rows]

    def prune(self, since_ms: int, most_bytes: int) -> None:
        """Drops old states, never the newest of a path nor one of a change that is under way.

        Args:
            since_ms: States from before it are dropped, in milliseconds since 1970.
            most_bytes: The oldest are dropped until all contents have at most so many, compressed.
        """
        self._db.execute(_DROP_OLD, (since_ms, -1))
        self._drop_unused()
        while self._packed_bytes() > most_bytes:
            if not self._db.execute(_DROP_OLD, (1 << 62, _PRUNED_AT_ONCE)).rowcount:
                return
            self._drop_unused()

    def every(self) -> list[State]:
        """Gives all states, oldest first."""
        return self._states("ORDER BY number")

    def forget(self, path: str, until_ms: int) -> int:
        """Forgets all states that a path had up to a moment, and what they say.

        Args:
            path: The path; it goes as another's partner as well.
            until_ms: The moment, in milliseconds since 1970.

        Returns:
            How many states there were.
        """
        gone = self._db.execute(
            "DELETE FROM states WHERE path = ? AND at_ms <= ?", (path, until_ms)
        ).rowcount
        self._db.execute(
            "UPDATE states SET partner = NULL WHERE partner = ? AND at_ms <= ?", (path, until_ms)
        )
        self._db.execute("DELETE FROM unfinished WHERE change NOT IN (SELECT change FROM states)")
        self._drop_unused()
        return gone

    def strike(
        self,
        text: Callable[[str], str],
        data: Callable[[bytes], bytes],
        version_of: Callable[[bytes], str],
    ) -> int:
        """Takes something out of all states: what they say, and what their notes are called.

        Args:
            text: Takes it out of a text.
            data: Takes it out of a content.
            version_of: Gives a content's version.

        Returns:
            How many states had it.
        """
        struck: set[int] = set()
        for (version,) in self._db.execute("SELECT version FROM contents").fetchall():
            content = self.content(version) or b""
            left = data(content)
            if left != content:
                struck.update(self._replace(version, version_of(left), left))
        for each in self.every():
            old = (each.path, each.partner, each.run, each.agent)
            new = tuple(value and text(value) for value in old)
            if new != old:
                struck.add(each.number)
                self._db.execute(
                    "UPDATE states SET path = ?, partner = ?, run = ?, agent = ? WHERE number = ?",
                    (*new, each.number),
                )
        return len(struck)

    def _replace(self, version: str, new: str, data: bytes) -> list[int]:
        """Gives a content another text, and so another version; returns its states' numbers."""
        numbers = [each.number for each in self._states("WHERE version = ?", version)]
        self._db.execute("DELETE FROM contents WHERE version = ?", (version,))
        self.keep(new, data)
        self._db.execute("UPDATE states SET version = ? WHERE version = ?", (new, version))
        self._db.execute("UPDATE states SET before = ? WHERE before = ?", (new, version))
        return numbers

    def _packed_bytes(self) -> int:
        (found,) = self._db.execute("SELECT SUM(LENGTH(data)) FROM contents").fetchone()
        return int(found or 0)

    def _drop_unused(self) -> None:
        self._db.execute(
            "DELETE FROM contents WHERE version NOT IN"
            " (SELECT version FROM states WHERE version IS NOT NULL)"
        )

    def _states(self, where: str, *values: object) -> list[State]:
        rows = self._db.execute(_SELECT + where, values)
        return [State(**dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000

"""The full text of the notes, folded into words, in SQLite's FTS5: on the disk or in memory.

It is derived: one that is broken, is none of ours or was made with other secrets is removed and
made anew. It is asked for names of notes, and for nothing that they say.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol

from nocturn.errors import ConfigurationError
from nocturn.store.confined import Folder
from nocturn.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from nocturn.store.words import Term

__all__ = [
    "Change",
    "FullText",
    "InMemory",
    "Known",
    "OnDisk",
    "has_full_text",
    "require_full_text",
]

_FILE: Final = "search.db"
_TABLES: Final = """
CREATE TABLE about (state TEXT NOT NULL);
CREATE TABLE notes (
    id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, stamp TEXT NOT NULL, content BLOB NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5(path, summary, body, tokenize = 'ascii');
"""
_RANKED: Final = """
SELECT notes.name FROM words JOIN notes ON notes.id = words.rowid
WHERE words MATCH ? ORDER BY bm25(words, 6.0, 4.0, 1.0), words.path
"""
"""A word in the path weighs six times what it does in the text, one in the summary four times."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a note.

    Attributes:
        stamp: The file's, by which it is believed; empty where it is not.
        content: A hash of what the file had in it.
    """

    stamp: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Change:
    """A note that is new, has changed or has gone.

    Attributes:
        name: A hash of its path.
        known: What is to be known of it; None for one that has gone.
        words: The folded words of its path, its summary and its text; None where they are as
            before.
    """

    name: bytes
    known: Known | None
    words: tuple[str, str, str] | None = None


class _Place(Protocol):
    """Where the tables are."""

    def changing(self) -> AbstractContextManager[sqlite3.Connection]: ...

    def remove(self) -> None: ...


class FullText:
    """The words of all notes. One at a time may use it.

    Args:
        place: Where it is: :class:`OnDisk` or :class:`InMemory`.

    Every method raises ``ConfigurationError`` where what is there cannot be used, and
    ``NocturnError`` with ``STORAGE`` where the disk refuses.
    """

    def __init__(self, place: _Place) -> None:
        self._place = place
        self.remove = place.remove

    def known(self, state: str) -> dict[bytes, Known]:
        """Gives what is known of each note by its name, if that was found out in this state."""
        with self._place.changing() as db:
            found = db.execute("SELECT state FROM about").fetchall()
            if not found:
                db.execute("INSERT INTO about VALUES (?)", (state,))
            if found == [(state,)]:
                rows = db.execute("SELECT name, stamp, content FROM notes").fetchall()
                return {name: Known(stamp, content) for name, stamp, content in rows}
        if found:
            self.remove()
            return self.known(state)
        return {}

    def change(self, changes: Iterable[Change]) -> None:
        """Takes changes in, all of them or none."""
        with self._place.changing() as db:
            for each in changes:
                _change(db, each)

    def ranked(self, terms: Sequence[Term]) -> list[bytes]:
        """Gives the names of the notes that have all terms, the best first."""
        expression = " AND ".join(each.expression() for each in terms)
        with self._place.changing() as db:
            return [name for (name,) in db.execute(_RANKED, (expression,))]


def _change(db: sqlite3.Connection, change: Change) -> None:
    found = db.execute("SELECT id FROM notes WHERE name = ?", (change.name,)).fetchone()
    if found and (change.known is None or change.words is not None):
        db.execute("DELETE FROM words WHERE rowid = ?", found)
    if change.known is None:
        db.execute("DELETE FROM notes WHERE name = ?", (change.name,))
        return
    row = (change.name, change.known.stamp, change.known.content)
    ((identity,),) = db.execute(
        "INSERT INTO notes (name, stamp, content) VALUES (?, ?, ?) ON CONFLICT (name) "
        "DO UPDATE SET stamp = excluded.stamp, content = excluded.content RETURNING id",
        row,
    ).fetchall()
    if change.words is not None:
        db.execute(
            "INSERT INTO words (rowid, path, summary, body) VALUES (?, ?, ?, ?)",
            (identity, *change.words),
        )


class OnDisk:
    """The file ``search.db``.

    Args:
        folder: The workspace's ``.nocturn/``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)
        self._database = Database(folder, _FILE, _TABLES)

    def changing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Opens it for one transaction; makes it where it is missing."""
        return self._database.changing(make=True)

    def remove(self) -> None:
        """Removes it, with the journal that a crash has left.

        Raises:
            NocturnError: ``STORAGE``, where the disk does not let it go.
        """
        for name in (_FILE, f"{_FILE}-journal"):
            with self._folder.place(name) as place:
                place.remove()


class InMemory:
    """Tables that are gone with this object."""

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def changing(self) -> Generator[sqlite3.Connection]:
        """Makes them where they are missing."""
        if self._connection is None:
            self._connection = sqlite3.connect(":memory:", check_same_thread=False)
            self._connection.executescript(_TABLES)
        with self._connection:
            yield self._connection

    def remove(self) -> None:
        """Removes them."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@cache
def has_full_text() -> bool:
    """Returns whether this Python's SQLite has FTS5, which some are built without."""
    with closing(sqlite3.connect(":memory:")) as memory:
        try:
            memory.executescript(_TABLES)
        except sqlite3.OperationalError:
            return False
    return True


def require_full_text() -> None:
    """Refuses a Python that cannot search.

    Raises:
        ConfigurationError: It has no FTS5.
    """
    if not has_full_text():
        raise ConfigurationError(
            f"the SQLite of this Python, {sqlite3.sqlite_version}, has no FTS5, by which notes are "
            "searched: use a Python whose sqlite3 has it"
        )

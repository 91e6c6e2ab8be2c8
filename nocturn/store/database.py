"""Tables in an SQLite file, opened only if it can be nothing but what nocturn made.

SQLite goes by path and believes a file that it is given, so the file is looked at first. A trigger
in it could answer questions; and a journal beside it may name any file of the user's, which SQLite
then removes. Only another program of the same user could swap something in after the look.

The file is made whole under another name. It is opened anew for each use: nothing is kept over a
fork, and no descriptor of ours is closed beside SQLite's, which would drop SQLite's locks.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from nocturn.errors import NOT_FOUND, STORAGE, ConfigurationError, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.directory import is_link
from nocturn.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["Database"]

_BUSY_SECONDS: Final = 10.0
"""How long one statement waits for other processes."""
_NAMES_ANOTHER_FILE: Final = bytes.fromhex("d9d505f920a163d7")
"""How a rollback journal ends that names a "super-journal" (sqlite.org/fileformat.html, 3)."""
_ADVICE: Final = {
    sqlite3.SQLITE_BUSY: "another process holds it: try again",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check who owns the workspace and its modes",
    sqlite3.SQLITE_FULL: "the disk is full: free some space and try again",
    sqlite3.SQLITE_IOERR: "the disk refused: check it and its free space, and try again",
    sqlite3.SQLITE_NOMEM: "memory has run out: free some and try again",
    sqlite3.SQLITE_READONLY: "it cannot be written: check who owns the workspace and its modes",
}


class Database:
    """Tables in a file of their own, 0600. Safe to use from many threads and processes.

    Args:
        folder: The workspace's ``.nocturn/``.
        name: The file's name in it.
        tables: The statements that make them.
    """

    def __init__(self, folder: Path, name: str, tables: str) -> None:
        self._folder = folder.absolute()
        self._name = name
        self._tables = tables

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection | None]:
        """Opens it to read; each statement sees what is committed by then. Makes nothing.

        Yields:
            The connection, for this thread; None where there is no file.

        Raises:
            ConfigurationError: The file is none that nocturn made, or is broken.
            NocturnError: ``STORAGE``, the disk refuses.
        """
        if not self._is_there():
            yield None
            return
        with self._trouble(), closing(self._connection()) as connection:
            yield connection

    @contextmanager
    def changing(self, *, make: bool = False) -> Generator[sqlite3.Connection]:
        """Opens it for one transaction, which is on the disk when this returns.

        Args:
            make: Whether the file is made where there is none.

        Raises:
            ConfigurationError: The file is none that nocturn made, or is broken.
            NocturnError: ``STORAGE``, the disk refuses; ``NOT_FOUND``, there is no file. Nothing
                was changed, as for whatever is raised inside.
        """
        if not self._is_there():
            if not make:
                raise NocturnError(NOT_FOUND, f"there is no {self._name} yet")
            self._make()
        with self._trouble(), closing(self._connection()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors have rolled it back already
                    connection.execute("ROLLBACK")
                raise

    def snapshot(self) -> bytes | None:
        """Gives the whole file as of one moment; None where there is none.

        Raises:
            ConfigurationError: The file is none that nocturn made, or is broken.
            NocturnError: ``STORAGE``, the disk refuses.
        """
        with self.reading() as connection:
            if connection is None:
                return None
            connection.execute("BEGIN")  # it reads page by page, which others would change
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            return connection.serialize()

    def compact(self) -> None:
        """Writes the whole file anew, so that nothing is left in it of what was deleted.

        Raises:
            ConfigurationError: The file is none that nocturn made, or is broken.
            NocturnError: ``STORAGE``, the disk refuses.
        """
        if not self._is_there():
            return
        with self._trouble(), closing(self._connection()) as connection:
            connection.execute("PRAGMA temp_store = MEMORY")  # else it fills a file in /tmp
            connection.execute("VACUUM")

    def _is_there(self) -> bool:
        try:
            with Folder(self._folder).place(self._name) as place:
                found = place.entry
            if found is None:
                return False
            if is_link(found):
                raise self._unusable("is a link")
            if os.name == "posix" and stat.S_IMODE(found.st_mode) & 0o077:
                raise self._unusable("can be read by others (mode 0600 is right)")
            self._require_plain_journal()
        except NocturnError as error:
            if error.code in (None, STORAGE):
                raise
            raise self._unusable(f"cannot be used ({error.message})") from None
        return True

    def _require_plain_journal(self) -> None:
        with Folder(self._folder).place(f"{self._name}-journal") as place:
            if place.entry is None:
                return
            if is_link(place.entry):
                raise self._unusable("has a journal that is a link")
            try:
                with place.open_file(os.O_RDONLY, make=False) as fd:
                    # From the start: it may shrink meanwhile, and nothing is before its start.
                    os.lseek(fd, max(0, os.fstat(fd).st_size - 8), os.SEEK_SET)
                    tail = os.read(fd, 8)
            except NocturnError as error:
                if error.detail.get("errno") == "ENOENT":  # its transaction ended just now
                    return
                raise
        if tail == _NAMES_ANOTHER_FILE:
            raise self._unusable("has a journal that names another file")

    def _make(self) -> None:
        with (
            locked(self._folder, f"{self._name}.lock"),
            Folder(self._folder).place(self._name) as place,
        ):
            if place.entry is None:
                place.replace_file(self._fresh[0])

    def _connection(self) -> sqlite3.Connection:
        path = quote(os.fsencode(self._folder / self._name))
        connection = sqlite3.connect(
            f"file:{path}?mode=rw", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            # Half the time of a journal that is made and removed each time; emptied all the same.
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            if _schema(connection) != self._fresh[1]:
                raise self._unusable("is none that this nocturn made")
        except BaseException:
            connection.close()
            raise
        return connection

    @cached_property
    def _fresh(self) -> tuple[bytes, list[Any]]:
        """An empty file's bytes, and its schema."""
        with closing(sqlite3.connect(":memory:")) as memory:
            memory.executescript(self._tables)
            memory.commit()
            return memory.serialize(), _schema(memory)

    @contextmanager
    def _trouble(self) -> Generator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            number = getattr(error, "sqlite_errorcode", None)
            if number is None:  # a fault of ours
                raise
            advice = _ADVICE.get(number & 0xFF)
            if advice is None:
                raise self._unusable("is broken") from None
            message = f"using {self._name} failed, {advice}"
            raise NocturnError(
                STORAGE, message, detail={"sqlite": error.sqlite_errorname}
            ) from None

    def _unusable(self, reason: str) -> ConfigurationError:
        return ConfigurationError(
            f"{self._name} {reason}: it was left as it is; move it away, and nocturn makes another"
        )


def _schema(connection: sqlite3.Connection) -> list[Any]:
    what = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
    return connection.execute(what).fetchall()

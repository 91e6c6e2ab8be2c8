"""The stores of one workspace, each made on first use: the one place that knows them all."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nocturn.errors import NocturnError
from nocturn.permissions import Permissions
from nocturn.store.confined import Folder
from nocturn.store.data import data_folder
from nocturn.store.journal import JournalFile
from nocturn.store.keys import LocalKey
from nocturn.store.notes import NoteStore
from nocturn.store.persona import PersonaStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.secrecy import Secrecy
    from nocturn.store.catalog import NoteCatalog
    from nocturn.store.inbox import Inbox
    from nocturn.store.purging import Doomed, Purgeable, Text
    from nocturn.store.records import Records
    from nocturn.store.search import NoteSearch
    from nocturn.store.shelf import Shelf

__all__ = ["Kept", "Stores"]

DERIVED: Final = ("catalog.json", "search.db", "search.db-journal")
"""What is made anew from the notes whenever it is missing."""
_LOOKED_BYTES: Final = 1_048_576
"""So much is looked at of a file that is none of nocturn's."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that a workspace keeps.

    Attributes:
        name: What it is called.
        files: Where it is: patterns of paths in the workspace, where ``*`` crosses no slash and
            ``**`` does.
        store: What forgets words of notes; None where there are none.
        note: Why there are none, or why it must not forget them.
    """

    name: str
    files: tuple[str, ...]
    store: Purgeable | None = None
    note: str = ""

    def owns(self, path: str) -> bool:
        """Returns whether a file is this store's.

        Args:
            path: Its path in the workspace.
        """
        patterns = (re.escape(each).replace(r"\*\*", ".+") for each in self.files)
        return any(re.fullmatch(each.replace(r"\*", "[^/]*"), path) for each in patterns)


class Stores:
    """What a workspace keeps. Nothing is made by making one.

    Args:
        workspace: The workspace's folder, absolute.
        secrecy: Takes secrets out of what is shown, and of what is derived.
    """

    def __init__(self, workspace: str, secrecy: Secrecy) -> None:
        self._workspace = Path(workspace)
        self._outer = self._workspace / ".nocturn"
        self._secrecy = secrecy
        self._key = LocalKey(data_folder())

    @cached_property
    def notes(self) -> NoteStore:
        """The notes as files."""
        return NoteStore(self._workspace / "memory", self._version_of, self._outer / "trash")

    @cached_property
    def persona(self) -> PersonaStore:
        """The persona's files, which an agent writes in with ``memory``."""
        folder, scanner = self._workspace / "persona", self._secrecy.scanner
        return PersonaStore(folder, lambda: self._outer, self._version_of, scanner.spans)

    @cached_property
    def catalog(self) -> NoteCatalog:
        """The catalog, derived from the notes; what spares a look at each may be kept."""
        from nocturn.store.catalog import NoteCatalog
        from nocturn.store.heads import Heads
        from nocturn.store.kept import KeptHeads

        purpose = f"catalog:{os.path.realpath(self._workspace)}"
        kept = KeptHeads(self._outer, lambda data: self._key.token(purpose, data))
        heads = Heads(self._workspace / "memory", self._secrecy, kept)
        return NoteCatalog(heads, self._secrecy)

    @cached_property
    def search(self) -> NoteSearch:
        """The search in the notes; its index is derived from them, and kept."""
        from nocturn.store.search import NoteSearch

        purpose = f"search:{os.path.realpath(self._workspace)}"
        return NoteSearch(
            self._workspace / "memory",
            self._outer,
            self._secrecy,
            lambda data: self._key.token(purpose, data),
        )

    @cached_property
    def permissions(self) -> Permissions:
        """The policy, the grants, and whether they are trusted."""
        return Permissions(self._workspace, self._secrecy.redacted)

    @cached_property
    def journal(self) -> JournalFile:
        """What was called, and what became of it."""
        return JournalFile(self._outer, data_folder())

    @cached_property
    def inbox(self) -> Inbox:
        """The questions that wait for a person."""
        from nocturn.store.inbox import Inbox

        return Inbox(self._outer, self._key, self._secrecy.redacted)

    # ---- the one list ----------------------------------------------------------------------------

    def kept(self) -> tuple[Kept, ...]:
        """Returns all that there is in the workspace, in the order in which it forgets.

        The notes come first, so that nothing is derived from them again; the history is the last,
        since it alone knows what a note was called.
        """
        from nocturn.store.beside import REPL_HISTORY, Derived, Leftovers, Lines

        outer = self._outer
        return (
            Kept("notes", ("memory/**",), self._shelves[0]),
            Kept("trash", (".nocturn/trash/**",), self._shelves[1]),
            Kept("persona", ("persona/**",), self._shelves[2]),
            Kept("inbox", (".nocturn/inbox.db", ".nocturn/inbox.db-journal"), self.inbox),
            Kept("grants", ("grants.json",), self.permissions.grants),
            Kept("repl history", (f".nocturn/{REPL_HISTORY}",), Lines(outer, REPL_HISTORY)),
            Kept(
                "derived",
                tuple(f".nocturn/{each}" for each in DERIVED),
                Derived(self.catalog.forget, self.search.forget),
            ),
            Kept(
                "leftovers",
                (".nocturn-*.tmp", ".nocturn/.nocturn-*.tmp"),
                Leftovers(self._workspace, outer),
            ),
            Kept("journal", (".nocturn/journal.jsonl", ".nocturn/journal-*.jsonl"), self.journal),
            Kept("history", (".nocturn/history.db", ".nocturn/history.db-journal"), self.records),
            Kept("vault", ("vault.enc",), note="it guards the value, and only its key opens it"),
            Kept("policy", ("policy.toml",), note="it is a person's own: no command changes it"),
            Kept("locks", (".nocturn/*.lock",), note="they are empty"),
            Kept("askers", (".nocturn/asking/*",), note="empty, and named at random"),
        )

    def texts(self) -> Iterator[Text]:
        """Yields every text of a note that is kept: as it is, in the trash, in the history."""
        for each in self._shelves:
            yield from each.texts()
        yield from self.records.texts()

    def left(self, doomed: Doomed) -> Iterator[str]:
        """Yields the files that have what is doomed and that no purge changes.

        Those are a person's own, what nocturn does not know, and notes that name a purged one.
        """
        forgetful = [each for each in self.kept() if each.store is not None]
        for folder, begin in ((self._workspace, ""), (self._outer, ".nocturn/")):
            for name in sorted(Folder(folder).names()):
                if any(each.owns(begin + name) for each in forgetful):
                    continue
                with suppress(NocturnError):  # a folder, or no file at all
                    if doomed.is_in(Folder(folder).read(name, _LOOKED_BYTES).data):
                        yield begin + name
        for each in self._shelves[0].texts() if doomed.names else ():
            if doomed.is_in((each.text or "").encode("utf-8", "surrogateescape")):
                yield f"memory/{each.path}"

    @cached_property
    def records(self) -> Records:
        """The history, to look through and to forget."""
        from nocturn.store.history import History
        from nocturn.store.records import Records

        return Records(History(self._outer), self._version_of)

    def _version_of(self, data: bytes) -> str:
        return self._key.token(f"version:{os.path.realpath(self._workspace)}", data)

    @cached_property
    def _shelves(self) -> tuple[Shelf, ...]:
        from nocturn.store.note_locks import NoteLocks
        from nocturn.store.shelf import Shelf, as_now, in_trash, no_note

        held = NoteLocks(self._outer).held
        return (
            Shelf("note", self._workspace / "memory", as_now, held),
            Shelf("trash", self._outer / "trash", in_trash),
            Shelf("persona", self._workspace / "persona", no_note),
        )

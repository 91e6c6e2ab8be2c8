"""The stores of one workspace, each made on first use: the one place that knows them all."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from nocturn.permissions import Permissions
from nocturn.store.data import data_folder
from nocturn.store.journal import JournalFile
from nocturn.store.keys import LocalKey
from nocturn.store.notes import NoteStore

if TYPE_CHECKING:
    from nocturn.secrecy import Secrecy
    from nocturn.store.catalog import NoteCatalog
    from nocturn.store.inbox import Inbox
    from nocturn.store.search import NoteSearch

__all__ = ["Stores"]


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
        purpose = f"version:{os.path.realpath(self._workspace)}"
        return NoteStore(
            self._workspace / "memory",
            lambda data: self._key.token(purpose, data),
            self._outer / "trash",
        )

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

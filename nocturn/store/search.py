"""Search: the notes that have some words, the best first, with the place where they stand.

A query is a question about what the notes say, so what a secret is must not be asked piece by
piece: the index has redacted text only, by the secrets of now; when one comes or goes it is made
anew. What is told of a note is read from its file, so that whoever forged the index could hide a
note or move it, and nothing else.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.fulltext import FullText, InMemory, OnDisk, require_full_text
from nocturn.store.indexing import KEY_BYTES, READ_BYTES, Indexer, SecretsChangedError, note_of
from nocturn.store.lock import locked
from nocturn.store.preamble import mapping_block
from nocturn.store.snippet import snippet
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nocturn.store.redaction import Redaction
    from nocturn.store.words import Term

__all__ = ["Hit", "NoteSearch"]

_LOG: Final = logging.getLogger("nocturn")
_LOCK: Final = "search.lock"


@dataclass(frozen=True, slots=True)
class Hit:
    """A note that was found.

    Attributes:
        path: Its path; hidden characters of a name made by hand are shown as escapes.
        summary: Its one-line summary.
        snippet: Some thirty words around what was found, on one line; plain text.
    """

    path: str
    summary: str
    snippet: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)


class NoteSearch:
    """The search in the notes under one root. Safe to use from many threads and processes.

    Where there is no ``.nocturn/`` nothing is made: the index is in memory then.

    Args:
        root: The ``memory/`` folder, which may be missing.
        folder: The workspace's ``.nocturn/``.
        redaction: Takes secrets out.
        token: A keyed hash, for a key that the index on the disk is known by.
        now_ns: Gives the time, in ns since the epoch.
    """

    def __init__(
        self,
        root: Path,
        folder: Path,
        redaction: Redaction,
        token: Callable[[bytes], str],
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._notes = Folder(root)
        self._place = folder
        self._redaction = redaction
        self._token = token
        self._indexer = Indexer(self._notes, redaction, now_ns)
        self._lock = threading.Lock()
        self._on_disk = OnDisk(folder)
        self._in_memory = InMemory()
        self._own_key = os.urandom(KEY_BYTES)

    def search(self, terms: Sequence[Term], limit: int) -> list[Hit]:
        """Finds the notes that have all terms, as they are now.

        Args:
            terms: What they must have, at least one.
            limit: How many at most.

        Returns:
            The best first, those that are as good by path.

        Raises:
            ConfigurationError: This Python cannot search, or the secrets cannot be read.
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the folder cannot be opened.
        """
        require_full_text()
        with self._lock:
            while True:
                try:
                    ranked = self._ranked(terms)
                except SecretsChangedError:
                    continue
                hits = (hit for path in ranked if (hit := self._hit(path, terms)) is not None)
                return [*islice(hits, limit)]

    def forget(self) -> None:
        """Removes the index; the next search makes it anew.

        Raises:
            NocturnError: ``STORAGE``, where the disk does not let it go.
        """
        with self._lock:
            self._in_memory.remove()
            if os.path.isdir(self._place):
                with locked(self._place, _LOCK):
                    self._on_disk.remove()

    def _ranked(self, terms: Sequence[Term]) -> list[str]:
        """Gives the paths of the notes that the index says have all terms, the best first."""
        _ = self._redaction.state()  # raises where no secret can be read, whatever the index is
        if os.path.isdir(self._place):
            try:
                return self._ranked_on_disk(terms)
            except NocturnError as error:  # nothing is lost but time
                _LOG.debug("the index of the search is in memory: %s", error.message)
        return self._ranked_in(self._in_memory, terms, self._own_key)

    def _ranked_on_disk(self, terms: Sequence[Term]) -> list[str]:
        key = self._token(b"search").encode()[:KEY_BYTES]
        with locked(self._place, _LOCK):
            try:
                return self._ranked_in(self._on_disk, terms, key)
            except ConfigurationError:  # it is broken, or none of ours
                self._on_disk.remove()
                return self._ranked_in(self._on_disk, terms, key)

    def _ranked_in(self, place: OnDisk | InMemory, terms: Sequence[Term], key: bytes) -> list[str]:
        index = FullText(place)
        paths = self._indexer.bring_up_to_date(index, key)
        return [paths[name] for name in index.ranked(terms) if name in paths]

    def _hit(self, path: str, terms: Sequence[Term]) -> Hit | None:
        """Says what was found in a note as it is now; None where that is not there."""
        try:
            note = note_of(path, self._notes.read(path, READ_BYTES), self._redaction)
        except (NocturnError, UnicodeDecodeError):
            return None
        words = "\n".join(note.words())
        if any(term.found_in(words) < 0 for term in terms):
            return None
        _, body = mapping_block(note.text)
        return Hit(visible(note.path, keep=""), note.summary, snippet(body, terms))

"""Brings the full text up to date with the files: what has changed is read, redacted and folded."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nocturn.limits import CATALOG_READ_BYTES, NOTE_READ_BYTES
from nocturn.store.fulltext import Change, Known
from nocturn.store.notes import is_note_name
from nocturn.store.stamp import settled_stamp, stamp_of
from nocturn.store.summary import decoded, summary_of
from nocturn.store.words import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nocturn.store.confined import Folder
    from nocturn.store.directory import Content
    from nocturn.store.fulltext import FullText
    from nocturn.store.redaction import Redaction
    from nocturn.store.stamp import Stamp

__all__ = ["KEY_BYTES", "READ_BYTES", "Indexer", "Note", "SecretsChangedError", "note_of"]

READ_BYTES: Final = NOTE_READ_BYTES + 65_536
"""Beyond what a read gives, so that a secret on the border is redacted before it is cut in two."""
_BATCH_BYTES: Final = 1_048_576
"""What is read before it is written: who is stopped meanwhile goes on there the next time."""
KEY_BYTES: Final = 16


class SecretsChangedError(Exception):
    """A secret came or went while notes were redacted: what was made of them may be either."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note as a guest may see it: redacted, and cut where a read cuts it.

    Attributes:
        path: Its path, composed.
        summary: Its one-line summary.
        text: Its text, preamble included.
    """

    path: str
    summary: str
    text: str

    def words(self) -> tuple[str, str, str]:
        """Returns the words of its path (without ``.md``, which all have), its summary and text."""
        return joined(self.path[:-3]), joined(self.summary), joined(self.text)


def note_of(path: str, content: Content, redaction: Redaction) -> Note:
    """Makes what may be seen of a note of what was read.

    Args:
        path: Its path, as spelled on disk.
        content: Its first ``READ_BYTES``.
        redaction: Takes secrets out.

    Raises:
        UnicodeDecodeError: It is not UTF-8 text.
    """
    data, size = content.data, max(content.status.st_size, len(content.data))
    head = data[:CATALOG_READ_BYTES]
    raw = (
        unicodedata.normalize("NFC", path),
        summary_of(head, whole=size == len(head)),
        decoded(data, whole=size == len(data)),
    )
    # Looked at together, and each note for itself: among more text less of a secret is found.
    path, summary, text = redaction.redact_all(raw)
    if size > NOTE_READ_BYTES:
        text = text.encode()[:NOTE_READ_BYTES].decode(errors="ignore")
    return Note(path, summary, text)


class Indexer:
    """Has an index know the notes as they are now.

    Args:
        notes: The ``memory/`` folder.
        redaction: Takes secrets out.
        now_ns: Gives the time, in ns since the epoch.
    """

    def __init__(self, notes: Folder, redaction: Redaction, now_ns: Callable[[], int]) -> None:
        self._notes = notes
        self._redaction = redaction
        self._now_ns = now_ns

    def bring_up_to_date(self, index: FullText, key: bytes) -> dict[bytes, str]:
        """Reads what has changed since.

        Args:
            index: The index.
            key: For hashes of what a secret could be in, such as a path: ``KEY_BYTES`` long.

        Returns:
            The path of each note, as spelled on disk, by its name in the index.

        Raises:
            SecretsChangedError: The secrets have changed meanwhile; nothing was kept since.
        """
        state, now_ns = self._redaction.state(), self._now_ns()
        known = index.known(_digest(state, key).hex())
        paths: dict[bytes, str] = {}
        changes: list[Change] = []
        waiting_bytes = 0
        for entry in self._notes.walk():
            if entry.kind != "file" or entry.status is None or not is_note_name(entry.name):
                continue
            name = _digest(entry.path.encode("utf-8", "surrogatepass"), key)
            before = known.get(name)
            if before is None or before.stamp != _written(stamp_of(entry.status)):
                try:
                    content = entry.directory.read(entry.name, READ_BYTES)
                except OSError:
                    continue
                changes += self._changes(entry.path, name, content, before, key, now_ns)
                waiting_bytes += len(content.data)
            paths[name] = entry.path
            if waiting_bytes > _BATCH_BYTES:
                self._keep(index, changes, state)
                changes, waiting_bytes = [], 0
        changes += (Change(name, None) for name in known.keys() - paths.keys())
        self._keep(index, changes, state)
        return paths

    def _changes(
        self,
        path: str,
        name: bytes,
        content: Content,
        before: Known | None,
        key: bytes,
        now_ns: int,
    ) -> Iterable[Change]:
        stamp = settled_stamp(content.status, now_ns)
        known = Known("" if stamp is None else _written(stamp), _digest(content.data, key))
        if before is not None and before.content == known.content:
            if before.stamp != known.stamp:
                yield Change(name, known)
            return
        try:
            words = note_of(path, content, self._redaction).words()
        except UnicodeDecodeError:
            words = ("", "", "")
        yield Change(name, known, words)

    def _keep(self, index: FullText, changes: Sequence[Change], state: bytes) -> None:
        if self._redaction.state() != state:
            raise SecretsChangedError
        if changes:
            index.change(changes)


def _digest(data: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=KEY_BYTES, key=key).digest()


def _written(stamp: Stamp) -> str:
    return "{} {} {} {} {}".format(*stamp)

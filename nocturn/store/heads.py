"""What the heads of all notes say, read again only where a file has changed."""

from __future__ import annotations

import re
import threading
import time
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nocturn.limits import CATALOG_READ_BYTES
from nocturn.store.confined import Entry, Folder
from nocturn.store.notes import is_note_name
from nocturn.store.packing import Line
from nocturn.store.stamp import Stamp, settled_stamp, stamp_of
from nocturn.store.summary import summary_of
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Protocol

    from nocturn.store.kept import KeptHeads
    from nocturn.store.redaction import Redaction

    class Earlier(Protocol):
        """What was known of the notes before, by their paths as spelled on disk."""

        def get(self, path: str, /) -> Head | None: ...


__all__ = ["Head", "Heads"]

_WORTH_KEEPING: Final = 64
"""Heads that were read anew; fewer cost less than it does to write the file that spares them."""
_TAG: Final = re.compile(r"<(?=\s*/?\s*memory)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """What the catalog says of one note; redacted, and harmless in a prompt.

    Attributes:
        line: Its line; without a text where it cannot be read.
        warning: Why it cannot, naming it; empty where it can.
        stamp: The file's stamp when it was read, where that can be believed, else None.
    """

    line: Line
    warning: str
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class _Raw:
    """A head as it was read."""

    texts: tuple[str, str]
    trouble: str
    modified_ns: int
    stamp: Stamp | None


class Heads:
    """The heads of the notes under one root. Safe to use from many threads.

    Args:
        root: The ``memory/`` folder, which may be missing.
        redaction: Takes secrets out of what they say.
        kept: Where heads are kept from one process to the next; None for nowhere.
        now_ns: Gives the time, in ns since the epoch.
    """

    def __init__(
        self,
        root: Path,
        redaction: Redaction,
        kept: KeptHeads | None = None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._folder = Folder(root)
        self._redaction = redaction
        self._kept = kept
        self._now_ns = now_ns
        self._lock = threading.Lock()
        self._state: bytes | None = None
        self._heads: dict[str, Head] = {}
        self._seen: dict[tuple[str, str], tuple[str, str]] = {}
        self._unkept = 0

    def look(self) -> list[Head]:
        """Goes through the files as they are now, and gives the head of each note.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the folder itself cannot be opened.
        """
        with self._lock:
            state = self._redaction.state()
            earlier: Earlier = self._heads
            if state != self._state:
                self._forget()
                earlier = self._heads if self._kept is None else self._kept.load(state)
            self._heads = self._gone_through(earlier)
            # A secret that came meanwhile is out of some of them and may be in others.
            self._state = state if self._redaction.state() == state else None
            if self._state is not None:
                self._keep(state)
            return [*self._heads.values()]

    def forget(self) -> None:
        """Forgets every head, the kept ones too, so that nothing is left of what they said.

        Raises:
            NocturnError: ``STORAGE``, where those cannot be removed.
        """
        with self._lock:
            self._forget()
            if self._kept is not None:
                self._kept.remove()

    def _forget(self) -> None:
        self._state, self._heads, self._seen, self._unkept = None, {}, {}, 0

    def _gone_through(self, earlier: Earlier) -> dict[str, Head]:
        now_ns = self._now_ns()
        heads: dict[str, Head] = {}
        anew: dict[str, _Raw] = {}
        for entry in self._folder.walk():
            if entry.kind != "closed" and not is_note_name(entry.name):
                continue
            head = earlier.get(entry.path)
            if head is not None and head.stamp is not None and head.stamp == _stamp(entry):
                heads[entry.path] = head
            else:
                anew[entry.path] = _read(entry, now_ns)
        seen = self._redacted(raw.texts for raw in anew.values())
        heads |= {path: _head(raw, *seen[raw.texts]) for path, raw in anew.items()}
        # What has to be read again the next time need not be redacted again.
        self._seen = {raw.texts: seen[raw.texts] for raw in anew.values() if raw.stamp is None}
        self._unkept += len(anew) - len(self._seen)
        return heads

    def _redacted(self, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, str]]:
        every = dict.fromkeys(pairs)
        new = [pair for pair in every if pair not in self._seen]
        texts = iter(self._redaction.redact_all([text for pair in new for text in pair]))
        return self._seen | dict(zip(new, zip(texts, texts, strict=True), strict=True))

    def _keep(self, state: bytes) -> None:
        if self._kept is not None and self._unkept > max(_WORTH_KEEPING, len(self._heads) // 16):
            self._kept.save(state, self._heads)
            self._unkept = 0


def _stamp(entry: Entry) -> Stamp | None:
    return None if entry.kind != "file" or entry.status is None else stamp_of(entry.status)


def _read(entry: Entry, now_ns: int) -> _Raw:
    """Reads one head; what depends on more than the file itself is never believed the next time."""
    path = unicodedata.normalize("NFC", entry.path)
    if entry.kind == "closed":
        return _Raw((path, ""), "the folder cannot be opened", 0, None)
    if entry.kind == "other":
        return _Raw((path, ""), "it is a link or no regular file", 0, None)
    try:
        content = entry.directory.read(entry.name, CATALOG_READ_BYTES)
    except OSError:
        return _Raw((path, ""), "it cannot be read", 0, None)
    status = content.status
    summary = trouble = ""
    try:
        summary = summary_of(content.data, whole=status.st_size <= len(content.data))
    except UnicodeDecodeError:
        trouble = "it is not UTF-8 text"
    stamp = settled_stamp(status, now_ns)
    return _Raw((path, summary), trouble, status.st_mtime_ns, stamp)


def _head(raw: _Raw, path: str, summary: str) -> Head:
    shown = _neutral(path)
    if raw.trouble:
        warning = f'"{shown}" is left out of the catalog: {raw.trouble}'
        return Head(Line(path, "", 0), warning, raw.stamp)
    text = f"{shown} — {_neutral(summary)}"
    return Head(Line(path, text, raw.modified_ns), "", raw.stamp)


def _neutral(text: str) -> str:
    return _TAG.sub("&lt;", visible(text, keep=""))

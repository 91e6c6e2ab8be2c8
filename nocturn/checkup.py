"""Looks through a workspace's notes for what will give trouble, and mends what is safe to mend.

Each note is read once, as it is on disk; nothing is followed and nothing waits. What is found is
told in words of ours: a value never, a name that a stranger has made with its hidden characters
visible and its secrets struck out.
"""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.guard.instructions import instructions_in
from nocturn.guard.search import search
from nocturn.limits import NOTE_CONTENT_BYTES, NOTE_READ_BYTES
from nocturn.names import note_path, same_name_key
from nocturn.store.confined import Folder
from nocturn.store.linking import NoteNames, links_in
from nocturn.store.listing import is_note_name
from nocturn.store.note_locks import NoteLocks
from nocturn.store.orphans import is_orphan
from nocturn.store.preamble import is_like_one, split
from nocturn.store.renaming import rename_new
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nocturn.guard.scanner import Scanner
    from nocturn.store.confined import Entry

__all__ = ["Finding", "check"]

_OTHERS: Final = 0o077
_OF_A_KIND: Final = 5
"""So many findings of one kind in one note are told; the rest are counted."""
_STALE_SECONDS: Final = 3_600
"""No write takes so long: what is older was left by a writer that was killed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        path: Where, relative to ``memory/``; ``.`` for that folder itself.
        kind: ``name``, ``duplicate``, ``preamble``, ``size``, ``unreadable``, ``secret``,
            ``instructions``, ``link``, ``mode``, ``leftover`` or ``database``.
        what: What it is.
        advice: What a person can do.
        fixed: Whether it was mended just now.
    """

    path: str
    kind: str
    what: str
    advice: str
    fixed: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)


def check(
    memory: Path,
    scanner: Scanner,
    databases: Mapping[str, Callable[[], object]],
    *,
    fix: bool = False,
) -> list[Finding]:
    """Looks through all notes.

    Args:
        memory: The ``memory/`` folder, which may be missing.
        scanner: Knows the secrets.
        databases: What opens each database of the workspace, by its file's name.
        fix: Whether modes are narrowed, what killed writers have left is removed, and decomposed
            names are composed: what changes no text.

    Returns:
        What was found, by path.

    Raises:
        NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, the folder itself cannot be opened.
        ConfigurationError: The secrets cannot be read.
    """
    found = list(_Checkup(memory, scanner, fix=fix).findings())
    for name, opened in databases.items():
        try:
            opened()
        except ConfigurationError as error:
            found.append(Finding(f".nocturn/{name}", "database", error.message, "move it away"))
    texts = [text for each in found for text in (each.path, each.what)]
    seen = [visible(text, keep="") for text in scanner.redact_all(texts)]
    shown = zip(found, seen[::2], seen[1::2], strict=True)
    told = [replace(each, path=path, what=what) for each, path, what in shown]
    return sorted(told, key=lambda each: (each.path, each.kind))


class _Checkup:
    """One look through one folder.

    Args:
        memory: As for :func:`check`.
        scanner: As for :func:`check`.
        fix: As for :func:`check`.
    """

    def __init__(self, memory: Path, scanner: Scanner, *, fix: bool) -> None:
        self._folder = Folder(memory)
        self._root = memory
        self._scanner = scanner
        self._fix = fix
        self._locks = NoteLocks(memory.parent / ".nocturn")
        self._links: list[tuple[str, int, str]] = []

    def findings(self) -> Iterator[Finding]:
        paths: list[str] = []
        notes: list[str] = []
        yield from self._of_root()
        for entry in self._folder.walk(folders=True):
            if is_orphan(entry.name):
                yield from self._of_leftover(entry)
                continue
            paths.append(entry.path)
            if entry.kind in ("file", "folder"):
                yield from self._of_mode(entry)
            if entry.kind == "file" and is_note_name(entry.name):
                notes.append(unicodedata.normalize("NFC", entry.path))
                yield from self._of_note(entry)
            yield from self._of_entry(entry)  # last, since it may give it another name
        yield from _duplicates(paths)
        names = NoteNames(notes)
        broken: dict[str, list[str]] = {}
        for path, line, target in self._links:
            if not names.have(target, path):
                said = f"line {line} links to {target}, and there is no such note"
                broken.setdefault(path, []).append(said)
        for path, found in broken.items():
            yield from _several(path, "link", found, "write that note, or change the link")

    # ---- what is there -------------------------------------------------------------------------

    def _of_root(self) -> Iterator[Finding]:
        try:
            mode = os.lstat(self._root).st_mode
        except OSError:
            return
        if os.name == "posix" and stat.S_ISDIR(mode) and mode & _OTHERS:
            fixed = self._fix
            if fixed:
                os.chmod(self._root, 0o700)
            yield _broad(".", mode, fixed=fixed)

    def _of_entry(self, entry: Entry) -> Iterator[Finding]:
        if entry.kind == "closed":
            what = "the folder cannot be looked into"
            yield Finding(entry.path, "unreadable", what, "check its mode and its owner")
        elif entry.kind == "other":
            what = "it is a link, a FIFO or a device, which the lists leave out"
            yield Finding(entry.path, "unreadable", what, "put a file in its place")
        elif entry.kind == "folder":
            yield from self._of_name(entry, f"{entry.path}/x.md")
        elif is_note_name(entry.name):
            yield from self._of_name(entry, entry.path)
        elif not entry.name.startswith("."):
            what = "its name does not end in .md, so that no tool sees it"
            yield Finding(entry.path, "name", what, "rename it, or keep it elsewhere")

    def _of_name(self, entry: Entry, path: str) -> Iterator[Finding]:
        """Looks at the last part of a path: what is wrong further up is told of the folder."""
        name = path.removeprefix(entry.path.removesuffix(entry.name))
        try:
            canonical = note_path(name)
        except NocturnError as error:
            said = error.message.partition(" is refused: ")[2] or error.message
            yield Finding(entry.path, "name", f"no tool can name it: {said}", "rename it")
            return
        if canonical == name:
            return
        composed = unicodedata.normalize("NFC", entry.name)
        fixed = self._fix and entry.kind == "file" and self._renamed(entry, composed)
        what = "its name is not composed (NFC), as other systems spell it"
        yield Finding(entry.path, "name", what, "rename it", fixed=fixed)

    def _of_mode(self, entry: Entry) -> Iterator[Finding]:
        status = entry.directory.status(entry.name)
        if os.name != "posix" or status is None or not status.st_mode & _OTHERS:
            return
        fixed = False
        if self._fix:
            try:
                entry.directory.narrow(entry.name)
            except OSError:  # it is somebody else's
                fixed = False
            else:
                fixed = True
        yield _broad(entry.path, status.st_mode, fixed=fixed)

    def _of_leftover(self, entry: Entry) -> Iterator[Finding]:
        status = entry.directory.status(entry.name)
        if status is None or time.time() - status.st_mtime < _STALE_SECONDS:
            return
        if self._fix and entry.kind == "file":
            with self._locks.held(()) as lock:
                if lock.alone():  # it might be stopped, and not dead
                    entry.directory.drop(entry.name)
        fixed = entry.directory.status(entry.name) is None
        what = "a writer that was killed has left it"
        yield Finding(entry.path, "leftover", what, "remove it", fixed=fixed)

    def _renamed(self, entry: Entry, composed: str) -> bool:
        """Returns whether a file could be given its composed name, where nothing has it."""
        path = unicodedata.normalize("NFC", entry.path)
        with self._locks.held([path]):
            try:
                rename_new(entry.directory, entry.name, entry.directory, composed)
            except OSError:
                return False
        return True

    # ---- what is in it -------------------------------------------------------------------------

    def _of_note(self, entry: Entry) -> Iterator[Finding]:
        path = entry.path
        try:
            content = entry.directory.read(entry.name, NOTE_READ_BYTES + 1)
        except OSError:
            yield Finding(path, "unreadable", "it cannot be read", "check its mode and its owner")
            return
        size = content.status.st_size
        whole = len(content.data) <= NOTE_READ_BYTES
        try:
            text = content.data.decode(errors="strict" if whole else "ignore")
        except UnicodeDecodeError:
            yield Finding(path, "unreadable", "it is not UTF-8", "save it as UTF-8")
            return
        _, body = split(text)
        if not whole or len(body.encode()) > NOTE_CONTENT_BYTES:
            what = f"it is {size:,} bytes, over the {NOTE_CONTENT_BYTES:,} that a tool can write"
            yield Finding(path, "size", what, "split it")
        if "\0" in text:
            what = "it has a NUL character, so that it cannot be written back"
            yield Finding(path, "unreadable", what, "remove it")
        if is_like_one(text):
            what = "what stands between its --- lines is no YAML mapping with a text description"
            yield Finding(path, "preamble", what, "put a description there, in quotes")
        yield from self._of_text(path, text)
        self._links += ((path, line, target) for line, target in links_in(_blanked(text)))

    def _of_text(self, path: str, text: str) -> Iterator[Finding]:
        if self._scanner.redact(path) != path:
            what = "its path holds a secret or what looks like one"
            yield Finding(path, "secret", what, "rename it; nocturn memory purge removes all of it")
        secrets = [f"line {each.line}: {each.what}" for each in self._secrets_in(text)]
        advice = "take it out; nocturn memory purge removes it from the history as well"
        yield from _several(path, "secret", secrets, advice)
        orders = [
            f"line {text.count(chr(10), 0, each.start) + 1} {each.what}"
            for each in instructions_in(text)
        ]
        yield from _several(path, "instructions", orders, "read it, and remove it if you can")

    def _secrets_in(self, text: str) -> Iterator[Any]:
        return (each for each in search([text], self._scanner) if each.blocks)


def _blanked(text: str) -> str:
    """Returns a note with its preamble blanked, so that its lines keep their numbers."""
    block, body = split(text)
    return "\n" * block.count("\n") + body


def _broad(path: str, mode: int, *, fixed: bool) -> Finding:
    what = f"others may use it (mode {stat.S_IMODE(mode):04o})"
    right = "0700" if stat.S_ISDIR(mode) else "0600"
    return Finding(path, "mode", what, f"chmod {right}", fixed=fixed)


def _several(path: str, kind: str, found: list[str], advice: str) -> Iterator[Finding]:
    for what in found[:_OF_A_KIND]:
        yield Finding(path, kind, what, advice)
    if len(found) > _OF_A_KIND:
        yield Finding(path, kind, f"and {len(found) - _OF_A_KIND:,} more like it", advice)


def _duplicates(paths: list[str]) -> Iterator[Finding]:
    alike: dict[str, str] = {}
    for path in paths:
        first = alike.setdefault(same_name_key(path), path)
        # Where a folder has a double, so has all that is in it: the folder's is told alone.
        inside = same_name_key(path.rpartition("/")[0])
        if first != path and alike.get(inside, "") == path.rpartition("/")[0]:
            what = f"not every system can hold it beside {first}"
            yield Finding(path, "duplicate", what, "merge the two, or rename one")

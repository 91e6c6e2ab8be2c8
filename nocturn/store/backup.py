"""One file with all of a workspace that cannot be made again.

It is a zip archive, which any system can open: notes, persona, trash, policy, grants, the vault as
it is encrypted, the journal and the history. Keys are not in it, nor what can be rebuilt.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

from nocturn.errors import (
    BAD_ARGUMENTS,
    CONFLICT,
    NOT_A_NOTE,
    NOT_FOUND,
    PATH_ESCAPE,
    TOO_LARGE,
    ConfigurationError,
    NocturnError,
)
from nocturn.limits import BACKUP_BYTES, BACKUP_FILES
from nocturn.store.confined import Folder
from nocturn.store.orphans import is_orphan
from nocturn.store.trouble import disk_trouble, given_path, shown
from nocturn.store.volumes import CURRENT, Volumes, volume
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from pathlib import Path

    from nocturn.store.confined import Entry

__all__ = [
    "CHUNK_BYTES",
    "FILES",
    "MARK",
    "TREES",
    "Saved",
    "mark_of",
    "save",
    "too_much_for_a_backup",
]

MARK: Final = b"nocturn backup 1"
"""How the archive's comment begins: that it is one, and in which form."""
TREES: Final = ("memory", "persona", ".nocturn/trash")
FILES: Final = ("policy.toml", "grants.json", "vault.enc")
CHUNK_BYTES: Final = 1_048_576
_FIRST_YEAR: Final = 1980
"""Before it, and beyond 2107, a zip archive has no dates."""
_LAST_YEAR: Final = 2107


@dataclass(frozen=True, slots=True)
class Saved:
    """What is in a backup.

    Attributes:
        files: How many files.
        bytes: Their size, together.
        vault: Whether the vault is among them, whose key is not.
        skipped: What was left out: links, devices, what cannot be read, a broken database.
    """

    files: int
    bytes: int
    vault: bool
    skipped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns ``{"files", "bytes", "vault", "skipped"}``, JSON-able."""
        return {
            "files": self.files,
            "bytes": self.bytes,
            "vault": self.vault,
            "skipped": list(self.skipped),
        }


def save(
    workspace: Path,
    target: str,
    databases: Mapping[str, Callable[[], bytes | None]],
    *,
    replace: bool = False,
) -> Saved:
    """Makes a backup while others go on writing: each file in it is whole.

    Two backups of the same workspace, with nothing changed in between, are the same bytes.

    Args:
        workspace: The workspace's folder.
        target: The file to make, 0600; nothing of it is there before all of it is.
        databases: What gives each database of ``.nocturn/`` as of one moment, by its file's name.
        replace: Whether a file that is there is replaced.

    Raises:
        NocturnError: ``CONFLICT``, the file is there and must not be replaced; ``NOT_FOUND``, there
            is no such workspace; ``BAD_ARGUMENTS``, the file would be in it; ``TOO_LARGE``;
            ``STORAGE``.
    """
    place = given_path(target, "target")
    name = os.path.basename(place)
    if not os.path.isdir(workspace):
        message = f"there is no workspace {shown(workspace.name)} to back up: check its path"
        raise NocturnError(NOT_FOUND, message)
    if f"{os.path.realpath(place)}/".startswith(f"{os.path.realpath(workspace)}/"):
        message = f"{shown(name)} is in the workspace: a backup belongs on another disk, or apart"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "target"})
    if not replace and os.path.lexists(place):
        raise _is_there(name)
    with disk_trouble(f"writing {shown(name)}"), _written_whole(place, replace=replace) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            backup = _Backup(archive)
            backup.add_all(workspace, databases)
            archive.comment = mark_of(archive.infolist())
        return backup.saved()


@contextmanager
def _written_whole(place: str, *, replace: bool) -> Generator[IO[bytes]]:
    """Opens a file beside its place, and puts it there once all is on the disk."""
    folder = os.path.dirname(place)
    descriptor, temporary = tempfile.mkstemp(prefix=".nocturn-", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(temporary, place)
        else:
            _put(temporary, place)
    except BaseException:
        _drop(temporary)
        raise


def _put(temporary: str, place: str) -> None:
    try:
        os.link(temporary, place)
    except FileExistsError:
        raise _is_there(os.path.basename(place)) from None
    except OSError:  # a disk without such links, as memory sticks are
        if os.path.lexists(place):
            raise _is_there(os.path.basename(place)) from None
        os.replace(temporary, place)
    else:
        os.unlink(temporary)


class _Backup:
    """A backup that is being written.

    Args:
        archive: Where.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._files = 0
        self._bytes = 0
        self._vault = False
        self._skipped: list[str] = []

    def add_all(self, workspace: Path, databases: Mapping[str, Callable[[], bytes | None]]) -> None:
        for tree in TREES:
            for entry in Folder(workspace / tree).walk():
                self._add_entry(f"{tree}/{entry.path}", entry)
        for name in FILES:
            self._add_file(Folder(workspace), name)
        with Volumes(workspace / ".nocturn").opened() as files:
            for number, fd, size in files:
                name = CURRENT if number is None else volume(number)
                os.lseek(fd, 0, os.SEEK_SET)
                data = os.read(fd, size)
                # Its last line may be half there, and comes whole a moment later.
                self._add_bytes(f".nocturn/{name}", data[: data.rfind(b"\n") + 1], os.fstat(fd))
        # Last: a note that was changed since it was read here is in the history by now.
        for name, snapshot in databases.items():
            try:
                whole = snapshot()
            except ConfigurationError:  # it is broken, and the rest should be saved all the more
                self._skipped.append(f".nocturn/{name}")
                continue
            if whole is not None:
                self._add_bytes(f".nocturn/{name}", whole, os.stat(workspace / ".nocturn" / name))

    def saved(self) -> Saved:
        return Saved(self._files, self._bytes, self._vault, tuple(self._skipped))

    def _add_entry(self, name: str, entry: Entry) -> None:
        if is_orphan(entry.name):
            return  # a write that is going on, or was killed
        try:
            name.encode()
            if entry.kind != "file":
                raise IsADirectoryError
            fd = entry.directory.open_file(entry.name, os.O_RDONLY)
        except FileNotFoundError:
            return  # removed or moved just now
        except (OSError, UnicodeEncodeError):
            self._skipped.append(visible(name, keep=""))
            return
        try:
            self._add(name, fd)
        finally:
            os.close(fd)

    def _add_file(self, folder: Folder, name: str) -> None:
        try:
            with folder.place(name) as place:
                if place.entry is None:
                    return
                with place.open_file(os.O_RDONLY, make=False) as fd:
                    self._add(name, fd)
        except NocturnError as error:
            if error.code not in (NOT_A_NOTE, PATH_ESCAPE):  # a link or a device
                raise
            self._skipped.append(name)
        else:
            self._vault = self._vault or name == "vault.enc"

    def _add(self, name: str, fd: int) -> None:
        status = os.fstat(fd)
        with self._archive.open(self._named(name, status, status.st_size), "w") as member:
            while data := os.read(fd, CHUNK_BYTES):
                member.write(data)
                self._bytes += len(data)
                self._require_room()

    def _add_bytes(self, name: str, data: bytes, status: os.stat_result) -> None:
        self._archive.writestr(self._named(name, status, len(data)), data)
        self._bytes += len(data)
        self._require_room()

    def _named(self, name: str, status: os.stat_result, size: int) -> zipfile.ZipInfo:
        self._files += 1
        changed = time.gmtime(max(0, min(status.st_mtime, 2**32)))
        when = (
            changed[:6] if _FIRST_YEAR <= changed.tm_year <= _LAST_YEAR else (1980, 1, 1, 0, 0, 0)
        )
        info = zipfile.ZipInfo(name, when)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3  # so that the mode is read as one
        info.external_attr = (stat.S_IFREG | 0o600) << 16
        info.file_size = size
        return info

    def _require_room(self) -> None:
        if self._bytes > BACKUP_BYTES or self._files > BACKUP_FILES:
            raise too_much_for_a_backup("the workspace")


def _is_there(name: str) -> NocturnError:
    message = f"{shown(name)} is there already: choose another name, or have it replaced"
    return NocturnError(CONFLICT, message, detail={"field": "target"})


def mark_of(infos: Iterable[zipfile.ZipInfo]) -> bytes:
    """Gives an archive's comment: a damaged list of its files would be a shorter one, unnoticed.

    Args:
        infos: All that is in the archive.
    """
    whole = hashlib.sha256()
    for each in infos:
        *when, seconds = each.date_time
        row = (each.filename, each.file_size, each.CRC, *when, seconds // 2)  # kept in twos
        whole.update(repr(row).encode("utf-8", "surrogatepass"))
    return MARK + b" " + whole.hexdigest()[:32].encode()


def too_much_for_a_backup(what: str) -> NocturnError:
    """Gives the error of more than a backup may hold.

    Args:
        what: What is more.
    """
    return NocturnError(
        TOO_LARGE,
        f"{what} is over {BACKUP_FILES:,} files or {BACKUP_BYTES:,} bytes, which is what a backup "
        "may hold: take out what is no note, or use a program for large backups",
        detail={"limit": BACKUP_BYTES},
    )


def _drop(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return

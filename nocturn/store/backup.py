"""One file with all of a workspace that cannot be made again, and the way back from it.

It is a zip archive, which any system can open: notes, persona, trash, policy, grants, the vault as
it is encrypted, the journal and the history. Keys are not in it, nor what can be rebuilt.

An archive is a stranger's until shown otherwise: the way back takes the names that a backup has
and no others, makes plain files only, in a folder that is new, and all of them or none.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NOT_FOUND, STORAGE, TOO_LARGE, NocturnError
from nocturn.limits import BACKUP_BYTES, BACKUP_FILES
from nocturn.store.confined import Folder
from nocturn.store.directory import write_all
from nocturn.store.orphans import is_orphan
from nocturn.store.trouble import disk_trouble, given_path, shown
from nocturn.store.volumes import CURRENT, Volumes, volume
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from nocturn.store.confined import Entry

__all__ = ["Saved", "restore", "save"]

_COMMENT: Final = b"nocturn backup 1"
_TREES: Final = ("memory", "persona", ".nocturn/trash")
_FILES: Final = ("policy.toml", "grants.json", "vault.enc")
_OUTER: Final = re.compile(r"\.nocturn/(?:journal(?:-[0-9]{6,12})?\.jsonl|history\.db)")
_CHUNK_BYTES: Final = 1_048_576
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
        skipped: What was left out: links, devices, and what cannot be read.
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
        NocturnError: ``CONFLICT``, the file is there and must not be replaced; ``BAD_ARGUMENTS``,
            it is in the workspace; ``TOO_LARGE``; ``STORAGE``.
    """
    place = given_path(target, "target")
    name = os.path.basename(place)
    if f"{os.path.realpath(place)}/".startswith(f"{os.path.realpath(workspace)}/"):
        message = f"{shown(name)} is in the workspace: a backup belongs on another disk, or apart"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "target"})
    if not replace and os.path.lexists(place):
        raise _is_there(name)
    with disk_trouble(f"writing {shown(name)}"), _written_whole(place, replace=replace) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = _COMMENT
            backup = _Backup(archive)
            backup.add_all(workspace, databases)
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
        for tree in _TREES:
            for entry in Folder(workspace / tree).walk():
                self._add_entry(f"{tree}/{entry.path}", entry)
        for name in _FILES:
            with Folder(workspace).place(name) as place:
                if place.entry is None:
                    continue
                with place.open_file(os.O_RDONLY, make=False) as fd:
                    self._add(name, fd)
                    self._vault = self._vault or name == "vault.enc"
        with Volumes(workspace / ".nocturn").opened() as files:
            for number, fd, size in files:
                name = CURRENT if number is None else volume(number)
                data = os.pread(fd, size, 0)
                # Its last line may be half there, and comes whole a moment later.
                self._add_bytes(f".nocturn/{name}", data[: data.rfind(b"\n") + 1], os.fstat(fd))
        # Last: a note that was changed since it was read here is in the history by now.
        for name, snapshot in databases.items():
            whole = snapshot()
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

    def _add(self, name: str, fd: int) -> None:
        status = os.fstat(fd)
        with self._archive.open(self._named(name, status, status.st_size), "w") as member:
            while data := os.read(fd, _CHUNK_BYTES):
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
            raise _too_much("the workspace")


def restore(file: str, workspace: Path) -> Saved:
    """Makes a workspace out of a backup: all of it or nothing.

    What it holds of permissions is not trusted there, as of any folder from elsewhere.

    Args:
        file: The backup.
        workspace: The folder to make; it must be missing, or empty.

    Raises:
        NocturnError: ``NOT_FOUND``; ``CONFLICT``, the folder is there and not empty;
            ``BAD_ARGUMENTS``, the file is no backup, or not as nocturn made it; ``TOO_LARGE``;
            ``STORAGE``.
    """
    place = given_path(file, "file")
    name = os.path.basename(place)
    if not os.path.isfile(place):  # a FIFO would be waited for
        raise NocturnError(NOT_FOUND, f"{shown(name)} is no file: name a backup")
    if os.path.lexists(workspace) and (
        os.path.islink(workspace) or not os.path.isdir(workspace) or os.listdir(workspace)
    ):
        message = f"{shown(workspace.name)} is there and not empty: restore into a new folder"
        raise NocturnError(CONFLICT, message, detail={"field": "workspace"})
    with disk_trouble(f"restoring {shown(name)}"):
        os.makedirs(workspace.parent, mode=0o700, exist_ok=True)
        with open(place, "rb") as stream, _archive(stream, name) as archive:
            infos = _members(archive, name)
            _require_space(infos, workspace.parent)
            beside = tempfile.mkdtemp(prefix=".nocturn-restore-", dir=workspace.parent)
            try:
                for info in infos:
                    _extract(archive, info, Folder(Path(beside)), name)
                if hasattr(os, "sync"):
                    os.sync()
                os.rename(beside, workspace)
            except BaseException:
                shutil.rmtree(beside, ignore_errors=True)
                raise
    vault = any(info.filename == "vault.enc" for info in infos)
    return Saved(len(infos), sum(info.file_size for info in infos), vault)


@contextmanager
def _archive(stream: IO[bytes], name: str) -> Generator[zipfile.ZipFile]:
    """Opens an archive; whatever a damaged or hostile one makes zipfile raise is one error."""
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except (NocturnError, OSError):
        raise
    except Exception:  # noqa: BLE001 - zipfile raises whatever it stumbles into
        raise _no_backup(name, "is damaged") from None


def _members(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """Returns what is in it, if that is what a backup has.

    Raises:
        NocturnError: It is not.
    """
    if archive.comment != _COMMENT:
        raise _no_backup(name, "is no backup that this version of nocturn reads")
    infos = archive.infolist()
    if len(infos) > BACKUP_FILES:
        raise _too_much(shown(name))
    seen: set[str] = set()
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        plain = kind in (0, stat.S_IFREG) and not info.flag_bits & 1
        known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        # orig_filename: zipfile cuts a name at NUL, and turns the separators of this system round.
        same = info.orig_filename == info.filename
        if not (plain and known and same and _is_ours(info.filename)) or info.filename in seen:
            what = visible(info.orig_filename, keep="")[:200]
            raise _no_backup(name, f"holds “{what}”, which no backup of nocturn's holds so")
        seen.add(info.filename)
    return infos


def _is_ours(path: str) -> bool:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        return False
    if os.name == "nt" and any(character in path for character in "\\:"):
        return False
    inside = any(path.startswith(f"{tree}/") for tree in _TREES)
    return inside or path in _FILES or _OUTER.fullmatch(path) is not None


def _require_space(infos: list[zipfile.ZipInfo], folder: Path) -> None:
    size = sum(info.file_size for info in infos)
    if size > BACKUP_BYTES:
        raise _too_much("what the backup unpacks to")
    free = shutil.disk_usage(folder).free
    if size > free:
        message = f"the backup unpacks to {size:,} bytes, and the disk has {free:,}: free some"
        raise NocturnError(STORAGE, message)


def _extract(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Folder, name: str) -> None:
    left = info.file_size
    with archive.open(info) as member, folder.new_file(info.filename) as fd:
        for data in _pieces(member):
            left -= len(data)
            write_all(fd, data)
        if left:
            raise _no_backup(name, "is damaged")
        changed = _seconds(info.date_time)
        if os.utime in os.supports_fd:
            os.utime(fd, (changed, changed))


def _pieces(member: IO[bytes]) -> Iterator[bytes]:
    while data := member.read(_CHUNK_BYTES):
        yield data


def _seconds(date_time: tuple[int, ...]) -> int:
    import calendar

    return calendar.timegm((*date_time, 0, 0, 0))


def _is_there(name: str) -> NocturnError:
    message = f"{shown(name)} is there already: choose another name, or have it replaced"
    return NocturnError(CONFLICT, message, detail={"field": "target"})


def _no_backup(name: str, why: str) -> NocturnError:
    return NocturnError(BAD_ARGUMENTS, f"{shown(name)} {why}: nothing was restored")


def _too_much(what: str) -> NocturnError:
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

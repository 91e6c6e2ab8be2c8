"""A workspace made out of a backup.

An archive is a stranger's until shown otherwise: only names that a backup has are taken, only plain
files are made, in a folder that is new, and all of them or none.
"""

from __future__ import annotations

import calendar
import os
import re
import shutil
import stat
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NOT_FOUND, STORAGE, NocturnError
from nocturn.limits import BACKUP_BYTES, BACKUP_FILES
from nocturn.store.backup import (
    CHUNK_BYTES,
    FILES,
    MARK,
    TREES,
    Saved,
    mark_of,
    too_much_for_a_backup,
)
from nocturn.store.confined import Folder
from nocturn.store.directory import write_all
from nocturn.store.trouble import disk_trouble, given_path, shown
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

__all__ = ["restore"]

_OUTER: Final = re.compile(r"\.nocturn/(?:journal(?:-[0-9]{6,12})?\.jsonl|history\.db)")


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
    infos = archive.infolist()
    if not archive.comment.startswith(MARK + b" "):
        raise _no_backup(name, "is no backup that this version of nocturn reads")
    if archive.comment != mark_of(infos):
        raise _no_backup(name, "is damaged")
    if len(infos) > BACKUP_FILES:
        raise too_much_for_a_backup(shown(name))
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
    inside = any(path.startswith(f"{tree}/") for tree in TREES)
    return inside or path in FILES or _OUTER.fullmatch(path) is not None


def _require_space(infos: list[zipfile.ZipInfo], folder: Path) -> None:
    size = sum(info.file_size for info in infos)
    if size > BACKUP_BYTES:
        raise too_much_for_a_backup("what the backup unpacks to")
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
    while data := member.read(CHUNK_BYTES):
        yield data


def _seconds(date_time: tuple[int, ...]) -> int:
    return calendar.timegm((*date_time, 0, 0, 0))


def _no_backup(name: str, why: str) -> NocturnError:
    return NocturnError(BAD_ARGUMENTS, f"{shown(name)} {why}: nothing was restored")

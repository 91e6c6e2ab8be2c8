"""One open directory: each system call on what is in it, by descriptor and never through a link.

Only ``confined.py`` opens one. A name here is one part of a path, with no slash in it.

Where the platform cannot open relative to a descriptor (Windows), the same calls go by path, after
an ``lstat`` that refuses links and reparse points. That is weaker: a link that is swapped in
between the two is followed. It holds against a guest, which cannot make links, and not against
another program of the same user.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["BY_DESCRIPTOR", "TEMPORARY", "Content", "Directory", "is_link", "write_all"]

BY_DESCRIPTOR: Final = {
    os.mkdir,
    os.open,
    os.readlink,
    os.rename,
    os.rmdir,
    os.stat,
    os.unlink,
} <= os.supports_dir_fd and os.listdir in os.supports_fd
"""Whether this platform opens relative to a descriptor."""

TEMPORARY: Final = (".nocturn-", ".tmp")
"""How the name of a file begins and ends that is written before it is put in its place."""

_NOFOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)
_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# Without O_NONBLOCK, opening a FIFO waits for its other end.
_FILE: Final = (
    _NOFOLLOW
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_FOLDER_SYNC: Final = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
_OWNER_ONLY: Final = 0o600
_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """What was read of a regular file.

    Attributes:
        data: Its first bytes, at most as many as were asked for.
        status: Its state when it was opened.
        link: What the entry says, where the entry is a link to the file; None where it is the file.
    """

    data: bytes
    status: os.stat_result
    link: str | None = None


class Directory:
    """An open directory. Close it, or use it as a context manager."""

    def __init__(self, path: str, fd: int | None) -> None:
        self._path = path
        self._fd = fd

    @classmethod
    def at(cls, path: Path, *, follow: bool, by_descriptor: bool) -> Directory:
        """Opens a directory by its path.

        Args:
            path: Where it is; its parents' links are followed.
            follow: Whether it may itself be a link.
            by_descriptor: False for the weaker way, by path.

        Raises:
            OSError: It is missing, no directory, or a link (``ELOOP``).
        """
        if not follow and is_link(os.lstat(path)):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if by_descriptor:
            return cls(str(path), os.open(path, _FOLDER | (0 if follow else _NOFOLLOW)))
        if not stat.S_ISDIR(path.stat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return cls(str(path), None)

    @property
    def descriptor(self) -> int | None:
        """The open descriptor; None where this platform goes by path, or once it is closed."""
        return self._fd

    def close(self) -> None:
        """Closes it; again is nothing."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def names(self) -> list[str]:
        """Gives the names of all its entries, as they are spelled on disk, in no order."""
        return os.listdir(self._path if self._fd is None else self._fd)

    def folders(self) -> list[str]:
        """Gives the names of the folders in it, without a look at each entry where that goes."""
        with os.scandir(self._path if self._fd is None else self._fd) as entries:
            return [each.name for each in entries if each.is_dir(follow_symlinks=False)]

    def status(self, name: str) -> os.stat_result | None:
        """Gives an entry's own state, not that of a link's target; None where there is none."""
        try:
            return os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def link_text(self, name: str) -> str:
        """Gives what a link says."""
        return os.readlink(self._at(name), dir_fd=self._fd)

    def folder(self, name: str) -> Directory:
        """Opens a folder in it.

        Raises:
            OSError: It is missing, no folder, or a link.
        """
        if self._fd is not None:
            fd = os.open(name, _FOLDER | _NOFOLLOW, dir_fd=self._fd)
            return Directory(os.path.join(self._path, name), fd)
        path = self._at(name)
        self._refuse_link(name)
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return Directory(path, None)

    def make_folder(self, name: str) -> tuple[Directory, bool]:
        """Makes a folder of mode 0700, whatever the umask, and opens it.

        Returns:
            The folder, and whether it was made here (False: it was there by now).
        """
        try:
            os.mkdir(self._at(name), 0o700, dir_fd=self._fd)
        except FileExistsError:
            return self.folder(name), False
        try:
            return self._open_made(name), True
        except BaseException:
            self.drop(name, folder=True)
            raise

    def read(self, name: str, limit: int) -> Content:
        """Reads a regular file's first bytes.

        Args:
            name: The entry.
            limit: How many bytes at most.

        Raises:
            IsADirectoryError: It is no regular file (a folder, a FIFO, a device).
            OSError: It is missing, a link, or cannot be read.
        """
        fd = self.open_file(name, os.O_RDONLY)
        try:
            status = os.fstat(fd)
            data = bytearray()
            while len(data) < limit:
                chunk = os.read(fd, min(limit - len(data), _CHUNK_BYTES))
                if not chunk:
                    break
                data += chunk
        finally:
            os.close(fd)
        return Content(bytes(data), status)

    def open_file(self, name: str, flags: int) -> int:
        """Opens a regular file; with ``O_CREAT`` a new one has mode 0600, whatever the umask.

        Returns:
            A descriptor, which the caller closes.

        Raises:
            IsADirectoryError: It is no regular file.
            OSError: As ``os.open``.
        """
        self._refuse_link(name)
        try:
            fd = os.open(self._at(name), flags | _FILE, 0o600, dir_fd=self._fd)
        except OSError as error:
            # A socket, or a FIFO that nobody reads.
            if error.errno in {errno.ENXIO, errno.EOPNOTSUPP}:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
            raise
        try:
            mode = _regular_mode(fd)
            if flags & os.O_CREAT and mode != _OWNER_ONLY and hasattr(os, "fchmod"):
                os.fchmod(fd, 0o600)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def replace(self, name: str, data: bytes, check: Callable[[], None] | None = None) -> None:
        """Puts a whole file in place of what is there, down to the disk; a link as an entry.

        Args:
            name: The entry.
            data: The whole file.
            check: Called when all is on disk but the rename; what it raises stops it.

        Raises:
            OSError: It could not be written; what was there is whole, and nothing else is left.
        """
        temporary = f"{TEMPORARY[0]}{os.urandom(8).hex()}{TEMPORARY[1]}"
        try:  # from here: Ctrl-C may come between the file and its descriptor
            fd = self.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            if check is not None:
                check()
            self.rename(temporary, self, name)
        except BaseException:
            self.drop(temporary)
            raise
        self.sync()

    def rename(self, name: str, to: Directory, new_name: str) -> None:
        """Moves an entry, a link as the link, over whatever file is there."""
        os.replace(self._at(name), to._at(new_name), src_dir_fd=self._fd, dst_dir_fd=to._fd)

    def link(self, name: str, to: Directory, new_name: str) -> None:
        """Gives an entry a second name where nothing is; a link as the link.

        Raises:
            FileExistsError: Something has the name.
            OSError: The file system has no such links, or refuses (``EPERM`` for the former).
        """
        if os.link not in os.supports_follow_symlinks:  # it could follow the entry
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        os.link(
            self._at(name),
            to._at(new_name),
            src_dir_fd=self._fd,
            dst_dir_fd=to._fd,
            follow_symlinks=False,
        )

    def make_link(self, name: str, text: str) -> None:
        """Makes a link that says ``text``."""
        os.symlink(text, self._at(name), dir_fd=self._fd)

    def unlink(self, name: str) -> None:
        """Removes a file or a link."""
        os.unlink(self._at(name), dir_fd=self._fd)

    def drop(self, name: str, *, folder: bool = False) -> None:
        """Cleans up after a failure: removes an entry, or an empty folder, if it can."""
        try:
            (os.rmdir if folder else os.unlink)(self._at(name), dir_fd=self._fd)
        except OSError:
            return

    def narrow(self, name: str) -> None:
        """Takes from others what they may do to a file or a folder in it.

        Raises:
            OSError: It is missing, neither, a link, or somebody else's.
        """
        status = self.status(name)
        if status is not None and stat.S_ISDIR(status.st_mode):
            folder = self.folder(name)
            try:
                folder._own()  # noqa: SLF001 - the same class
            finally:
                folder.close()
            return
        fd = self.open_file(name, os.O_RDONLY)
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, _OWNER_ONLY)
        finally:
            os.close(fd)

    def sync(self) -> None:
        """Brings its list of names to the disk, where the file system can."""
        if self._fd is None:
            return
        try:
            os.fsync(self._fd)
        except OSError as error:
            if error.errno not in _NO_FOLDER_SYNC:
                raise

    def _at(self, name: str) -> str:
        return name if self._fd is not None else os.path.join(self._path, name)

    def _open_made(self, name: str) -> Directory:
        try:
            folder = self.folder(name)
        except PermissionError:
            # A umask such as 0777 took the owner's bits, so it cannot be opened before chmod.
            self._grant_owner(name)
            folder = self.folder(name)
        folder._own()  # noqa: SLF001 - the same class
        return folder

    def _own(self) -> None:
        if self._fd is not None:
            os.fchmod(self._fd, 0o700)

    def _refuse_link(self, name: str) -> None:
        """Stands in for ``O_NOFOLLOW`` where descriptors are missing."""
        if self._fd is None and (status := self.status(name)) is not None and is_link(status):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _grant_owner(self, name: str) -> None:
        if os.chmod in os.supports_follow_symlinks or not hasattr(os, "O_PATH"):
            os.chmod(self._at(name), 0o700, dir_fd=self._fd, follow_symlinks=False)
            return
        # Linux cannot chmod a link's own entry, so the folder is pinned first.
        fd = os.open(name, os.O_PATH | _NOFOLLOW, dir_fd=self._fd)
        try:
            os.chmod(f"/proc/self/fd/{fd}", 0o700)
        finally:
            os.close(fd)


def is_link(status: os.stat_result) -> bool:
    """Whether an entry is a symbolic link, or a reparse point such as a Windows junction."""
    return stat.S_ISLNK(status.st_mode) or bool(getattr(status, "st_reparse_tag", 0))


def _regular_mode(fd: int) -> int:
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return stat.S_IMODE(mode)


def write_all(fd: int, data: bytes) -> None:
    """Writes every byte, however few the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]

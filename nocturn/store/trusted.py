"""A file of permissions in a workspace: read whole, and taken only if it is trusted.

Trust is in the content (``trust.py``). Who could change the file is looked at all the same: where
others can write it or its folder, they can take away what it denies, and nobody would see that.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from nocturn.errors import CONFLICT, NOT_FOUND, ConfigurationError, NocturnError
from nocturn.store.confined import Folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.store.trust import TrustBook

__all__ = ["TrustedFile", "exposure"]

T = TypeVar("T")

_SETTLED_NANOSECONDS: Final = 3_000_000_000
"""Longer than a tick of any file system's clock: two changes in one tick have one time stamp."""

_Stamp: TypeAlias = tuple[int, ...]


class TrustedFile(Generic[T]):
    """One file of a workspace, and what it says.

    Args:
        path: Where it is or would be.
        trust: The user's book of trusted contents.
        parse: Makes of the bytes what they say; raises ``ConfigurationError`` for broken ones.
        limit_bytes: How large it may be.
        otherwise: What happens once it has been moved away, for people.
    """

    def __init__(
        self,
        path: Path,
        trust: TrustBook,
        parse: Callable[[bytes], T],
        *,
        limit_bytes: int,
        otherwise: str,
    ) -> None:
        # The workspace may be a link, which is the user's; what is in it may not.
        self.folder: Final = Path(os.path.realpath(path.parent))
        self.path: Final = self.folder / path.name
        self._trust = trust
        self._parse = parse
        self._limit_bytes = limit_bytes
        self._otherwise = otherwise
        self._lock = threading.Lock()
        self._kept: tuple[tuple[_Stamp, _Stamp], T] | None = None

    def load(self) -> T | None:
        """Returns what the file says now; None where it is missing.

        It is read again when it, or the book of trust, may have changed.

        Raises:
            ConfigurationError: It is broken, cannot be read or is not trusted, or others could
                change it; it is left as it is.
        """
        self._require_private_folder()
        stamp = self._stamp(self.path)
        if not stamp:
            return None
        state = (stamp, self._stamp(self._trust.path))
        with self._lock:
            if self._kept is not None and self._kept[0] == state:
                return self._kept[1]
            data = self.read()
            if data is None:
                return None
            value = self.trusted(data)
            changed = max(each[-1] for each in state if each)
            settled = changed <= time.time_ns() - _SETTLED_NANOSECONDS
            self._kept = (state, value) if settled else None
            return value

    def read(self) -> bytes | None:
        """Returns the file's bytes, trusted or not; None where it is missing.

        Raises:
            ConfigurationError: It is no plain file, is too large or cannot be read, or others could
                change it.
        """
        self._require_private_folder()
        try:
            content = Folder(self.folder).read(self.path.name, self._limit_bytes + 1)
        except NocturnError as error:
            if error.code == NOT_FOUND and not os.path.islink(self.path):
                return None
            raise self._unusable(f"cannot be read ({error.message})") from None
        if content.link is not None:
            raise self._unusable("is a link")
        if reason := exposure(content.status):
            raise ConfigurationError(f"{self.path.name} {reason}")
        if len(content.data) > self._limit_bytes:
            raise self._unusable(f"is over {self._limit_bytes:,} bytes")
        return content.data

    def parsed(self, data: bytes) -> T:
        """Returns what these bytes say, trusted or not.

        Raises:
            ConfigurationError: They are broken.
        """
        return self._parse(data)

    def is_trusted(self, data: bytes) -> bool:
        """Returns whether these bytes are trusted in this place.

        Raises:
            ConfigurationError: The book of trust is broken.
        """
        return self._trust.is_trusted(self.path, data)

    def trusted(self, data: bytes) -> T:
        """Returns what these bytes say, once they are found to be trusted in this place.

        Raises:
            ConfigurationError: They are broken, or not trusted.
        """
        value = self._parse(data)
        if not self.is_trusted(data):
            raise self._unusable(
                "was not written in this place by this user's nocturn, or was changed since",
                "look at it and take it with nocturn trust, or ",
            )
        return value

    def replace(self, new: bytes, old: bytes | None) -> None:
        """Puts new bytes there. A crash at any point leaves a file that is whole and trusted.

        Args:
            new: The whole file.
            old: What is there, which is trusted; None where nothing may be there.

        Raises:
            ConfigurationError: Others could change it, or the book of trust is broken.
            NocturnError: ``CONFLICT`` where it came or went just now; ``STORAGE`` where it cannot
                be written.
        """
        self._require_private_folder()
        # Both are trusted while either may be there.
        self._trust.record(self.path, *([] if old is None else [old]), new)
        with Folder(self.folder).place(self.path.name) as place:
            if (place.entry is None) != (old is None):
                message = f"{self.path.name} was changed just now: look at it, and try again"
                raise NocturnError(CONFLICT, message)
            place.replace_file(new, unchanged=True)
        self._trust.record(self.path, new)

    def _require_private_folder(self) -> None:
        try:
            status = os.lstat(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            raise self._hidden() from None
        if reason := exposure(status):
            raise ConfigurationError(f"the workspace's folder {reason}")

    def _stamp(self, path: Path) -> _Stamp:
        """Returns what changes when the file does, the time of its last change at the end."""
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError:
            raise self._hidden() from None
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns

    def _hidden(self) -> ConfigurationError:
        return ConfigurationError(
            f"{self.path.name} cannot be looked at: check who owns the workspace and its modes"
        )

    def _unusable(self, reason: str, before: str = "") -> ConfigurationError:
        return ConfigurationError(
            f"{self.path.name} {reason}: {before}move it away, and {self._otherwise}"
        )


def exposure(status: os.stat_result) -> str:
    """Returns how others could change a file or folder, and the way out; empty where they cannot.

    Its group may, if it is the one that many systems give to each user alone.
    """
    if os.name != "posix":
        return ""
    user = os.geteuid()
    if user != 0 and status.st_uid not in (user, 0):
        return "belongs to another user, who could change it: make it yours (chown)"
    group_may = bool(status.st_mode & stat.S_IWGRP) and not _is_own_group(status.st_gid, user)
    if group_may or status.st_mode & stat.S_IWOTH:
        return "can be changed by others: take that from them (chmod go-w)"
    return ""


def _is_own_group(group: int, user: int) -> bool:
    import grp
    import pwd

    try:
        name, found = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}

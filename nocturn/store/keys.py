"""Keys, in the user's data folder and never in a workspace: a copied folder carries none along."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import threading
from pathlib import Path
from typing import Final

from nocturn.errors import NOT_FOUND, ConfigurationError, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.lock import locked

__all__ = ["KEY_BYTES", "KeyFile", "LocalKey"]

KEY_BYTES: Final = 32
_KEY: Final = "local.key"
_TOKEN_CHARACTERS: Final = 32
"""128 bits: nobody meets a collision, and a version stays short enough to show."""


class KeyFile:
    """A random key of this user's, in a private file of its own.

    Args:
        folder: The user's data folder; the key is in its ``keys/``.
        name: The file's name there.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = Path(os.path.realpath(folder)) / "keys"
        self._name = name

    def read(self) -> bytes | None:
        """Gives the key, ``KEY_BYTES`` long; None where there is none, and none is made.

        Raises:
            ConfigurationError: The file is not one that nocturn made; it is left as it is.
            NocturnError: ``STORAGE`` where it cannot be read.
        """
        try:
            content = Folder(self._folder).read(self._name, KEY_BYTES + 1)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise
        reason = None
        if len(content.data) != KEY_BYTES:
            reason = f"is not {KEY_BYTES} bytes long"
        elif content.link is not None:
            reason = "is a link"
        elif os.name == "posix" and stat.S_IMODE(content.status.st_mode) & 0o077:
            reason = "can be read by others (mode 0600 is right)"
        if reason is not None:
            message = (
                f"keys/{self._name} in the data folder {reason}: mend it, or move it away and "
                "nocturn makes a new one"
            )
            raise ConfigurationError(message)
        return content.data

    def make(self) -> bytes:
        """Makes the key, or gives the one that another process has made by now.

        Raises:
            ConfigurationError: As :meth:`read`.
            NocturnError: ``STORAGE`` where it cannot be made.
        """
        # Under a lock, so that two processes which race end with one key.
        with locked(self._folder, ".lock"):
            there = self.read()
            if there is not None:
                return there
            key = os.urandom(KEY_BYTES)
            with Folder(self._folder).place(self._name) as place:
                place.replace_file(key)
            return key


class LocalKey:
    """This user's key for hashes that should tell nobody else anything; made on first use.

    Args:
        folder: The user's data folder; the key is its ``keys/local.key``.
    """

    def __init__(self, folder: Path) -> None:
        self._file = KeyFile(folder, _KEY)
        self._lock = threading.Lock()
        self._key: bytes | None = None

    def token(self, purpose: str, data: bytes) -> str:
        """Hashes ``data`` with the key.

        Args:
            purpose: What the token is for; tokens of two purposes never match.
            data: What to hash.

        Returns:
            32 hexadecimal digits.

        Raises:
            ConfigurationError: The key file is not one that nocturn made; it is left as it is.
            NocturnError: ``STORAGE`` where it cannot be read or made.
        """
        with self._lock:
            if self._key is None:
                self._key = self._file.read() or self._file.make()
        tagged = purpose.encode() + b"\0" + data
        return hmac.new(self._key, tagged, hashlib.sha256).hexdigest()[:_TOKEN_CHARACTERS]

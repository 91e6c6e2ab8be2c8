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

__all__ = ["LocalKey"]

_KEY_BYTES: Final = 32
_KEY: Final = "local.key"
_TOKEN_CHARACTERS: Final = 32
"""128 bits: nobody meets a collision, and a version stays short enough to show."""


class LocalKey:
    """This user's key for hashes that should tell nobody else anything; made on first use.

    Args:
        folder: The user's data folder; the key is its ``keys/local.key``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder)) / "keys"
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
                self._key = self._read() or self._make()
        tagged = purpose.encode() + b"\0" + data
        return hmac.new(self._key, tagged, hashlib.sha256).hexdigest()[:_TOKEN_CHARACTERS]

    def _read(self) -> bytes | None:
        try:
            content = Folder(self._folder).read(_KEY, _KEY_BYTES + 1)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise
        reason = None
        if len(content.data) != _KEY_BYTES:
            reason = f"is not {_KEY_BYTES} bytes long"
        elif content.link is not None:
            reason = "is a link"
        elif os.name == "posix" and stat.S_IMODE(content.status.st_mode) & 0o077:
            reason = "can be read by others (mode 0600 is right)"
        if reason is not None:
            message = (
                f"keys/{_KEY} in the data folder {reason}: mend it, or move it away and nocturn "
                "makes a new one"
            )
            raise ConfigurationError(message)
        return content.data

    def _make(self) -> bytes:
        # Under a lock, so that two processes which race end with one key.
        with locked(self._folder, ".lock"):
            there = self._read()
            if there is not None:
                return there
            key = os.urandom(_KEY_BYTES)
            with Folder(self._folder).place(_KEY) as place:
                place.replace_file(key)
            return key

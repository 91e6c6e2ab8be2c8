"""The master key: one of a user's, from which each workspace's own key is made.

In this order, for a vault that is made: a passphrase (``NOCTURN_MASTER_PASSPHRASE``, the file that
``NOCTURN_MASTER_PASSPHRASE_FILE`` names, systemd's credential ``nocturn-master-passphrase``), the
system's keyring where ``NOCTURN_KEYRING=1`` asks for it, else a key file in the user's data folder.
A vault that is there says itself which kind it needs. What each protects against: docs/security.md.
"""

from __future__ import annotations

import base64
import binascii
import os
import threading
from enum import Enum
from typing import TYPE_CHECKING, Final

from nocturn.errors import ConfigurationError
from nocturn.store.keys import KEY_BYTES, KeyFile
from nocturn.store.lock import locked

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Kind", "MasterKey", "given_passphrase", "stretched"]

_PASSPHRASE: Final = "NOCTURN_MASTER_PASSPHRASE"  # noqa: S105 - its variable's name
_CREDENTIAL: Final = "nocturn-master-passphrase"
_PASSPHRASE_BYTES: Final = 4_096
_FILE: Final = "master.key"
_SERVICE, _USER = "nocturn", "master-key"


class Kind(Enum):
    """What a vault's master key is."""

    FILE = "file"
    PASSPHRASE = "passphrase"  # noqa: S105 - a kind's name
    KEYRING = "keyring"


class MasterKey:
    """This user's master keys that are not a passphrase, and which kind a new vault gets.

    Args:
        folder: The user's data folder; the key file is its ``keys/master.key``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = KeyFile(folder, _FILE)

    def kind(self) -> Kind:
        """Gives the kind that a new vault gets, by what is given.

        Raises:
            ConfigurationError: A passphrase that is given is not usable.
        """
        if given_passphrase() is not None:
            return Kind.PASSPHRASE
        return Kind.KEYRING if _is_keyring_asked_for() else Kind.FILE

    def read(self, kind: Kind) -> bytes | None:
        """Gives the key file's or the keyring's key; None where there is none.

        Raises:
            ConfigurationError: It is not one that nocturn made, or the keyring is not asked for,
                not installed or refuses.
            NocturnError: ``STORAGE`` where the file cannot be read.
        """
        return self._file.read() if kind is Kind.FILE else _from_keyring()

    def make(self, kind: Kind) -> bytes:
        """Gives the key, which is made where there is none.

        Raises:
            ConfigurationError: As :meth:`read`.
            NocturnError: ``STORAGE`` where the file cannot be made.
        """
        if kind is Kind.FILE:
            return self._file.read() or self._file.make()
        if (key := _from_keyring()) is not None:
            return key
        # Under a lock, so that two processes which race end with one key.
        with locked(self._folder / "keys", ".lock"):
            if (key := _from_keyring()) is None:
                key = os.urandom(KEY_BYTES)
                _into_keyring(key)
        return key


def given_passphrase() -> str | None:
    """Gives the master passphrase, or None where none is given.

    ``NOCTURN_MASTER_PASSPHRASE`` is taken out of the environment, so that no program which this
    process starts gets it; it is kept for the process's other workspaces.

    Raises:
        ConfigurationError: It is empty, not UTF-8, over 4,096 bytes, or its file cannot be read.
    """
    with _taking:
        given = os.environ.pop(_PASSPHRASE, None)
        if given is not None:
            _taken[:] = [_checked(os.fsencode(given), _PASSPHRASE)]
        if _taken:
            return _taken[0]
    if file := os.environ.get(f"{_PASSPHRASE}_FILE"):
        data = _read(file)
        if data is None:
            raise ConfigurationError(
                f"the file that {_PASSPHRASE}_FILE names cannot be read: check its path and modes"
            )
        return _checked(_without_line_end(data), f"the file that {_PASSPHRASE}_FILE names")
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    credential = os.path.join(folder, _CREDENTIAL) if folder else ""
    if credential and os.path.lexists(credential):
        data = _read(credential)
        if data is None:
            raise ConfigurationError(
                f"the credential {_CREDENTIAL} cannot be read: check the unit's LoadCredential="
            )
        return _checked(_without_line_end(data), f"the credential {_CREDENTIAL}")
    return None


def stretched(passphrase: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    """Makes a key of a passphrase by scrypt (RFC 7914), in ``128 * r << log2_n`` bytes of memory.

    Args:
        passphrase: The passphrase; composed (NFC), so that every keyboard's spelling is the same.
        salt: The vault's own.
        log2_n: The binary logarithm of the cost.
        r: The block size.
        p: How many times over.

    Returns:
        ``KEY_BYTES`` bytes.
    """
    import unicodedata

    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    text = unicodedata.normalize("NFC", passphrase).encode()
    return Scrypt(salt=salt, length=KEY_BYTES, n=1 << log2_n, r=r, p=p).derive(text)


_taking: Final = threading.Lock()
_taken: Final[list[str]] = []
"""The passphrase that was in the environment of this process, where one was."""


def _read(file: str) -> bytes | None:
    try:
        with open(file, "rb") as passphrase:
            return passphrase.read(_PASSPHRASE_BYTES + 2)
    except OSError:
        return None


def _without_line_end(data: bytes) -> bytes:
    return data.removesuffix(b"\n").removesuffix(b"\r") if data.endswith(b"\n") else data


def _checked(data: bytes, what: str) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    # Raised out here: the decoder's error would carry the passphrase along.
    if text is None:
        raise ConfigurationError(f"{what} holds no UTF-8: give a passphrase that is text")
    if not text:
        raise ConfigurationError(f"{what} is empty: give a passphrase, or unset it")
    if len(data) > _PASSPHRASE_BYTES:
        raise ConfigurationError(
            f"{what} is over {_PASSPHRASE_BYTES:,} bytes: give a shorter passphrase"
        )
    return text


def _is_keyring_asked_for() -> bool:
    asked = os.environ.get("NOCTURN_KEYRING", "")
    if asked not in ("", "0", "1"):
        raise ConfigurationError("NOCTURN_KEYRING is neither 1 nor 0: set it to 1, or unset it")
    return asked == "1"


def _from_keyring() -> bytes | None:
    if not _is_keyring_asked_for():
        raise ConfigurationError(
            "the vault's key is in the system's keyring, and nobody asked for that: set "
            "NOCTURN_KEYRING=1"
        )
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise ConfigurationError(
            "NOCTURN_KEYRING is 1 and the keyring is not installed: pip install 'nocturn[keyring]'"
        ) from None

    try:
        kept = keyring.get_password(_SERVICE, _USER)
    except KeyringError as error:
        raise _refused(error) from None
    if kept is None:
        return None
    try:
        key = base64.b64decode(kept, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            f"the keyring's entry {_SERVICE}/{_USER} is not one that nocturn made: mend it, or "
            "remove it"
        )
    return key


def _into_keyring(key: bytes) -> None:
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(_SERVICE, _USER, base64.b64encode(key).decode())
    except KeyringError as error:
        raise _refused(error) from None


def _refused(error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"the system's keyring refused ({type(error).__name__}): unlock it, or unset "
        "NOCTURN_KEYRING"
    )

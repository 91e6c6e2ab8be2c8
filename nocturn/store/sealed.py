"""The form of ``vault.enc``: a header that everybody may read, and a box that only its key opens.

Header: 16 bytes of magic with the version, the master key's kind, scrypt's three parameters (0 for
the other kinds), a random salt and a random identity, 16 bytes each. Then a nonce of 12 bytes and
AES-256-GCM's box. The box's key is made by HKDF-SHA-256 of the master key, salted, for this
identity; the whole header is its associated data, so that no byte of the file can be changed.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Final

from nocturn.errors import ConfigurationError
from nocturn.store.master import Kind

__all__ = ["Header", "new_header", "opened", "parsed", "sealed", "unopenable"]

_MAGIC: Final = b"nocturn vault 1\n"
_HEADER: Final = struct.Struct(">16sBBBB16s16s")
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_KEY_BYTES: Final = 32
_KINDS: Final = (Kind.FILE, Kind.PASSPHRASE, Kind.KEYRING)

_COST: Final = (16, 8, 2)
"""64 MiB, a quarter of a second: one of the equals that OWASP's password storage sheet names."""
_LOG2_N: Final = range(14, 19)
_R: Final = range(8, 9)
_P: Final = range(1, 5)
"""What is taken from a header: at most 256 MiB and a few seconds, whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Header:
    """What stands in front of the box.

    Attributes:
        kind: What the master key is.
        cost: scrypt's binary logarithm of n, its r and its p; zeros where no passphrase is.
        salt: Random, 16 bytes; anew with each key.
        identity: Random, 16 bytes: which vault this is.
    """

    kind: Kind
    cost: tuple[int, int, int]
    salt: bytes
    identity: bytes

    def to_bytes(self) -> bytes:
        """Gives it as it stands in the file."""
        kind = _KINDS.index(self.kind) + 1
        return _HEADER.pack(_MAGIC, kind, *self.cost, self.salt, self.identity)


def new_header(kind: Kind) -> Header:
    """Makes the header of a new vault, or of one that gets a new key."""
    cost = _COST if kind is Kind.PASSPHRASE else (0, 0, 0)
    return Header(kind, cost, os.urandom(16), os.urandom(16))


def parsed(data: bytes) -> tuple[Header, bytes]:
    """Takes a file apart.

    Returns:
        The header, whose cost is within bounds, and the box with its nonce.

    Raises:
        ConfigurationError: It is no vault.
    """
    if len(data) < _HEADER.size + _NONCE_BYTES + _TAG_BYTES:
        raise unopenable()
    head: tuple[bytes, int, int, int, int, bytes, bytes] = _HEADER.unpack_from(data)
    magic, number, log2_n, r, p, salt, identity = head
    if magic != _MAGIC or not 1 <= number <= len(_KINDS):
        raise unopenable()
    kind = _KINDS[number - 1]
    bounds = (_LOG2_N, _R, _P) if kind is Kind.PASSPHRASE else (range(1),) * 3
    if not all(each in bound for each, bound in zip((log2_n, r, p), bounds, strict=True)):
        raise unopenable()
    return Header(kind, (log2_n, r, p), salt, identity), data[_HEADER.size :]


def sealed(header: Header, master: bytes, plain: bytes) -> bytes:
    """Makes the whole file, under a nonce of its own."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    head, nonce = header.to_bytes(), os.urandom(_NONCE_BYTES)
    return head + nonce + AESGCM(_data_key(header, master)).encrypt(nonce, plain, head)


def opened(header: Header, master: bytes, box: bytes) -> bytes:
    """Opens the box.

    Raises:
        ConfigurationError: A byte of the file was changed, or this is not its master key.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, rest = box[:_NONCE_BYTES], box[_NONCE_BYTES:]
    try:
        return AESGCM(_data_key(header, master)).decrypt(nonce, rest, header.to_bytes())
    except InvalidTag:
        raise unopenable() from None


def unopenable() -> ConfigurationError:
    """Gives the one error for a file that was changed, a foreign one and a wrong key."""
    return ConfigurationError(
        "vault.enc cannot be opened: it was changed or damaged, or it was made with another "
        "master key; it was left as it is: give the key that it was made with, or move it away "
        "and begin anew"
    )


def _data_key(header: Header, master: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    info = b"nocturn vault 1 data key\0" + header.identity
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=header.salt, info=info).derive(master)

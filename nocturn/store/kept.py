"""Heads that are kept from one process to the next, in a file that only this user can have made.

It is derived, so whatever is wrong with it costs a look at the notes and nothing else. A file that
somebody else has put there could say of a note what the note does not, so it is sealed with the
user's key. All in it is redacted, by the secrets of the time: with others it is not believed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import NocturnError
from nocturn.store.confined import Folder
from nocturn.store.heads import Head
from nocturn.store.packing import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["KeptHeads"]

_LOG: Final = logging.getLogger("nocturn")
_FILE: Final = "catalog.json"
_LIMIT_BYTES: Final = 64 * 1_048_576
"""Some 300,000 notes."""
# What is sealed, and in which form: another one must get another name.
_HEADS: Final = b"heads 1\0"
_STATE: Final = b"state 1\0"


class _Loaded:
    """Heads by path; the file has hashes of the paths, since a name may hold a secret."""

    def __init__(self, heads: Mapping[str, Head]) -> None:
        self._heads = heads

    def get(self, path: str, /) -> Head | None:
        """Gives what was kept of a note."""
        return self._heads.get(_named(path)) if self._heads else None


class KeptHeads:
    """The file ``catalog.json``.

    Args:
        folder: The workspace's ``.nocturn/``; where it is missing nothing is kept.
        token: The keyed hash that seals it.
    """

    def __init__(self, folder: Path, token: Callable[[bytes], str]) -> None:
        self._place = folder
        self._token = token

    def load(self, state: bytes) -> _Loaded:
        """Gives the heads that were kept, none where they cannot be believed.

        Args:
            state: Of the redaction, as it is now.
        """
        try:
            return _Loaded(self._believed(state))
        except (NocturnError, ValueError):
            return _Loaded({})

    def save(self, state: bytes, heads: Mapping[str, Head]) -> None:
        """Keeps those heads that will be believed, if there is a folder for it.

        Args:
            state: Of the redaction by which they were redacted.
            heads: By path, as spelled on disk.
        """
        if not os.path.isdir(self._place):
            return
        rows = [_row(path, head) for path, head in heads.items() if head.stamp is not None]
        try:
            said = {"state": self._token(_STATE + state), "heads": rows}
            body = json.dumps(said, separators=(",", ":")).encode()
            if len(body) < _LIMIT_BYTES:
                with Folder(self._place).place(_FILE) as place:
                    place.replace_file(self._seal(body) + b"\n" + body)
        except NocturnError as error:  # it is no more than a head start
            _LOG.debug("the heads of the notes were not kept: %s", error.message)

    def remove(self) -> None:
        """Removes the file.

        Raises:
            NocturnError: ``STORAGE``, where the disk does not let it go.
        """
        with Folder(self._place).place(_FILE) as place:
            place.remove()

    def _believed(self, state: bytes) -> dict[str, Head]:
        if not os.path.isdir(self._place):
            return {}
        content = Folder(self._place).read(_FILE, _LIMIT_BYTES)
        seal, _, body = content.data.partition(b"\n")
        if not hmac.compare_digest(seal, self._seal(body)):
            return {}
        said = json.loads(body)
        if said["state"] != self._token(_STATE + state):
            return {}
        return dict(map(_parsed, said["heads"]))

    def _seal(self, body: bytes) -> bytes:
        return self._token(_HEADS + body).encode()


def _named(path: str) -> str:
    data = path.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _row(path: str, head: Head) -> list[Any]:
    return [_named(path), head.stamp, head.line.path, head.line.text, head.warning]


def _parsed(row: list[Any]) -> tuple[str, Head]:
    name, stamp, path, text, warning = row
    device, inode, size, modified_ns, changed_ns = stamp
    line = Line(path, text, modified_ns)
    return name, Head(line, warning, (device, inode, size, modified_ns, changed_ns))

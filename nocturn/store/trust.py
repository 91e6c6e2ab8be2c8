"""Which policy and grants files this user's nocturn wrote, or was told to trust, by content hash.

A folder that came from elsewhere brings no permissions with it: what is trusted is kept in the
user's data folder, never beside the file itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import NOT_FOUND, ConfigurationError, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.lock import locked
from nocturn.store.trusted import exposure

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["TrustBook"]

_BOOK: Final = "trust.json"
_BOOK_BYTES: Final = 16 * 1_048_576
_BROKEN: Final = (
    f"{_BOOK} in the data folder is broken: mend it, or move it away and nothing is trusted"
)


class TrustBook:
    """The hashes that are trusted, for each file by its real path.

    Args:
        folder: The user's data folder; the book is its ``trust.json``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(os.path.realpath(folder))
        self.path: Final = self._folder / _BOOK
        """Where the book is or would be; it is another file after each change."""

    def is_trusted(self, path: Path, data: bytes) -> bool:
        """Whether exactly this content is trusted at this path.

        Raises:
            ConfigurationError: The book is broken; it is left as it is.
        """
        return _hash(data) in self._load().get(_key(path), [])

    def record(self, path: Path, *data: bytes) -> None:
        """Trusts these contents at this path, and no other any more.

        Raises:
            ConfigurationError: The book is broken; it is left as it is.
            NocturnError: ``STORAGE`` where it cannot be written.
        """
        with locked(self._folder, ".trust.lock"):
            self._save({**self._load(), _key(path): sorted({_hash(each) for each in data})})

    def entries(self) -> dict[str, list[str]]:
        """Returns the hashes (SHA-256, in hex) that are trusted, for each file by its real path.

        Raises:
            ConfigurationError: The book is broken; it is left as it is.
        """
        return self._load()

    def forget(self, paths: Iterable[Path]) -> list[Path]:
        """Trusts nothing at these paths any more; returns those at which something was.

        Raises:
            ConfigurationError: The book is broken; it is left as it is.
            NocturnError: ``STORAGE`` where it cannot be written.
        """
        known = self._load()
        gone = {_key(path): path for path in paths if _key(path) in known}
        if gone:
            with locked(self._folder, ".trust.lock"):
                files = self._load()
                self._save({key: files[key] for key in files if key not in gone})
        return list(gone.values())

    def _save(self, files: dict[str, list[str]]) -> None:
        book = {"version": 1, "files": files}
        text = json.dumps(book, indent=2, sort_keys=True, ensure_ascii=False)
        with Folder(self._folder).place(_BOOK) as place:
            place.replace_file(f"{text}\n".encode())

    def _load(self) -> dict[str, list[str]]:
        try:
            content = Folder(self._folder).read(_BOOK, _BOOK_BYTES)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return {}
            message = f"{_BOOK} in the data folder: {error.message}"
            raise ConfigurationError(message) from None
        if reason := exposure(content.status):
            raise ConfigurationError(f"{_BOOK} in the data folder {reason}")
        return _parsed(content.data)


def _parsed(data: bytes) -> dict[str, list[str]]:
    from pydantic import ValidationError

    try:
        files: dict[str, list[str]] = _book().model_validate_json(data).files
    except ValidationError:
        raise ConfigurationError(_BROKEN) from None
    return files


@cache
def _book() -> Any:
    """Makes the file's model on first use: ``import nocturn`` loads no pydantic."""
    from typing import Literal

    from pydantic import BaseModel, ConfigDict

    class Book(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
        version: Literal[1]
        files: dict[str, list[str]]

    return Book


def _key(path: Path) -> str:
    # A name that is not UTF-8 cannot stand in JSON; its bytes are written out.
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

"""Grants: the yeses that are remembered in a workspace's ``grants.json``.

The file is taken only if this user's nocturn wrote it: see ``trust.py``. A target is a name, never
a pattern: a literal ``*`` in it is a star.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.effects import Grant
from nocturn.errors import NOT_FOUND, ConfigurationError, NocturnError
from nocturn.store.confined import Folder
from nocturn.store.lock import locked

if TYPE_CHECKING:
    from nocturn.store.trust import TrustBook

__all__ = ["GrantFile"]

_GRANTS_BYTES: Final = 8 * 1_048_576
_WAY_OUT: Final = "move it away, and nocturn begins with no grants"


class GrantFile:
    """The grants of one workspace.

    Args:
        path: Where ``grants.json`` is or would be; its folder gets ``.nocturn/`` for the lock.
        trust: The user's book of trusted contents.
    """

    def __init__(self, path: Path, trust: TrustBook) -> None:
        # The workspace may be a link, which is the user's; what is in it may not.
        self._folder = Path(os.path.realpath(path.parent))
        self._path = self._folder / path.name
        self._trust = trust

    def load(self) -> tuple[Grant, ...]:
        """Reads the grants; none where the file is missing.

        Raises:
            ConfigurationError: It is broken, cannot be read, or is not one that this user's
                nocturn wrote; it is left as it is.
        """
        data = self._read()
        return () if data is None else self._trusted(data)

    def add(self, grant: Grant) -> None:
        """Remembers a grant. A crash at any point leaves a file that is whole and trusted.

        Raises:
            ConfigurationError: As :meth:`load`.
            NocturnError: ``STORAGE`` where it cannot be written.
        """
        with locked(self._folder / ".nocturn", "grants.lock"):
            old = self._read()
            grants = () if old is None else self._trusted(old)
            if grant in grants:
                return
            rows = [asdict(each) for each in (*grants, grant)]
            text = json.dumps({"version": 1, "grants": rows}, indent=2, ensure_ascii=False)
            new = f"{text}\n".encode()
            # Both are trusted while either may be there.
            self._trust.record(self._path, *([] if old is None else [old]), new)
            with Folder(self._folder).place(self._path.name) as place:
                place.replace_file(new)
            self._trust.record(self._path, new)

    def _read(self) -> bytes | None:
        try:
            content = Folder(self._folder).read(self._path.name, _GRANTS_BYTES)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            reason = f"cannot be read ({error.message})"
            raise _unusable(reason) from None
        if content.link is not None:
            raise _unusable("is a link")
        return content.data

    def _trusted(self, data: bytes) -> tuple[Grant, ...]:
        grants = _parsed(data)
        if not self._trust.is_trusted(self._path, data):
            raise _unusable(
                "was not written in this place by this user's nocturn, or was changed since"
            )
        return grants


def _parsed(data: bytes) -> tuple[Grant, ...]:
    from pydantic import ValidationError

    try:
        rows = _book().model_validate_json(data).grants
    except ValidationError as error:
        reason = "is broken at " + (".".join(map(str, error.errors()[0]["loc"])) or "its beginning")
        raise _unusable(reason) from None
    return tuple(Grant(**row.model_dump()) for row in rows)


@cache
def _book() -> Any:
    """Makes the file's model on first use: ``import nocturn`` loads no pydantic."""
    from typing import Literal

    from pydantic import BaseModel, ConfigDict, Field

    class Row(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
        agent: str = Field(min_length=1)
        kind: str = Field(min_length=1)
        verb: str = Field(min_length=1)
        target: str = Field(min_length=1)
        folder: bool = False

    class Book(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
        version: Literal[1]
        grants: list[Row]

    return Book


def _unusable(reason: str) -> ConfigurationError:
    return ConfigurationError(f"grants.json {reason}: {_WAY_OUT}")

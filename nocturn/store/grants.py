"""Grants: the yeses that are remembered in a workspace's ``grants.json``.

The file is taken only if this user's nocturn wrote it, or was told to trust it. A target is a name,
never a pattern: a literal ``*`` in it is a star, and a folder's grant says so apart.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nocturn.effects import Grant, iso
from nocturn.errors import ConfigurationError
from nocturn.store.lock import locked
from nocturn.store.trusted import TrustedFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from nocturn.store.purging import Doomed
    from nocturn.store.trust import TrustBook

__all__ = ["GRANTS", "GRANTS_BYTES", "GrantFile"]

GRANTS: Final = "grants.json"
GRANTS_BYTES: Final = 8 * 1_048_576
_OTHERWISE: Final = "nocturn begins with no grants"


class GrantFile:
    """The grants of one workspace.

    Args:
        path: Where ``grants.json`` is or would be; its folder gets ``.nocturn/`` for the lock.
        trust: The user's book of trusted contents.
    """

    def __init__(self, path: Path, trust: TrustBook) -> None:
        self.file: Final = TrustedFile(
            path,
            trust,
            _parsed,
            limit_bytes=GRANTS_BYTES,
            otherwise=_OTHERWISE,
        )

    def load(self) -> tuple[Grant, ...]:
        """Returns the grants, those too that have expired; none where the file is missing.

        Raises:
            ConfigurationError: It is broken, cannot be read or is not trusted, or others could
                change it; it is left as it is.
        """
        return self.file.load() or ()

    def add(self, grant: Grant) -> None:
        """Remembers a grant; one that differs only in its times is replaced.

        Raises:
            ConfigurationError: As :meth:`load`.
            NocturnError: ``STORAGE`` where it cannot be written; nothing was changed.
        """
        with self._locked():
            old, grants = self._now()
            if grant in grants:
                return
            others = (each for each in grants if each.id != grant.id)
            made = grant.made_at or datetime.now(UTC)
            self._save((*others, replace(grant, made_at=made)), old)

    def revoke(self, *ids: str) -> tuple[Grant, ...]:
        """Takes grants back, for good once this returns.

        Args:
            *ids: The ids of those that shall go.

        Returns:
            Those that went; empty where none has such an id.

        Raises:
            ConfigurationError: As :meth:`load`.
            NocturnError: ``STORAGE`` where it cannot be written; nothing was changed.
        """
        if not any(each.id in ids for each in self.load()):
            return ()
        with self._locked():
            old, grants = self._now()
            gone = tuple(each for each in grants if each.id in ids)
            self._save((each for each in grants if each not in gone), old)
            return gone

    def purge(self, doomed: Doomed) -> int:
        """Takes back each grant that names a note or holds a value, for good.

        Returns:
            How many there were, those that had expired included.

        Raises:
            ConfigurationError: As :meth:`load`.
            NocturnError: ``STORAGE`` where it cannot be written; nothing was changed.
        """
        if self.file.read() is None:
            return 0
        with self._locked():
            old, grants = self._now()
            kept = [each for each in grants if not _is_in(doomed, each)]
            if len(kept) < len(grants):
                self._save(kept, old)
            return len(grants) - len(kept)

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.file.folder / ".nocturn", "grants.lock")

    def _now(self) -> tuple[bytes | None, tuple[Grant, ...]]:
        data = self.file.read()
        return data, () if data is None else self.file.trusted(data)

    def _save(self, grants: Iterable[Grant], old: bytes | None) -> None:
        """Writes the file anew; what has expired is left out."""
        rows = [_row(each) for each in grants if not each.expired]
        text = json.dumps({"version": 2, "grants": rows}, indent=2, ensure_ascii=False)
        self.file.replace(f"{text}\n".encode(), old)


def _is_in(doomed: Doomed, grant: Grant) -> bool:
    if doomed.has(grant.target):
        return True
    row = _row(grant)
    return bool(doomed.struck(row) != row)


def _row(grant: Grant) -> dict[str, Any]:
    return {
        "agent": grant.agent,
        "kind": grant.kind,
        "verb": grant.verb,
        "target": grant.target,
        "folder": grant.folder,
        "made_at": iso(grant.made_at),
        "expires_at": iso(grant.expires_at),
    }


def _parsed(data: bytes) -> tuple[Grant, ...]:
    from pydantic import ValidationError

    try:
        rows = _book().model_validate_json(data).grants
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in found["loc"]) or "its beginning"
        message = f"{GRANTS} is broken at {where}: move it away, and {_OTHERWISE}"
        raise ConfigurationError(message) from None
    return tuple(Grant(**dict(row)) for row in rows)


def _moment(text: object) -> datetime | None:
    """Reads a time as :func:`nocturn.effects.iso` writes it; pydantic's own would take numbers."""
    if text is None:
        return None
    moment = datetime.fromisoformat(str(text))
    if iso(moment) != text or moment.tzinfo is not UTC:
        raise ValueError
    return moment


@cache
def _book() -> Any:
    """Makes the file's model on first use: ``import nocturn`` loads no pydantic."""
    from typing import Annotated, Literal

    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

    class Row(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
        agent: str = Field(min_length=1)
        kind: str = Field(min_length=1)
        verb: str = Field(min_length=1)
        target: str = Field(min_length=1)
        folder: bool = False
        made_at: Annotated[datetime | None, BeforeValidator(_moment)] = None
        expires_at: Annotated[datetime | None, BeforeValidator(_moment)] = None

    class Book(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
        version: Literal[1, 2]  # in the first one no grant has a time
        grants: list[Row]

    return Book

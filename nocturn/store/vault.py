"""The vault: a workspace's named secrets, in ``vault.enc``, which only the master key opens.

Nothing of a value is in a name, a message, a log or another file. The guard is given the values to
look for, each with its parts; no tool is given anything.
"""

from __future__ import annotations

import json
import os
import re
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nocturn.errors import (
    BAD_ARGUMENTS,
    NAME_TAKEN,
    NOT_FOUND,
    ConfigurationError,
    NocturnError,
    too_large,
)
from nocturn.limits import VAULT_BYTES, VAULT_VALUE_BYTES
from nocturn.secret import Secret
from nocturn.store.confined import Folder
from nocturn.store.lock import locked
from nocturn.store.master import Kind, MasterKey, given_passphrase, stretched
from nocturn.store.sealed import Header, new_header, opened, parsed, sealed, unopenable
from nocturn.strength import weakness_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["VAULT", "Vault"]

VAULT: Final = "vault.enc"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_PROTECTION: Final = {
    Kind.FILE: "the key file keys/master.key in your data folder",
    Kind.PASSPHRASE: "a passphrase, stretched by scrypt",
    Kind.KEYRING: "a key in the system's keyring",
}
_MISSING: Final = {
    Kind.FILE: "keys/master.key in the data folder, which is not there: put it back",
    Kind.PASSPHRASE: (
        "a passphrase, and none is given: set NOCTURN_MASTER_PASSPHRASE_FILE or "
        "NOCTURN_MASTER_PASSPHRASE"
    ),
    Kind.KEYRING: "a key that the system's keyring does not have: put it back",
}

_Row: TypeAlias = dict[str, Any]
_Rows: TypeAlias = list[_Row]


@dataclass(frozen=True, slots=True)
class _Entry:
    value: str = field(repr=False)
    created: str
    updated: str
    weak: bool


_Entries: TypeAlias = dict[str, _Entry]


class Vault:
    """The named secrets of one workspace; a source of secrets for the guard.

    Safe to use from many threads and processes. Reading makes nothing.

    Args:
        workspace: The workspace's folder; changes make ``.nocturn/`` in it, for the lock.
        data: The user's data folder, where the master key may be.

    Every method raises ``ConfigurationError`` where the vault cannot be opened, which then is left
    as it is, and ``NocturnError`` with ``STORAGE`` where the disk refuses.
    """

    def __init__(self, workspace: Path, data: Path) -> None:
        # The workspace may be a link, which is the user's; what is in it may not.
        self._folder = Path(os.path.realpath(workspace))
        self._master = MasterKey(data)
        self._lock = threading.Lock()
        self._stretched: dict[tuple[bytes, tuple[int, int, int]], bytes] = {}

    def secrets(self) -> tuple[Secret, ...]:
        """Returns every value; none without a vault."""
        loaded = self._load()
        entries = loaded[1] if loaded else {}
        return tuple(Secret(name, entry.value) for name, entry in entries.items())

    def set(self, name: str, value: str, weak: bool = False) -> None:
        """Keeps a value under a name, in place of the one that is there.

        Args:
            name: A letter or ``_``, then up to 63 letters, digits, ``_``, ``.`` or ``-``.
            value: The value, at most 65,536 bytes of UTF-8.
            weak: Whether to take a value that could be guessed.

        Raises:
            NocturnError: ``BAD_ARGUMENTS`` or ``TOO_LARGE``: the name or the value is refused.
        """
        checked = _checked(name, value, weak)
        self._change(lambda entries: _put(entries, name, checked), make=True)

    def set_many(self, values: Mapping[str, str], weak: bool = False) -> dict[str, str]:
        """Keeps those values that may be kept, in one change.

        Args:
            values: Each value by its name.
            weak: Whether to take values that could be guessed.

        Returns:
            For each name that was left out, why.
        """
        left_out: dict[str, str] = {}
        checked: dict[str, _Entry] = {}
        for name, value in values.items():
            try:
                checked[name] = _checked(name, value, weak)
            except NocturnError as refused:
                left_out[name] = refused.message

        def put_all(entries: _Entries) -> None:
            for name, entry in checked.items():
                _put(entries, name, entry)

        if checked:
            self._change(put_all, make=True)
        return left_out

    def remove(self, name: str) -> None:
        """Removes a value and its name.

        Raises:
            NocturnError: ``NOT_FOUND``: there is no such name.
        """

        def take_out(entries: _Entries) -> None:
            _require(entries, name)
            del entries[name]

        self._change(take_out)

    def rename(self, old: str, new: str) -> None:
        """Gives a value another name.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NAME_TAKEN`` where ``new`` is another's name, or
                ``BAD_ARGUMENTS`` where it is none.
        """
        _require_name(new)

        def move(entries: _Entries) -> None:
            _require(entries, old)
            if new in entries and new != old:
                message = f"there is a secret named {new}: remove that first, or choose another"
                raise NocturnError(NAME_TAKEN, message, detail={"existing": new})
            entries[new] = entries.pop(old)

        self._change(move)

    def rekey(
        self,
        to: str | None = None,
        *,
        passphrase: str | None = None,
    ) -> None:
        """Seals the vault under a new key of its own; nothing under the old one is left behind.

        Args:
            to: What its master key shall be, ``file``, ``passphrase`` or ``keyring``; None for the
                kind that it is.
            passphrase: The new master passphrase, to be given from now on; None for the one that
                is given.

        Raises:
            NocturnError: ``NOT_FOUND``: there is no vault.
            ConfigurationError: There is no such kind, or its key cannot be had.
        """
        if to not in (None, *(kind.value for kind in Kind)):
            raise ConfigurationError("rekey takes file, passphrase or keyring: give one of these")
        if passphrase is not None and (not passphrase or to != Kind.PASSPHRASE.value):
            raise ConfigurationError('a new passphrase is not empty, and goes with to="passphrase"')
        if self._load() is None:  # before the lock, which makes a folder
            raise _no_vault()
        with locked(self._folder / ".nocturn", "vault.lock"):
            loaded = self._load()
            if loaded is None:
                raise _no_vault()
            header = new_header(loaded[0].kind if to is None else Kind(to))
            self._write(header, self._make_key(header, passphrase), loaded[1])

    def check(self) -> _Row:
        """Opens the vault.

        Returns:
            ``{"there", "kind", "protection", "secrets", "weak"}``: whether it is there, what its
            master key is or would be, that in words, how many secrets it has, how many are weak.
        """
        loaded = self._load()
        kind = self._master.kind() if loaded is None else loaded[0].kind
        entries = {} if loaded is None else loaded[1]
        return {
            "there": loaded is not None,
            "kind": kind.value,
            "protection": _PROTECTION[kind],
            "secrets": len(entries),
            "weak": sum(entry.weak for entry in entries.values()),
        }

    def list(self) -> _Rows:
        """Returns ``{"name", "created", "updated", "weak"}`` of each secret, by name; no value."""
        loaded = self._load()
        return [
            {"name": name, "created": e.created, "updated": e.updated, "weak": e.weak}
            for name, e in sorted((loaded[1] if loaded else {}).items())
        ]

    # ---- the file ----------------------------------------------------------------------------

    def _change(self, change: Callable[[_Entries], None], *, make: bool = False) -> None:
        """Changes the entries under the lock. One that will be refused makes no folder first."""
        before = self._load()
        if before is None and not make:
            raise _no_vault()
        change({} if before is None else before[1])
        with locked(self._folder / ".nocturn", "vault.lock"):
            loaded = self._load()
            if loaded is None:
                if not make:
                    raise _no_vault()
                header = new_header(self._master.kind())
                master, entries = self._make_key(header), _Entries()
            else:
                header, entries = loaded
                master = self._key(header)
            change(entries)
            self._write(header, master, entries)

    def _load(self) -> tuple[Header, _Entries] | None:
        data = self._read()
        if data is None:
            return None
        header, box = parsed(data)
        master = self._key(header)
        plain = opened(header, master, box)
        if header.kind is Kind.PASSPHRASE:  # remembered once it has proved to be the right one
            with self._lock:
                self._stretched = {(header.salt, header.cost): master}
        return header, _entries_of(plain)

    def _read(self) -> bytes | None:
        try:
            content = Folder(self._folder).read(VAULT, VAULT_BYTES + 1)
        except NocturnError as error:
            if error.code == NOT_FOUND:
                return None
            raise ConfigurationError(f"{VAULT} cannot be read ({error.message})") from None
        if content.link is not None:
            raise ConfigurationError(f"{VAULT} is a link: put the file itself there")
        if len(content.data) > VAULT_BYTES:
            raise unopenable()
        return content.data

    def _write(self, header: Header, master: bytes, entries: _Entries) -> None:
        rows = {
            name: [e.value, e.created, e.updated, e.weak] for name, e in sorted(entries.items())
        }
        data = sealed(header, master, json.dumps(rows).encode())
        if len(data) > VAULT_BYTES:
            raise too_large(VAULT, VAULT_BYTES, len(data), "remove what is not needed")
        with Folder(self._folder).place(VAULT) as place:
            place.replace_file(data)

    def _key(self, header: Header) -> bytes:
        if header.kind is Kind.PASSPHRASE:
            with self._lock:
                known = self._stretched.get((header.salt, header.cost))
            if known is not None:
                return known
            text = given_passphrase()
            key = None if text is None else stretched(text, header.salt, *header.cost)
        else:
            key = self._master.read(header.kind)
        if key is None:
            raise ConfigurationError(
                f"{VAULT} is protected by {_MISSING[header.kind]}, or move {VAULT} away and begin "
                "anew"
            )
        return key

    def _make_key(self, header: Header, passphrase: str | None = None) -> bytes:
        if header.kind is not Kind.PASSPHRASE:
            return self._master.make(header.kind)
        if passphrase is None:
            passphrase = given_passphrase()
        if passphrase is None:
            raise ConfigurationError("no master passphrase is given: set NOCTURN_MASTER_PASSPHRASE")
        key = stretched(passphrase, header.salt, *header.cost)
        with self._lock:
            self._stretched[header.salt, header.cost] = key
        return key


def _entries_of(plain: bytes) -> _Entries:
    try:
        return {
            name: _Entry(value, created, updated, weak)
            for name, (value, created, updated, weak) in json.loads(plain).items()
        }
    except (ValueError, AttributeError, TypeError):
        pass
    # Raised out here: the parser's error would carry the values along.
    raise unopenable()


def _put(entries: _Entries, name: str, entry: _Entry) -> None:
    before = entries.get(name)
    entries[name] = entry if before is None else replace(entry, created=before.created)


def _checked(name: str, value: str, weak: bool) -> _Entry:
    """Returns the entry, or says without the value why there is none."""
    _require_name(name)
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        raise _refused("the value is not text: give a str")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise _refused("the value is not UTF-8: give a text value")
    if (size := len(value.encode())) > VAULT_VALUE_BYTES:
        way_out = "keep its key here, and what it opens elsewhere"
        raise too_large("value", VAULT_VALUE_BYTES, size, way_out)
    if not value.strip():
        raise _refused("the value is empty: give one")
    weakness = weakness_of(value)
    if weakness is not None and weak is not True:
        raise _refused(
            f"the value {weakness}, so that it would be found by trying and would block innocent "
            "notes: use a longer, random one, or keep it all the same with --weak (weak=True)"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return _Entry(value, now, now, weakness is not None)


def _require_name(name: str) -> None:
    # Not echoed: what was typed in the wrong place may be a value.
    if not isinstance(name, str) or not _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        message = (
            "the secret's name is a letter or _, then at most 63 letters, digits, _ . and -: "
            "choose another name"
        )
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "name"})


def _require(entries: _Entries, name: str) -> None:
    if name not in entries:
        message = "there is no secret of that name: nocturn vault list has the names"
        raise NocturnError(NOT_FOUND, message)


def _refused(message: str) -> NocturnError:
    return NocturnError(BAD_ARGUMENTS, message, detail={"field": "value"})


def _no_vault() -> NocturnError:
    return NocturnError(NOT_FOUND, f"there is no {VAULT}: nocturn vault set NAME makes one")

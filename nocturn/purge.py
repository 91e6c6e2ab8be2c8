"""``ws.purge`` and ``ws.memory.rescan``: what is forgotten for good, and what should be.

The stores forget, each its own; this walks the one list of them, in an order in which a purge that
is killed can be done again: the history, which knows what a note was called, comes last.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import CONFLICT, NOT_FOUND, STORAGE, ConfigurationError, NocturnError
from nocturn.guard.strike import Strike, windows
from nocturn.names import note_path
from nocturn.store.purging import Doomed
from nocturn.store.trouble import shown as in_quotes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nocturn.guard.scanner import Scanner
    from nocturn.secrecy import Secrecy
    from nocturn.stores import Stores

__all__ = ["NOT_REACHED", "Held", "Purge", "Purged"]

NOT_REACHED: Final = (
    "backups and exports, wherever they are",
    "what an editor has kept beside a note or elsewhere: swap files, undo files",
    "snapshots and free blocks of the file system, a sync service's copies, a git repository",
    "what a model or another program was shown",
)
"""What no purge finds, in words for people."""
_ROUNDS: Final = 3
"""Somebody may write the value once more, between the look and the lock; not for ever."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge has done.

    Attributes:
        what: ``note`` or ``value``.
        names: Every path that the note had, sorted; none for a value.
        places: In how many places of each store it was.
        left: Files that have it still: a person's own, unknown ones, notes that name a purged one.
    """

    what: str
    names: tuple[str, ...]
    places: Mapping[str, int]
    left: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON can hold it, with what no purge reaches."""
        return {**asdict(self), "not_reached": list(NOT_REACHED)}


@dataclass(frozen=True, slots=True)
class Held:
    """A text that holds what is a secret by now.

    Attributes:
        where: ``note``, ``trash``, ``persona`` or ``history``.
        path: The note's path, redacted.
        number: The state's number in the history; None elsewhere.
        secret: The secret's name.
        place: ``text`` or ``name``.
        line: The line in the text where it begins; None for a name.
    """

    where: str
    path: str
    number: int | None
    secret: str
    place: str
    line: int | None

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON can hold it."""
        return asdict(self)


class Purge:
    """Forgets notes and values of one workspace.

    Args:
        stores: Its stores.
        secrecy: Its secrets.
    """

    def __init__(self, stores: Stores, secrecy: Secrecy) -> None:
        self._stores = stores
        self._secrecy = secrecy

    def names_of(self, path: str) -> tuple[str, ...]:
        """Returns every path that a note had, sorted: all that :meth:`note` would forget.

        Raises:
            NocturnError: As :func:`nocturn.names.note_path`; ``STORAGE``.
        """
        return tuple(sorted(self._stores.records.names_of(note_path(path))))

    def note(self, path: str) -> Purged:
        """Forgets a note, with its whole past, under every name that it had.

        Args:
            path: Its path, or one that it had.

        Raises:
            NocturnError: As :func:`nocturn.names.note_path`; ``STORAGE``, not all could be purged.
        """
        return self._all_of(Doomed(self._stores.records.names_of(note_path(path))))

    def value(self, value: str) -> Purged:
        """Strikes a value out of everything, in each way that the scanner finds it.

        Raises:
            NocturnError: ``BAD_ARGUMENTS`` or ``TOO_LARGE``, it is too short or too long;
                ``STORAGE``, not all could be purged.
        """
        strike = Strike(value)
        places: dict[str, int] = {}
        for _ in range(_ROUNDS):
            done = self._all_of(Doomed(strike=strike, held_by=frozenset(self._holding(strike))))
            for name, count in done.places.items():
                places[name] = places.get(name, 0) + count
            if not any(True for _ in self._holding(strike)):
                return replace(done, places=places)
        message = "the value is written again while it is purged: put it into the vault first"
        raise NocturnError(CONFLICT, message)

    def entry(self, name: str) -> Purged:
        """Strikes the value of a vault's entry out of everything but the vault.

        Raises:
            NocturnError: ``NOT_FOUND``, there is no such entry; and as :meth:`value`.
            ConfigurationError: The vault cannot be opened.
        """
        found = {each.name: each.value for each in self._secrecy.secrets()}
        if name not in found:
            message = "the vault has no such entry: nocturn vault list has their names"
            raise NocturnError(NOT_FOUND, message)
        return self.value(found[name])

    def rescan(self) -> Iterator[Held]:
        """Finds the texts that hold what is a secret by now.

        Yields:
            What is found, never a value.

        Raises:
            NocturnError: ``STORAGE``, something cannot be read; all the rest was looked through.
            ConfigurationError: The vault or a source of secrets cannot be read.
        """
        self._secrecy.read()
        scanner = self._secrecy.scanner
        if not scanner.armed:
            return
        closed: list[str] = []
        for each in self._stores.texts():
            shown, number = scanner.redact(each.path), each.number or None
            if each.text is None:
                closed.append(shown)
            for secret in scanner.names(each.path):
                yield Held(each.where, shown, number, secret, "name", None)
            for secret, line in _secrets_in(each.text or "", scanner):
                yield Held(each.where, shown, number, secret, "text", line)
        if closed:
            more = f" and {len(closed) - 1} more" if len(closed) > 1 else ""
            message = f"not all could be read: {in_quotes(closed[0])}{more}: check the modes"
            raise NocturnError(STORAGE, message)

    def _holding(self, strike: Strike) -> Iterator[str]:
        """Yields the paths of the notes that hold a value, or have held it."""
        return (
            each.path
            for each in self._stores.texts()
            if each.text and strike(each.text) != each.text
        )

    def _all_of(self, doomed: Doomed) -> Purged:
        places: dict[str, int] = {}
        troubles: list[str] = []
        for kept in self._stores.kept():
            if kept.store is None:
                continue
            try:
                places[kept.name] = kept.store.purge(doomed)
            except (NocturnError, ConfigurationError) as error:
                troubles.append(f"{kept.name} ({doomed.strike(error.message)})")
        if troubles:
            said = "; ".join(troubles)
            message = f"not all was purged: {said}; put that right, and purge the same once more"
            raise NocturnError(STORAGE, message, detail={"places": places})
        found = {name: count for name, count in places.items() if count}
        left = tuple(map(doomed.strike, self._stores.left(doomed)))
        return Purged(doomed.kind, tuple(sorted(doomed.names)), found, left)


def _secrets_in(text: str, scanner: Scanner) -> list[tuple[str, int]]:
    """Returns each secret that a text holds, with the line where it is first."""
    first: dict[str, int] = {}
    for begin, window in windows(text):
        for secret, start, _ in scanner.found(window):
            first.setdefault(secret, begin + start)
    return sorted((secret, 1 + text.count("\n", 0, at)) for secret, at in first.items())

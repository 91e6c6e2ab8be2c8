"""The history, as a purge sees it: what a note was called, what it said, and all of it gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.store.purging import FOR_EVER, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nocturn.store.history import History
    from nocturn.store.purging import Doomed

__all__ = ["Records"]

_AT_ONCE: Final = 16
"""Contents that are read in one go; each has 4 MiB at most."""


class Records:
    """The history of one workspace's notes.

    Args:
        history: It.
        token: The keyed hash that makes versions.
    """

    def __init__(self, history: History, token: Callable[[bytes], str]) -> None:
        self._history = history
        self._token = token

    def names_of(self, path: str) -> dict[str, int]:
        """Returns what a note was called, each name with the moment until which it was its own.

        Args:
            path: The canonical path that the note has, or the last that it had; where it was moved
                and nothing came there since, the note is where it was moved to.

        Returns:
            Each path with that moment, in milliseconds since 1970; without a history, this one.
        """
        with self._history.reading() as pages:
            if pages is None:
                return {path: FOR_EVER}
            passed = {path}
            while (last := pages.last(path)) and last.version is None and last.partner:
                path = last.partner
                if path in passed:
                    break
                passed.add(path)
            names: dict[str, int] = {}
            for state in pages.thread(path):
                names[state.path] = max(names.get(state.path, 0), state.at_ms)
            return {**names, path: FOR_EVER}

    def texts(self) -> Iterator[Text]:
        """Yields each text that a note has had, once for each of its paths."""
        with self._history.reading() as pages:
            known = [] if pages is None else pages.every()
        first: dict[tuple[str, str | None], int] = {}
        for state in known:
            first.setdefault((state.path, state.version), state.number)
        rows = [*first.items()]
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            # Closed before any is handed on: who takes their time must not keep a writer waiting.
            contents = self._history.contents([version for (_, version), _ in some])
            for ((path, _), number), data in zip(some, contents, strict=True):
                yield Text("history", path, data.decode("utf-8", "surrogateescape"), number)

    def purge(self, doomed: Doomed) -> int:
        """Forgets all states of a note, or strikes a value out of all states.

        Returns:
            How many states had it.
        """
        with self._history.reading() as pages:
            if pages is None:
                return 0
        if doomed.names:
            with self._history.changing() as pages:
                found = sum(pages.forget(name, until) for name, until in doomed.names.items())
        else:
            for each in self.texts():  # before the lock, since looking at a text takes its time
                doomed.strike(each.text or "")
            with self._history.changing() as pages:
                found = pages.strike(doomed.strike, doomed.struck_bytes, self._token)
        self._history.compact()
        return found

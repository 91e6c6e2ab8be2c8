"""What the page is told, and what it may do: questions, notes, grants and the journal.

All of it goes out by one way, :meth:`Desk._out`: redacted, and with hidden characters shown as
escapes, so that the page can put any text on the screen as it is.
"""

from __future__ import annotations

import traceback
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from nocturn.errors import (
    BAD_ARGUMENTS,
    CONFLICT,
    INTERNAL,
    NOT_FOUND,
    ConfigurationError,
    NocturnError,
)
from nocturn.guard.question import Question
from nocturn.names import note_path
from nocturn.store.wording import told, without_finished
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from nocturn.store.asked import Asked
    from nocturn.store.trail import Line, Position
    from nocturn.workspace import Workspace

    _Object: TypeAlias = Mapping[Any, Any]

__all__ = ["Desk", "News"]

_T = TypeVar("_T")

_PAGE: Final = 100
_LINES: Final = 1_000
_AS_IT_IS: Final = ("path", "cursor")
"""What the page sends back, and so must stay what it is; it is never put on the screen."""
_KEPT: Final = {"text": "\n\t", "diff": "\t"}
"""What is no hidden character in a field."""


@dataclass(frozen=True, slots=True)
class News:
    """What a look has found.

    Attributes:
        token: The inbox's token of its state.
        position: How far the journal has been read.
        waiting: The ids of the questions that wait; None where that has not changed.
        lines: The lines that have come into the journal.
    """

    token: str
    position: Position
    waiting: list[str] | None
    lines: list[dict[str, Any]]


class Desk:
    """One workspace, as the page sees it. Safe to use from many threads.

    Args:
        ws: The workspace.
    """

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws

    def about(self) -> dict[str, Any]:
        """Returns which workspace this is, and the version of nocturn."""
        from nocturn import __version__

        return self._out({"workspace": self._ws.path.name, "version": __version__})

    # ---- questions -------------------------------------------------------------------------------

    def waiting(self) -> list[str]:
        """Returns the ids of the questions that wait, the oldest first."""
        return [each.id for each in self._ws.inbox.waiting()]

    def question(self, identity: str) -> dict[str, Any]:
        """Returns one question, whatever has become of it.

        Raises:
            NocturnError: ``NOT_FOUND``, ``BAD_ARGUMENTS``.
        """
        return self._question(self._ws.inbox.get(identity))

    def answer(self, identity: str, option: str | None, digest: str) -> dict[str, Any]:
        """Answers a question; the first answer counts.

        Args:
            identity: Its id.
            option: The value of an answer on offer; None for a no.
            digest: The digest of the question that the person has seen.

        Returns:
            The question as it is then; ``taken`` says whether the run has the answer.

        Raises:
            NocturnError: ``CONFLICT``, it was answered before, nobody waits any more, or it is not
                the one that was seen; ``NOT_FOUND``; ``BAD_ARGUMENTS``.
        """
        inbox = self._ws.inbox
        asked = inbox.get(identity)
        if asked.question and asked.question.get("digest") != digest:
            raise NocturnError(CONFLICT, "this is not the question that was shown: load it again")
        asked = inbox.answer(asked.id, option, "page")
        inbox.is_taken(asked.id)
        return self._question(inbox.get(asked.id))

    # ---- notes -----------------------------------------------------------------------------------

    def notes(self, cursor: str | None, search: str) -> dict[str, Any]:
        """Returns a page of notes, each with its catalog line.

        Args:
            cursor: Where the last page ended; None for the first.
            search: What a path must have in it, whatever its case.
        """
        words = search.casefold().split()
        found, following = self._ws.notes.list(
            _PAGE,
            cursor,
            redact_all=lambda paths: self._ws.redacted(list(paths)),
            wanted=lambda path: all(word in path.casefold() for word in words),
        )
        return self._out(
            {"notes": [{**asdict(each), "name": each.path} for each in found], "cursor": following}
        )

    def note(self, path: str) -> dict[str, Any]:
        """Returns one note whole.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NOT_A_NOTE``, ``PATH_ESCAPE``, ``BAD_ARGUMENTS``.
        """
        path = note_path(path, self._redact)
        stat, text = self._ws.notes.stat(path), self._ws.notes.read(path, self._redact)
        return self._out({**asdict(stat), "name": path, "text": text})

    # ---- grants ----------------------------------------------------------------------------------

    def grants(self) -> dict[str, Any]:
        """Returns the yeses that last, and why there are none where they cannot be used."""
        try:
            found = self._ws.grants.load()
        except ConfigurationError as error:
            return self._out({"grants": [], "trouble": error.message})
        rows = [
            {**each.to_dict(), "pattern": each.pattern, "notes": self._ws.permissions.covered(each)}
            for each in found
        ]
        return self._out({"grants": rows, "trouble": None})

    def revoke(self, identity: str) -> dict[str, Any]:
        """Takes a grant back.

        Raises:
            NocturnError: ``NOT_FOUND``, it is not there any more.
            ConfigurationError: The grants cannot be used.
        """
        if not self._ws.grants.revoke(identity):
            raise NocturnError(NOT_FOUND, "there is no such grant any more")
        return self.grants()

    # ---- the journal -----------------------------------------------------------------------------

    def journal(self, count: int) -> dict[str, Any]:
        """Returns the last lines, oldest first.

        Args:
            count: How many at most, 1 to 1,000.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``.
        """
        if not 0 < count <= _LINES:
            message = f"lines is {count}: give 1 to {_LINES}"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "lines"})
        found, _ = self._ws.journal.last(count, lambda _: True)
        return {"lines": self._told(without_finished(found)), "more": len(found) == count}

    def verify(self) -> dict[str, Any]:
        """Looks at every line of the journal."""
        return self._out(self._ws.journal.verify().to_dict())

    # ---- what is new -----------------------------------------------------------------------------

    def news(self, seen: News | None) -> News:
        """Looks for what has come since the last look.

        Args:
            seen: What the last look gave; None for the first.
        """
        token = self._ws.inbox.changes()
        if seen is None:
            _, position = self._ws.journal.last(0, lambda _: True)
            return News(token, position, self.waiting(), [])
        lines, position = self._ws.journal.since(seen.position)
        waiting = self.waiting() if token != seen.token else None
        # The outcome says all that its intent has said.
        outcomes = [each for each in lines if each.entry.get("phase") != "intent"]
        return News(token, position, waiting, self._told(outcomes))

    def said(self, error: Exception) -> dict[str, Any]:
        """Returns an error as the page may show it: code, message and what can be acted on."""
        given = error if isinstance(error, NocturnError) else NocturnError(INTERNAL, "it failed")
        detail = {
            name: each for name, each in given.detail.items() if isinstance(each, (str, int, bool))
        }
        return self._out({"code": given.code, "message": given.message, "detail": detail})

    def traceback_of(self, fault: Exception) -> str:
        """Returns a fault of ours as the log may hold it."""
        return visible(self._redact("".join(traceback.format_exception(fault))))

    def _question(self, asked: Asked) -> dict[str, Any]:
        told: dict[str, Any] = asdict(asked)
        if asked.question:
            question = Question.from_dict(told.pop("question"))
            told |= asdict(question) | {"mode": question.mode.value, "diff": question.diff()}
            for left_out in ("preview", "text"):  # the diff says what they do
                del told[left_out]
            told["options"] = [{"value": o.value, "label": o.label} for o in question.options]
            told["removes"] = question.preview.after is None
            told["replaces"] = question.preview.before is not None
        until = datetime.fromisoformat(asked.expires_at) - datetime.now(UTC)
        return self._out({**told, "seconds_left": max(0.0, until.total_seconds())})

    def _told(self, lines: list[Line]) -> list[dict[str, Any]]:
        return self._out([asdict(told(each)) for each in lines])

    def _out(self, value: _T) -> _T:
        return cast("_T", _shown(self._ws.redacted(value)))

    def _redact(self, text: str) -> str:
        redacted: str = self._ws.redacted(text)
        return redacted


def _shown(value: Any, name: str = "") -> Any:
    """Shows the hidden characters of every string in it."""
    if isinstance(value, str):
        return value if name in _AS_IT_IS else visible(value, keep=_KEPT.get(name, ""))
    if isinstance(value, dict):
        return {key: _shown(each, str(key)) for key, each in cast("_Object", value).items()}
    if isinstance(value, (list, tuple)):
        return [_shown(each, name) for each in cast("Sequence[Any]", value)]
    return value

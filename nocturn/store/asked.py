"""A question in the inbox: the row that it is, and what is told of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from nocturn.errors import (
    BAD_ARGUMENTS,
    CONFLICT,
    NOT_FOUND,
    STORAGE,
    ConfigurationError,
    NocturnError,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

__all__ = [
    "ID_BYTES",
    "TABLE",
    "Answerer",
    "Asked",
    "Row",
    "State",
    "found",
    "late",
    "now_ms",
    "rows",
    "the_row",
]

State: TypeAlias = Literal["withdrawn", "waiting", "answered", "expired"]
Answerer: TypeAlias = Literal["terminal", "page", "python"]

ID_BYTES: Final = 8
_MOST_MS: Final = 253_402_300_800_000
"""The year 10,000, where Python's calendar ends."""
_PREFIX_CHARACTERS: Final = 4
"""A shorter beginning could meet another question than the one that was meant."""

TABLE: Final = """CREATE TABLE questions (
    id TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    answer TEXT,
    answered_at INTEGER,
    answered_by TEXT,
    taken INTEGER NOT NULL DEFAULT 0,
    seal TEXT NOT NULL,
    answer_seal TEXT NOT NULL DEFAULT '',
    question TEXT NOT NULL
)"""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in the inbox, as it is now.

    Attributes:
        id: 16 hexadecimal digits.
        state: ``waiting``, ``answered``, ``expired``, or ``withdrawn`` where its asker is gone.
        question: What is asked, redacted; empty once its text has been removed.
        asked_at: When it was put, ISO 8601 UTC.
        expires_at: Until when it can be answered.
        answer: The value of the option that was chosen; None for a no, and without an answer.
        answered_at: When it was answered; None while it is not.
        answered_by: ``terminal``, ``page`` or ``python``.
        taken: Whether the asker has taken the answer: only then what was allowed is done.
    """

    id: str
    state: State
    question: Mapping[str, Any]
    asked_at: str
    expires_at: str
    answer: str | None
    answered_at: str | None
    answered_by: str | None
    taken: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it stands in the table; times in milliseconds since 1970."""

    id: str
    state: State
    asked_at: int
    expires_at: int
    answer: str | None
    answered_at: int | None
    answered_by: str | None
    taken: int
    seal: str = field(repr=False)
    answer_seal: str = field(repr=False)
    question: str = field(repr=False)

    def told(self, state: State, question: Mapping[str, Any]) -> Asked:
        """Returns what is told of it.

        Args:
            state: The state that it really has.
            question: The question, fit to be shown.
        """
        return Asked(
            id=self.id,
            state=state,
            question=question,
            asked_at=_iso(self.asked_at),
            expires_at=_iso(self.expires_at),
            answer=self.answer,
            answered_at=None if self.answered_at is None else _iso(self.answered_at),
            answered_by=self.answered_by,
            taken=self.taken != 0,
        )


def rows(db: sqlite3.Connection | None, rest: str, *values: object) -> list[Row]:
    """Returns rows of the table; none where there is no file.

    Args:
        db: The open file.
        rest: What follows ``FROM questions``.
        values: For the question marks in it.
    """
    if db is None:
        return []
    found = db.execute(f"SELECT * FROM questions {rest}", values)  # noqa: S608 - ours alone
    return [_checked(Row(*each)) for each in found]


def the_row(db: sqlite3.Connection | None, identity: str) -> Row:
    """Returns the row of a question that was put before.

    Raises:
        NocturnError: ``STORAGE``, somebody has taken it away.
    """
    found = rows(db, "WHERE id = ?", identity)
    if not found:
        raise NocturnError(STORAGE, "the question is gone from inbox.db: ask again")
    return found[0]


def found(db: sqlite3.Connection | None, beginning: str) -> Row:
    """Returns the one row whose id begins like this.

    Raises:
        NocturnError: ``NOT_FOUND``; ``BAD_ARGUMENTS``, it is too short, or several begin like this.
    """
    if len(beginning) < _PREFIX_CHARACTERS:
        message = (
            f"a question is named by the first {_PREFIX_CHARACTERS} characters of its id or more"
        )
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "id"})
    begin = rows(db, "WHERE substr(id, 1, ?) = ?", len(beginning), beginning.lower())
    if len(begin) > 1:
        message = f"{len(begin)} questions begin like this: give more of the id"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "id"})
    if not begin:
        message = "there is no such question: nocturn approvals list has those that wait"
        raise NocturnError(NOT_FOUND, message)
    return begin[0]


def _checked(row: Row) -> Row:
    """Returns the row: SQLite takes any type in any column, and so from anybody."""
    times = (row.asked_at, row.expires_at, row.answered_at or 0)
    texts = (row.id, row.seal, row.answer_seal, row.question)
    told = (row.answer or "", row.answered_by or "")
    if (
        all(type(each) is int and 0 <= each < _MOST_MS for each in times)
        and all(type(each) is str for each in (*texts, *told))
        and row.state in get_args(State)
    ):
        return row
    raise ConfigurationError(
        "inbox.db has a row that no nocturn writes: it was left as it is; move the file away, and "
        "nocturn makes another"
    )


def late(row: Row, state: State) -> NocturnError:
    """Returns the refusal of an answer to a question that does not wait any more."""
    said = {
        "answered": f"was answered already: {row.answer or 'no'}, by {row.answered_by}",
        "expired": "has expired: nobody waits for an answer any more, and nothing was done",
        "withdrawn": "is withdrawn: the run that asked has ended, and nothing was done",
    }.get(state, "cannot be answered")
    return NocturnError(
        CONFLICT, f"question {row.id} {said}", detail={"state": state, "answer": row.answer}
    )


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1e3, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_ms() -> int:
    """Returns the wall clock: the only one that two processes share for sure."""
    return time.time_ns() // 1_000_000

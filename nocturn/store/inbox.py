"""The inbox: questions that wait for a person in another process, in ``.nocturn/inbox.db``.

One transaction decides what becomes of a question: the first answer, or the end of its asker's
patience, whichever is committed first. An answer counts if it is sealed with this user's key, for
this question with this text: who can write the workspace and nothing else cannot say yes, and a
folder that came from elsewhere brings no answer along. An asker that died is seen to be gone.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import BAD_ARGUMENTS, ConfigurationError, NocturnError
from nocturn.limits import QUESTION_SECONDS, QUESTION_TEXT_SECONDS
from nocturn.store.asked import ID_BYTES, TABLE, found, late, now_ms, rows, the_row
from nocturn.store.database import Database
from nocturn.store.presence import Presence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from nocturn.store.asked import Answerer, Asked, Row, State
    from nocturn.store.keys import LocalKey
    from nocturn.store.purging import Doomed

__all__ = ["Inbox", "Open"]

_POLL_SECONDS: Final = 0.08
_JUMP_MS: Final = 2_000
"""By how much the wall clock may differ from the asker's before it is taken to have been set."""


@dataclass(frozen=True, slots=True)
class Open:
    """A question that waits.

    Attributes:
        id: Its id.
        wait: Waits for what becomes of it, and takes the answer. Its argument says whether the run
            still wants one. The ``question`` of what it returns is empty.
    """

    id: str
    wait: Callable[[Callable[[], bool]], Asked]


class Inbox:
    """The questions of one workspace. Safe to use from many threads and processes.

    Every method raises ``ConfigurationError`` where the file is not one that this user's nocturn
    made, which then is left as it is, and ``NocturnError`` with ``STORAGE`` where the disk refuses.

    Args:
        folder: The workspace's ``.nocturn/``, which the first question makes.
        key: This user's key, which seals.
        redact: Takes secrets out of a question on its way out, those too that came later.
    """

    def __init__(self, folder: Path, key: LocalKey, redact: Callable[[Any], Any]) -> None:
        self._database = Database(folder, "inbox.db", TABLE)
        self._askers = Presence(folder, "asking")
        self._key = key
        self._redact = redact

    @contextmanager
    def ask(self, question: Mapping[str, Any], seconds: float) -> Generator[Open]:
        """Puts a question. After the block, however it ends, nobody waits for an answer any more.

        Args:
            question: What JSON can hold, redacted; ``options`` are the answers on offer, each with
                a ``value``.
            seconds: How long it waits.
        """
        identity = os.urandom(ID_BYTES).hex()
        text = json.dumps(question)
        seal = self._sealed("question", identity, text)
        with self._database.reading():
            pass  # a file that is not ours is refused before anything is made
        with self._askers.shown(identity):
            with self._database.changing(make=True) as db:
                self._tidy(db)
                now, deadline = now_ms(), time.monotonic() + seconds
                db.execute(
                    "INSERT INTO questions (id, state, asked_at, expires_at, seal, question)"
                    " VALUES (?, 'waiting', ?, ?, ?, ?)",
                    (identity, now, now + round(seconds * 1e3), seal, text),
                )
            ended: list[Asked] = []

            def wait(alive: Callable[[], bool]) -> Asked:
                ended.append(self._wait(identity, seal, deadline, alive))
                return ended[-1]

            try:
                yield Open(identity, wait)
            finally:
                if not ended:
                    with suppress(NocturnError):  # whoever asked is seen to be gone at any rate
                        self._withdraw(identity)

    def waiting(self) -> list[Asked]:
        """Returns the questions that can be answered now, the oldest first."""
        with self._database.reading() as db:
            every = rows(db, "WHERE state = 'waiting' ORDER BY asked_at, id")
        return [self._told(each) for each in every if self._state(each) == "waiting"]

    def count(self) -> int:
        """Returns how many can be answered now; reads none of them."""
        with self._database.reading() as db:
            every = rows(db, "WHERE state = 'waiting'")
        return sum(self._state(each) == "waiting" for each in every)

    def get(self, beginning: str) -> Asked:
        """Returns one question, whatever has become of it.

        Args:
            beginning: Its id, or the first characters of it, at least 4.

        Raises:
            NocturnError: ``NOT_FOUND``; ``BAD_ARGUMENTS``, several begin like this.
        """
        with self._database.reading() as db:
            row = found(db, beginning)
        return self._told(row)

    def answer(self, beginning: str, option: str | None, by: Answerer) -> Asked:
        """Answers a question; the first answer counts.

        Args:
            beginning: Its id, or the first characters of it, at least 4.
            option: The value of the option that is chosen; None for a no.
            by: Where the person answered.

        Returns:
            The question. Its asker has yet to take the answer: see :meth:`is_taken`.

        Raises:
            NocturnError: ``NOT_FOUND``; ``BAD_ARGUMENTS``, several begin like this, or it has no
                such option, and it waits on; ``CONFLICT``, it was answered before or nobody waits
                for an answer any more: ``detail["state"]``.
        """
        self.get(beginning)  # what is not there is told without a lock
        with self._database.changing() as db:
            row = found(db, beginning)
            self._require_waiting(row)
            _require_option(self._told(row), option)
            now = now_ms()
            answered = db.execute(
                "UPDATE questions SET state = 'answered', answer = ?, answered_at = ?,"
                " answered_by = ?, answer_seal = ?"
                " WHERE id = ? AND state = 'waiting' AND expires_at > ?",
                (option, now, by, self._answer_seal(row.seal, option, by, now), row.id, now),
            )
            if answered.rowcount != 1:  # its time ran out since the line above
                raise late(row, "expired")
            row = the_row(db, row.id)
        return self._told(row)

    def is_taken(self, identity: str, seconds: float = 3.0) -> bool:
        """Waits until the asker has taken the answer, or is gone, or the time is up.

        Returns:
            Whether it has. A yes that nobody takes does nothing.
        """
        deadline = time.monotonic() + seconds
        while True:
            there = self._askers.is_there(identity)  # first: who takes it leaves after that
            with self._database.reading() as db:
                if the_row(db, identity).taken:
                    return True
            if not there or time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)

    def changes(self) -> str:
        """Returns a token that is another one whenever a question has come or its state changed."""
        with self._database.reading() as db:
            every = rows(db, "ORDER BY asked_at, id")
        states = [(each.id, self._state(each), each.taken) for each in every]
        return hashlib.sha256(repr(states).encode()).hexdigest()

    def purge(self, doomed: Doomed) -> int:
        """Forgets the text of each question that names a note or holds a value, for good.

        One that waits is withdrawn: what was asked cannot be shown any more.

        Returns:
            How many there were.
        """
        with self._database.reading() as db:
            if db is None:
                return 0
        with self._database.changing() as db:
            found = [each for each in rows(db, "WHERE question != ''") if _is_in(doomed, each)]
            for row in found:
                state = "withdrawn" if row.state == "waiting" else row.state
                db.execute(
                    "UPDATE questions SET question = '', seal = '', state = ? WHERE id = ?",
                    (state, row.id),
                )
        self._database.compact()
        return len(found)

    def _wait(self, identity: str, seal: str, deadline: float, alive: Callable[[], bool]) -> Asked:
        with self._database.reading() as db:
            while True:
                left = deadline - time.monotonic()
                here = alive()
                row = the_row(db, identity)
                if row.state != "waiting" or left <= 0 or not here:
                    return self._settled(identity, seal, here=here)
                until = now_ms() + round(left * 1e3)
                if (
                    abs(row.expires_at - until) > _JUMP_MS
                ):  # the clock was set, or the machine slept
                    self._redate(identity, until)
                time.sleep(min(left, _POLL_SECONDS))

    def _settled(self, identity: str, seal: str, *, here: bool) -> Asked:
        """Ends the wait: an answer that came first is taken, even at the last moment."""
        with self._database.changing() as db:
            row = the_row(db, identity)
            if row.state == "waiting":
                end = "expired" if here else "withdrawn"
                db.execute("UPDATE questions SET state = ? WHERE id = ?", (end, identity))
            elif row.state == "answered" and here:
                by, at = str(row.answered_by), row.answered_at or 0
                if row.answer_seal != self._answer_seal(seal, row.answer, by, at):
                    raise _foreign(row, "an answer")
                db.execute("UPDATE questions SET taken = 1 WHERE id = ?", (identity,))
            row = the_row(db, identity)
        return row.told(row.state, {})

    def _redate(self, identity: str, until: int) -> None:
        with self._database.changing() as db:
            db.execute(
                "UPDATE questions SET expires_at = ? WHERE id = ? AND state = 'waiting'",
                (until, identity),
            )

    def _withdraw(self, identity: str) -> None:
        with self._database.changing() as db:
            db.execute(
                "UPDATE questions SET state = 'withdrawn' WHERE id = ? AND state = 'waiting'",
                (identity,),
            )

    def _tidy(self, db: sqlite3.Connection) -> None:
        """Settles what dead askers have left, and removes what was kept for long enough."""
        for row in rows(db, "WHERE state = 'waiting'"):
            if not self._askers.is_there(row.id):
                db.execute("UPDATE questions SET state = 'withdrawn' WHERE id = ?", (row.id,))
        self._askers.sweep()
        ended = "state != 'waiting' AND expires_at < ?"
        now = now_ms()
        db.execute(
            f"UPDATE questions SET question = '' WHERE {ended}",  # noqa: S608 - ours alone
            (now - QUESTION_TEXT_SECONDS * 1_000,),
        )
        db.execute(
            f"DELETE FROM questions WHERE {ended}",  # noqa: S608 - ours alone
            (now - QUESTION_SECONDS * 1_000,),
        )

    def _told(self, row: Row) -> Asked:
        question: Any = {}
        if row.question:
            if row.seal != self._sealed("question", row.id, row.question):
                raise _foreign(row, "a question")
            question = self._redact(json.loads(row.question))
        return row.told(self._state(row), question)

    def _state(self, row: Row) -> State:
        """Returns the state that it really has: nobody may have been there to write it down."""
        if row.state != "waiting":
            return row.state
        if not self._askers.is_there(row.id):
            return "withdrawn"
        return "waiting" if row.expires_at > now_ms() else "expired"

    def _require_waiting(self, row: Row) -> None:
        state = self._state(row)
        if state != "waiting":
            raise late(row, state)

    def _answer_seal(self, seal: str, option: str | None, by: str, at: int) -> str:
        return self._sealed("answer", seal, json.dumps([option, by, at]))

    def _sealed(self, what: str, *parts: str) -> str:
        return self._key.token(f"inbox {what}", json.dumps(parts).encode())


def _require_option(asked: Asked, option: str | None) -> None:
    values = [each["value"] for each in asked.question["options"]]
    if option is not None and option not in values:
        message = (
            f"question {asked.id} has no answer {option}, and it waits on: choose one of "
            f"{', '.join(values)}"
        )
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "option"})


def _is_in(doomed: Doomed, row: Row) -> bool:
    try:
        question: Any = json.loads(row.question)
        targets = [str(each["target"]) for each in question.get("effects", ())]
        return any(map(doomed.has, targets)) or doomed.struck(question) != question
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return True  # nobody asks like this, so nobody misses it


def _foreign(row: Row, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"inbox.db has {what} that this user's nocturn did not write (question {row.id}): move "
        "the file away, and nocturn makes another"
    )

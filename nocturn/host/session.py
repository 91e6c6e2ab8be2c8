"""A session: lines that follow one another in one guest, each of which can be taken back.

Its process forks before each line, and the fork runs the line. If that ends as a script may, the
fork is the session from then on; if it has to be killed, the one from before the line is. So a line
is a run like any other, whose worker is not new.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

from nocturn.errors import ConfigurationError, RunInterrupted
from nocturn.host.exchange import Exchange
from nocturn.host.result import RunError, RunResult
from nocturn.wire.frames import QUESTION, WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nocturn.host.execution import Execution
    from nocturn.host.pool import Kin, Pool, Ticket
    from nocturn.host.process import Worker
    from nocturn.limits import Limits
    from nocturn.registry.call import Call

    Dispatch = Callable[[Call], Any]
    Prepare = Callable[["Session", str | bytes, str | None], tuple[Execution, Dispatch]]

T = TypeVar("T")

__all__ = ["Session"]

ANSWER_SECONDS: Final = 2.0
"""How long a session's process may take over a question, or to say that it is there."""
_BACK: Final = "the session is as it was before this line, and notes that were written stay written"
_LOST: Final = (
    "the session's state is lost, since this machine lets no worker fork: what was declared has to "
    "be declared again; notes that were written stay written"
)


class SessionLostError(Exception):
    """The session's process is gone, and with it its state."""


class Session:
    """Lines that follow one another: ``const``, ``let`` and the rest live on from line to line.

    Made by :meth:`nocturn.Workspace.session`. One line runs at a time; safe to use from many
    threads. In a fork of the host it is closed.

    Args:
        pool: Where its processes come from.
        limits: What each line may use; the heap is that of the session.
        isolation: ``full`` or ``best-effort``.
        prepare: Makes a line ready to run, given its source and what errors call it.
    """

    def __init__(self, pool: Pool, limits: Limits, isolation: str, prepare: Prepare) -> None:
        self.crew = pool.crew
        self._pool = pool
        self._limits = limits
        self._isolation = isolation
        self._prepare = prepare
        self._host = os.getpid()
        self._using = threading.RLock()
        self._kin: Kin | None = None
        self._at: Worker | None = None
        self._level, self._said = "none", b""
        self._branches = True
        self._execution: Execution | None = None
        self._back = False
        self._lines = 0
        self._closed = True
        pool.admit()
        self._closed = False

    @property
    def lines(self) -> int:
        """How many lines have been run since it began, those that were taken back not counted."""
        return self._lines

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        return self._closed or os.getpid() != self._host

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        """Has its processes ended, where nobody has closed it."""
        if not self.closed:
            self._pool.forsake(self._kin, self._at)

    def close(self) -> None:
        """Ends it, and the line that runs in it; safe to call twice."""
        if not self.closed:
            self.cancel()
            with suppress(ConfigurationError):  # another thread has closed it meanwhile
                self._undisturbed(self._close_now)

    def eval(self, source: str | bytes, *, filename: str | None = None) -> RunResult:
        """Runs one line, which may be many lines of text.

        Args:
            source: The text; bytes must be UTF-8.
            filename: What errors call it; None for the session's own.

        Returns:
            What the run of it was. Where it had to be ended, ``rolled_back`` is set and the session
            is as it was before; an error of its own takes nothing back.

        Raises:
            ConfigurationError: The session is closed, or an argument is wrong.
            IsolationError: The machine gives less isolation than was asked for.
            RunInterrupted: Ctrl-C; the line is taken back, and the session goes on.
        """
        result, stopped = self._apart(lambda: self._eval(source, filename), self.cancel)
        if stopped:
            raise RunInterrupted(result)
        return result

    def cancel(self) -> None:
        """Ends the line that runs, which is taken back; safe from any thread and from signals."""
        execution = self._execution
        if execution is not None and not self.closed:
            execution.cancel()

    def fork(self) -> Session:
        """Returns a second session with the same state; each goes its own way from here.

        Raises:
            ConfigurationError: The session is closed, there are too many, or this machine lets no
                worker fork.
        """
        twin, stopped = self._apart(self._fork)
        if stopped:
            twin.close()
            raise KeyboardInterrupt
        return twin

    def reset(self) -> None:
        """Begins anew, with nothing declared."""
        self._undisturbed(self._reset)

    def vars(self) -> list[dict[str, str]]:
        """Returns what was declared, in order: ``{"name", "kind", "type", "shown"}``.

        ``kind`` is ``const let class var`` or ``function``; ``shown`` is the guest's own text.
        """
        fields = ("name", "kind", "type", "shown")
        rows = [cast("dict[str, Any]", each) for each in self._listed("vars") if type(each) is dict]
        return [{field: str(row.get(field, "")) for field in fields} for row in rows]

    def complete(self, text: str) -> list[str]:
        """Returns the names that may stand at the end of a text; runs nothing of the guest's.

        Args:
            text: Its end is a path of names, such as ``notes[0].pa``: what stands before its last
                dot is looked at as it is now, without its getters.
        """
        return [each for each in self._listed(f"complete {text}") if isinstance(each, str)]

    def unfinished(self, source: str) -> bool:
        """Returns whether a text is the beginning of a script rather than a whole one."""
        return self._ask(f"unfinished {source}") is True

    def ends(self, lines: Sequence[str], known: int = 0) -> tuple[int, list[int]]:
        """Returns how many lines were looked at, and after which of those a statement ends.

        Where nothing can be told, the first line that is not known ends one.

        Args:
            lines: The lines; a statement begins with the first.
            known: So many of them are known to be the beginning of one, and no more.
        """
        told = self._listed(f"ends {known} " + "\n".join(lines))
        numbers = [each for each in told if type(each) is int]
        seen, *found = numbers if numbers and len(numbers) == len(told) else [0]
        possible = {*range(known + 1, seen + 1)}
        if not known < seen <= len(lines) or found != sorted(possible.intersection(found)):
            return known + 1, [known + 1]
        return seen, found

    # ---- what a run asks of whoever gives it its worker ------------------------------------------

    def take(self, limits: Limits, ticket: Ticket) -> Worker:
        """Returns the worker of the next line; nobody queues for it."""
        ticket.call()
        del limits
        at = self._begun()
        worker = self._branch(at) if self._branches else at
        if worker is None:
            raise SessionLostError
        return worker

    def give_back(self, worker: Worker) -> None:
        """Goes on with a line's worker, or with the one from before it."""
        before = self._at
        if self._execution is None or not self._execution.ended_well():
            self._back = True
            self._end(worker)
            if worker is before:
                self._drop()
            return
        self._lines += 1
        worker.is_kept = True
        self._at = worker
        if worker is before:
            worker.channel.put_back(self._said)
        elif before is not None:
            self._close(before)

    def reap(self, worker: Worker) -> int:
        """Returns the signal that ended a worker."""
        return self._pool.reap(worker)

    def _follow(self, other: Session, worker: Worker) -> None:
        """Goes on from where another is, with a worker of its own."""
        self._kin, self._at = other._kin, worker
        self._level, self._said, self._lines = other._level, other._said, other._lines
        if self._kin is not None:
            self._pool.join(self._kin)

    # ---- what Ctrl-C must not come between ---------------------------------------------------

    def _apart(
        self, work: Callable[[], T], hurry: Callable[[], None] = lambda: None
    ) -> tuple[T, bool]:
        """Does what is one piece, of one thread at a time; tells whether Ctrl-C came meanwhile."""

        def alone() -> T:
            with self._using:
                self._require_open()
                return work()

        self._require_open()  # in a fork of the host, its lock may be held by a thread of no more
        return self._pool.crew.finish(alone, hurry)

    def _undisturbed(self, work: Callable[[], T]) -> T:
        value, stopped = self._apart(work)
        if stopped:
            raise KeyboardInterrupt
        return value

    def _eval(self, source: str | bytes, filename: str | None) -> RunResult:
        execution, dispatch = self._prepare(self, source, filename)
        self._back = False
        self._execution = execution
        try:
            return self._told(execution.run(dispatch))
        except SessionLostError:
            self._drop()
            message = "the session's process has ended, and its state is lost: begin anew"
            error = RunError(code=None, name="WorkerDied", message=message)
            return RunResult(status="worker_died", error=error, run=execution.identity)
        finally:
            self._execution = None

    def _fork(self) -> Session:
        twin = Session(self._pool, self._limits, self._isolation, self._prepare)
        try:
            worker = self._branch(self._begun())
        except BaseException:
            self._pool.dismiss()
            raise
        if worker is None:
            self._pool.dismiss()
            raise ConfigurationError("this machine lets no worker fork: open a new session")
        worker.is_kept = True
        twin._follow(self, worker)
        return twin

    def _reset(self) -> None:
        self._drop()
        self._lines = 0

    def _close_now(self) -> None:
        self._closed = True
        self._drop()
        self._pool.dismiss()

    # ---- its processes -------------------------------------------------------------------------

    def _begun(self) -> Worker:
        """Returns the process that waits for a line; begins, where there is none."""
        if self._at is not None:
            return self._at
        kin = self._pool.open_session(self._limits)
        worker = kin.first
        worker.is_kept = True
        try:
            exchange = Exchange(
                worker.channel, _nothing, self._limits, _nothing, _nothing, _nothing
            )
            ended = exchange.prepare(self._isolation)
            if ended is not None:
                raise ConfigurationError(f"no session can be had: {ended.reason}")
        except BaseException:
            self._pool.leave(kin, worker)
            raise
        self._level, self._branches = exchange.isolation, exchange.steps.get("forks") == "on"
        self._said = exchange.said
        if not self._branches:
            worker.channel.put_back(self._said)
        self._kin, self._at = kin, worker
        return worker

    def _branch(self, worker: Worker) -> Worker | None:
        kin = self._kin
        if kin is None or not self._branches:
            return None
        with kin.branching:
            child = self._pool.branch(worker, self._limits)
        if child is None:
            # Whoever does not do as it is told has been taken over: it and all of its kin end.
            self._pool.end_session(kin)
        else:
            kin.workers = {child, *(each for each in kin.workers if not each.is_reaped)}
        return child

    def _end(self, worker: Worker) -> None:
        """Ends a line's worker. Whoever answers its calls may be at its socket, and closes it."""
        worker.is_kept = False
        self._pool.bury(worker)

    def _close(self, worker: Worker) -> None:
        """Ends a worker that nobody is at."""
        self._end(worker)
        worker.close()

    def _drop(self) -> None:
        """Lets go of its processes; those of its forks go on."""
        kin, at = self._kin, self._at
        self._kin = self._at = None
        if kin is not None and at is not None:
            self._pool.leave(kin, at)

    def _listed(self, question: str) -> list[object]:
        answer = self._ask(question)
        return cast("list[object]", answer) if isinstance(answer, list) else []

    def _ask(self, question: str) -> object:
        """Asks about the state, of a fork that is ended afterwards: so nothing is changed by it."""
        return self._undisturbed(lambda: self._ask_now(question))

    def _ask_now(self, question: str) -> object:
        at = self._begun()
        worker = self._branch(at) if self._branches else at
        if worker is None:
            self._drop()
            return None
        answered = threading.Event()

        def give_up() -> None:
            if not answered.wait(ANSWER_SECONDS):
                worker.kill()

        self.crew.start(give_up)  # it may never speak, or never listen
        try:
            return _answer(worker, question, announces=self._branches)
        finally:
            answered.set()
            if worker is not at:
                self._close(worker)

    def _require_open(self) -> None:
        if self.closed:
            raise ConfigurationError("the session is closed: open a new one with ws.session()")

    def _told(self, result: RunResult) -> RunResult:
        if result.isolation != "none":  # what the worker says of itself by now is a guest's word
            result = replace(result, isolation=self._level)
        if not self._back:
            return result
        error = result.error or RunError(code=None, name=result.status, message=result.status)
        what = _BACK if self._branches else _LOST
        error = replace(error, message=f"{error.message}; {what}")
        return replace(result, error=error, rolled_back=True)


def _answer(worker: Worker, question: str, *, announces: bool) -> Any:
    """Returns what a worker says to a question; None where it says nothing that can be used."""
    try:
        if announces and worker.channel.read() is None:
            return None
        worker.channel.write(QUESTION + question.encode("utf-8", "surrogatepass"))
        payload = worker.channel.read()
        return None if payload is None else json.loads(payload)
    except (WireError, ValueError, RecursionError):
        return None


def _nothing(_: object) -> None:
    """Nobody runs yet, so nobody calls or prints."""

"""The pool: one zygote, a few warm workers, none of which is ever used twice.

``take`` is the only way to get a worker. A worker that was forked ahead is locked down and waiting;
another takes its place while the run is under way. How many there are at one time is bounded, and
who waits is served in the order of arrival.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import deque

from nocturn.errors import ConfigurationError, IsolationError
from nocturn.host.crew import Crew
from nocturn.host.process import Worker, quickjs, spawn_worker
from nocturn.host.zygote import Zygote, bounds_of
from nocturn.limits import SIGNAL_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Final

    from nocturn.host.process import EngineFiles
    from nocturn.limits import Limits

__all__ = ["Kin", "Pool", "Ticket"]

_CORES: Final = os.cpu_count() or 1
WARM: Final = max(2, _CORES)
"""Workers that are kept ready, about 1.5 MB each."""
MOST: Final = max(16, 4 * _CORES)
"""Workers at one time. More would share the same cores, and each would see its wall clock run."""
SESSIONS: Final = 32
"""Sessions at one time, beside those; each is one process, and two while a line runs."""
ARRIVAL_SECONDS: Final = 5.0
"""How long a session's process may take to fork; a guest is in it, so it may never."""


class Ticket:
    """A place in the queue for a worker; whoever holds it may leave the queue."""

    __slots__ = ("_called", "abandoned")

    def __init__(self) -> None:
        self._called = threading.Event()
        self.abandoned = False

    def abandon(self) -> None:
        """Leaves the queue; ``take`` returns None."""
        self.abandoned = True
        self._called.set()

    def call(self) -> None:
        """Lets whoever waits go on."""
        self._called.set()

    def wait(self) -> None:
        """Waits to be called, or to be abandoned."""
        while not self._called.wait(SIGNAL_SECONDS):
            pass


class Kin:
    """The processes of a session and of its forks, which are ended together.

    Attributes:
        first: The one that it began with.
        workers: Those that are not reaped yet, and some that are.
        sessions: How many sessions go on with them.
        branching: Held by who has one of them fork: one at a time is ruled on.

    Args:
        first: As above.
    """

    __slots__ = ("branching", "first", "sessions", "workers")

    def __init__(self, first: Worker) -> None:
        self.first = first
        self.workers = {first}
        self.sessions = 1
        self.branching = threading.Lock()


class Pool:
    """Workers for runs under the same limits, and for others where those are asked for.

    Attributes:
        crew: The threads that answer its workers.

    Args:
        limits: Gives what warm workers are locked down to.
        warm: How many are kept ready.
        most: How many there are at one time, those that are ready not counted.
        engine: Gives what they run.
    """

    def __init__(
        self,
        limits: Callable[[], Limits],
        *,
        warm: int = WARM,
        most: int = MOST,
        engine: Callable[[], EngineFiles] = quickjs,
    ) -> None:
        self._limits = limits
        self._engine = engine
        self._warm_wanted = warm
        self._most = most
        self._reset()
        _POOLS.add(self)

    def _reset(self) -> None:
        """Starts from nothing: when made, and in a fork of the host, which has no zygote."""
        self._state = threading.Condition()
        self._talking = threading.Lock()
        self._free = self._most
        self._queue: deque[Ticket] = deque()
        self._ready: deque[Worker] = deque()
        self._dead: deque[Worker] = deque()
        self._forsaken: deque[tuple[Kin, Worker]] = deque()
        self._zygote: Zygote | None = None
        self._keeper: threading.Thread | None = None
        self._filling = False
        self._closed = False
        self._sessions = 0
        self._kins: set[Kin] = set()
        self.crew = Crew()

    def start(self) -> None:
        """Lets the zygote begin to load, where there is none; waits for nothing."""
        if sys.platform == "linux" and self._zygote is None and not self._closed:
            with self._talking:
                if self._zygote is None:
                    self._zygote = Zygote(self._engine())

    def take(self, limits: Limits, ticket: Ticket) -> Worker | None:
        """Waits for a place and returns a worker that no guest has been in.

        Args:
            limits: The limits of the run that it is for.
            ticket: Its place in the queue.

        Returns:
            None where the ticket was abandoned.

        Raises:
            ConfigurationError: No worker can be started, or the pool is closed.
            IsolationError: The zygote could not be locked down.
        """
        with self._state:
            if self._closed:
                raise ConfigurationError("the workspace is closed: make a new Workspace")
            if self._free > 0 and not self._queue:
                self._free -= 1
                ticket.call()
            else:
                self._queue.append(ticket)
        try:
            ticket.wait()
        except BaseException:
            ticket.abandon()
            self._leave(ticket)
            raise
        if ticket.abandoned:
            self._leave(ticket)
            return None
        try:
            worker = self._next_ready() if bounds_of(limits) == bounds_of(self._limits()) else None
            return worker or self._fork(limits)
        except BaseException:
            self._release()
            raise

    def give_back(self, worker: Worker) -> None:
        """Ends a worker that was taken, and lets the next in the queue go on."""
        with self._state:
            self._filling = not self._closed
        self.bury(worker)
        self._release()

    def bury(self, worker: Worker) -> None:
        """Ends a worker, and has it reaped off everybody's path."""
        worker.kill()
        with self._state:
            self._dead.append(worker)
            self._start_keeper()
            self._state.notify_all()

    def admit(self) -> None:
        """Counts one session more; they are none of those that runs wait for.

        Raises:
            ConfigurationError: There are :data:`SESSIONS` already.
        """
        if self._sessions >= SESSIONS:  # those that nobody holds may not be collected yet
            import gc

            gc.collect()
        with self._state:
            if self._sessions >= SESSIONS:
                raise ConfigurationError(
                    f"there are {SESSIONS} sessions open, the most at one time: close one"
                )
            self._sessions += 1

    def dismiss(self) -> None:
        """Counts one session less."""
        with self._state:
            self._sessions -= 1

    def join(self, kin: Kin) -> None:
        """Counts one session more that goes on with these processes."""
        with self._state:
            kin.sessions += 1

    def forsake(self, kin: Kin | None, worker: Worker | None) -> None:
        """Counts one session less, which nobody can close any more, and has it ended.

        Waits for nothing and starts nothing: garbage is collected in the midst of anything.
        """
        with self._state:
            self._sessions -= 1
            if kin is not None and worker is not None:
                self._forsaken.append((kin, worker))
                self._state.notify_all()

    def leave(self, kin: Kin, worker: Worker) -> None:
        """Lets go of a session's processes, of which ``worker`` is its own; its forks go on."""
        with self._state:
            kin.sessions -= 1
            last = kin.sessions == 0
        if last:
            self.end_session(kin)
        worker.is_kept = False
        self.bury(worker)
        worker.close()

    def open_session(self, limits: Limits) -> Kin:
        """Returns a session's processes: the first. Whoever gets it has to end it.

        Raises:
            ConfigurationError: None can be started, or the pool is closed.
            IsolationError: The zygote could not be locked down.
        """
        if self._closed:
            raise ConfigurationError("the workspace is closed: make a new Workspace")
        kin = Kin(self._fork(limits, for_session=True))
        with self._state:
            self._kins.add(kin)
            self._start_keeper()
        return kin

    def branch(self, worker: Worker, limits: Limits) -> Worker | None:
        """Has a session's process fork, and returns the child; None where none comes."""
        zygote = self._zygote
        if zygote is None:
            return None
        try:
            with self._talking:
                branch = zygote.open_branch(worker)
            if branch is None:
                return None
            branch.wait(ARRIVAL_SECONDS)  # a guest is in it, so nobody else waits with us
            with self._talking:
                return zygote.close_branch(branch, limits)
        except (OSError, EOFError):
            return None

    def end_session(self, kin: Kin) -> None:
        """Ends every process of a session and of its forks.

        Their sockets stay open: somebody may be at one, and its number must not be another's yet.
        """
        with self._state:
            if kin not in self._kins:
                return
            self._kins.discard(kin)
        for worker in kin.workers:
            worker.kill()
        with self._talking:  # nobody else has one reaped, whose id may be another's by then
            if sys.platform == "linux":
                self._end_all(kin)
            for worker in kin.workers:
                worker.forget() if sys.platform == "linux" else worker.reap()

    def _end_all(self, kin: Kin) -> None:
        if self._zygote is not None:
            try:  # noqa: SIM105 - contextlib is not loaded otherwise
                self._zygote.end_session(kin.first)
            except (OSError, EOFError):  # it is dead or about to be, and they with it
                pass

    def reap(self, worker: Worker) -> int:
        """Returns the signal that ended a worker, once it is gone."""
        with self._talking:
            return worker.reap()

    def close(self) -> None:
        """Ends every worker and the zygote; returns when they are gone."""
        with self._state:
            self._closed = True
            self._state.notify_all()
            keeper, self._keeper = self._keeper, None
            waiting, self._queue = list(self._queue), deque()
        for ticket in waiting:
            ticket.abandon()
        for kin in tuple(self._kins):
            self.end_session(kin)
        self.crew.close()
        if keeper is not None:
            keeper.join()
        for worker in self._ready:
            worker.kill()
            worker.close()
        # Reaped by the zygote while there is one: an orphan would be left to whatever is init here.
        for worker in (*self._ready, *self._dead):
            self.reap(worker)
        self._ready.clear()
        self._dead.clear()
        with self._talking:
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def _next_ready(self) -> Worker | None:
        """Returns a worker that is ready; one that was killed meanwhile is cleared away."""
        with self._state:
            while self._ready:
                worker = self._ready.popleft()
                if not worker.is_gone():
                    return worker
                worker.close()
                self._dead.append(worker)
        return None

    def begin_anew(self) -> None:
        """Lets go of everything: a fork of the host has its descriptors, not threads or workers."""
        for worker in self._ready:
            worker.close()
        for worker in (each for kin in self._kins for each in kin.workers):
            worker.forget()
            worker.is_kept = False
            worker.close()
        if self._zygote is not None:
            self._zygote.forget()
        closed = self._closed
        self._reset()
        self._closed = closed

    def _leave(self, ticket: Ticket) -> None:
        with self._state:
            if ticket in self._queue:
                self._queue.remove(ticket)
                return
        self._release()  # it was called before it was abandoned, so it had a place

    def _release(self) -> None:
        with self._state:
            while self._queue:
                ticket = self._queue.popleft()
                if not ticket.abandoned:
                    ticket.call()
                    return
            self._free += 1

    def _fork(self, limits: Limits, *, for_session: bool = False) -> Worker:
        if sys.platform != "linux":
            return spawn_worker(self._engine(), *bounds_of(limits), for_session=for_session)
        with self._talking:
            for again in (True, False):
                try:
                    zygote = self._sound_zygote()
                    return zygote.fork_session(limits) if for_session else zygote.fork(limits)
                except (OSError, EOFError):  # somebody killed it; its workers went with it
                    if not again:
                        raise ConfigurationError(
                            "the process that workers are forked from ends at once: "
                            "see what limits this process was started with"
                        ) from None
        raise AssertionError

    def _sound_zygote(self) -> Zygote:
        if self._zygote is not None and not self._zygote.is_sound:
            self._zygote.close()
            self._zygote = None
        if self._zygote is None:
            self._zygote = Zygote(self._engine())
        return self._zygote

    def _start_keeper(self) -> None:
        if self._keeper is None and not self._closed:
            self._keeper = threading.Thread(target=self._keep, name="nocturn-pool", daemon=True)
            self._keeper.start()

    def _keep(self) -> None:
        """Forks workers ahead and clears the dead away, off every run's path."""
        while True:
            with self._state:
                while not (self._dead or self._forsaken or self._short() or self._closed):
                    self._state.wait()
                if self._closed:
                    return
                dead = self._dead.popleft() if self._dead else None
                forsaken = self._forsaken.popleft() if self._forsaken else None
                short = self._short()
            if dead is not None:
                self.reap(dead)
            if forsaken is not None:
                self.leave(*forsaken)
            try:
                if short:
                    self._add_ready(self._fork(self._limits()))
            except (OSError, EOFError, ConfigurationError, IsolationError):
                with self._state:
                    self._filling = False  # the next run meets the same trouble, and says so

    def _add_ready(self, worker: Worker) -> None:
        with self._state:
            if not self._closed:
                self._ready.append(worker)
                return
        worker.kill()
        worker.close()
        self.reap(worker)

    def _short(self) -> bool:
        return self._filling and len(self._ready) < self._warm_wanted


_POOLS: weakref.WeakSet[Pool] = weakref.WeakSet()


def _begin_anew() -> None:
    for pool in _POOLS:
        pool.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

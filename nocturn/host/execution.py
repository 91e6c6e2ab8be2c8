"""One run from start to result: a worker, its exchange, and the clocks that end it."""

from __future__ import annotations

import os
import threading

from nocturn.errors import CANCELLED, ConfigurationError, NocturnError, RunInterrupted
from nocturn.host.clock import RunClock
from nocturn.host.exchange import Ending, Exchange
from nocturn.host.pool import Ticket
from nocturn.host.result import CallRecord, ConsoleLine, RunError, RunResult, Usage, WouldWrite
from nocturn.limits import MOST_SECONDS, SIGNAL_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable, Sequence
    from typing import Any, Final

    from nocturn.host.pool import Pool
    from nocturn.host.process import Worker
    from nocturn.host.program import Program
    from nocturn.host.session import Session
    from nocturn.host.typescript import Reading
    from nocturn.limits import Limits
    from nocturn.registry.call import Call

__all__ = ["Execution", "probe"]

SETTLE_SECONDS: Final = 1.0
"""How long a call's thread may take to end once its reply was sent."""
_WELL: Final = ("ok", "guest_error", "never_settles", "refused_source")
"""How a session's line may end without being taken back."""


class Execution:
    """One run. The exchange has a thread of its own, so that a slow tool cannot hold a deadline up.

    Args:
        program: The script and its modules.
        arguments: The guest's ``nocturn.args``.
        limits: The run's limits.
        isolation: ``full`` or ``best-effort``.
        pool: Where its worker comes from: a pool, or a session.
        on_call: Told of each call that has ended, in the exchange's thread.
        on_console: Told of each line as it arrives, in the exchange's thread.
        dry_run: Whether the result says what would have been written.
        reading: Makes JavaScript of the program first; None where it is that.
        head: What stands before the worker's first frame; a session's line has something there.
    """

    def __init__(
        self,
        program: Program,
        arguments: Sequence[str],
        limits: Limits,
        isolation: str,
        pool: Pool | Session,
        on_call: Callable[[CallRecord], None] | None = None,
        on_console: Callable[[ConsoleLine], None] | None = None,
        *,
        dry_run: bool = False,
        reading: Reading | None = None,
        head: bytes = b"",
    ) -> None:
        self._head = head
        self._program = program
        self.identity = os.urandom(8).hex()
        self._arguments = _texts(arguments)
        self._limits = limits
        self._isolation = isolation
        self._pool = pool
        self._telling = threading.Lock()
        self._held: list[tuple[Callable[[Any], None], object]] = []
        self._on_call = on_call
        self._on_console = on_console
        self._dry_run = dry_run
        self._reading = reading
        self._code = program
        self._changed = threading.Condition()
        self._ending: Ending | None = None
        self._fault: BaseException | None = None
        self._ticket = Ticket()
        self._holders = 2
        self._asides = 0
        self.clock = RunClock(self._changed, self._telling, self._tell_on)

    def alive(self) -> bool:
        """Returns whether a call of this run may still begin."""
        return self._ending is None

    def ended_well(self) -> bool:
        """Returns whether its worker may go on: it ended as a script may, and no call is open.

        A call's thread may be about to end; a worker that said it was done before its calls were
        answered is a hostile one.
        """
        with self._changed:
            if self._ending is None or self._ending.status not in _WELL:
                return False
            return self._changed.wait_for(lambda: self._asides == 0, SETTLE_SECONDS)

    def cancel(self) -> None:
        """Ends the run as ``cancelled``, also while it waits for a worker; safe from any thread."""
        self._end(_cancelled())
        self._ticket.abandon()
        if self._reading is not None:
            self._reading.cancel()

    def run(self, dispatch: Callable[[Call], object]) -> RunResult:
        """Runs the script to its end.

        Args:
            dispatch: Runs one call of the guest's.

        Raises:
            IsolationError: The machine gives less isolation than was asked for; nothing was run.
            ConfigurationError: No worker could be started.
            RunInterrupted: Ctrl-C; the worker is gone.
        """
        if refusal := self._program.refusal or self._too_large():
            return self._refused(RunError(code=None, name="RefusedSource", message=refusal))
        if self._reading is not None and (ended := self._read(self._reading)) is not None:
            return ended
        worker = self._pool.take(self._limits, self._ticket)
        if worker is None:
            return self._result(None, 0.0)
        self.clock.restart()  # who waited for a worker has used nothing up

        def begin(call: Call) -> Any:
            # What the worker had sent before it was ended must not so much as ask a person.
            if not self.alive():
                raise NocturnError(CANCELLED, "the run had ended before the call could begin")
            return dispatch(call)

        exchange = Exchange(
            worker.channel,
            begin,
            self._limits,
            lambda work: self._aside(work, worker),
            self._tell_call,
            self._tell_console,
        )
        interrupted = False
        try:
            self._pool.crew.start(lambda: self._converse(exchange, worker))
            self._watch(worker.cpu_seconds)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self._end(_cancelled())
            cpu_seconds = worker.cpu_seconds()
            self._pool.give_back(worker)
        self._let_go(worker)
        if self._fault is not None:
            raise self._fault
        self._tell_what_was_held()
        if self._ending is not None and self._ending.status == "worker_died":
            self._ended_by(self._pool.reap(worker))
        result = self._result(exchange, cpu_seconds)
        if interrupted:
            raise RunInterrupted(result)
        return result

    async def run_async(self, dispatch: Callable[[Call], object]) -> RunResult:
        """Runs the script to its end in a thread of its own; otherwise as :meth:`run`.

        Cancelling the task ends the worker, and is done when the worker is gone.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        done: asyncio.Future[RunResult] = loop.create_future()

        def settle(result: RunResult | None, fault: BaseException | None) -> None:
            if fault is not None:
                done.set_exception(fault)
            elif result is not None:
                done.set_result(result)

        def work() -> None:
            result, fault = None, None
            try:
                result = self.run(dispatch)
            except BaseException as problem:  # noqa: BLE001 - raised again in the event loop
                fault = problem
            try:  # noqa: SIM105 - contextlib is not loaded otherwise
                loop.call_soon_threadsafe(settle, result, fault)
            except RuntimeError:  # the loop was closed meanwhile: nobody waits
                pass

        # The loop's own executor has too few threads: a slow tool would delay other runs.
        threading.Thread(target=work, name="nocturn-async", daemon=True).start()
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait([done])
            raise

    def _too_large(self) -> str:
        texts = (self._program.text, *self._program.files.values())
        limit = self._limits.source_bytes
        if 4 * sum(map(len, texts)) <= limit:  # no character has more bytes
            return ""
        size = sum(len(each.encode("utf-8", "surrogatepass")) for each in texts)
        if size <= limit:
            return ""
        return (
            f"limit source_bytes is {limit} and the source is {size} bytes: split it, or raise "
            "Limits.source_bytes"
        )

    def _read(self, reading: Reading) -> RunResult | None:
        """Makes JavaScript of the source; returns what the run was where that cannot be done."""
        try:
            outcome = reading.run()
        except RunInterrupted:
            self.cancel()
            raise RunInterrupted(self._result(None, 0.0)) from None
        if not self.alive():
            return self._result(None, 0.0)
        if isinstance(outcome, RunError):
            return self._refused(outcome)
        self._code = outcome
        return None

    def _refused(self, error: RunError) -> RunResult:
        return RunResult(
            status="refused_source",
            error=error,
            would_write=() if self._dry_run else None,
            run=self.identity,
        )

    def _converse(self, exchange: Exchange, worker: Worker) -> None:
        try:
            ending = exchange.prepare(self._isolation)
            if ending is None:
                self.clock.restart()
                ending = exchange.answer(self._code, self._arguments, self._head)
        except BaseException as fault:  # noqa: BLE001 - raised again where the caller waits
            self._fault = fault
            ending = Ending("worker_died", reason="the host failed")
        self._end(ending)
        self._let_go(worker)

    def _aside(self, work: Callable[[], None], worker: Worker) -> None:
        """Has another thread work, which holds the worker's socket open."""

        def hold() -> None:
            try:
                work()
            except BaseException as fault:  # noqa: BLE001 - raised again where the caller waits
                self._fail(fault)
            with self._changed:
                self._asides -= 1
                self._changed.notify_all()
            self._let_go(worker)

        with self._changed:
            self._holders += 1
            self._asides += 1
        self._pool.crew.start(hold)

    def _fail(self, fault: BaseException) -> None:
        self._fault = fault
        self._end(Ending("worker_died", reason="the host failed"))

    def _let_go(self, worker: Worker) -> None:
        """Closes the worker's socket once every thread is done with it.

        A tool may still be at work when the run is over: its outcome is the journal's then, not
        this result's, and nobody waits for it.
        """
        with self._changed:
            self._holders -= 1
            last = self._holders == 0
        if last:
            worker.close()

    def _watch(self, cpu_seconds: Callable[[], float]) -> None:
        """Waits until the run has ended or a limit is reached: CPU time cannot outrun the wall."""
        limits, clock = self._limits, self.clock
        with self._changed:
            while self._ending is None:
                paused = clock.paused  # the guest may compute on while a person decides
                wall_left = MOST_SECONDS if paused else limits.wall_seconds - clock.elapsed_seconds
                cpu_left = limits.cpu_seconds - cpu_seconds()
                if wall_left <= 0:
                    self._ending = _timed_out("wall_seconds", limits.wall_seconds, "wall clock")
                elif cpu_left <= 0:
                    self._ending = _timed_out("cpu_seconds", limits.cpu_seconds, "CPU")
                else:
                    self._changed.wait(min(wall_left, cpu_left, SIGNAL_SECONDS))

    def _end(self, ending: Ending) -> None:
        with self._changed:
            if self._ending is None:
                self._ending = ending
            self._changed.notify_all()

    def _out_of_memory(self, error: RunError, used_bytes: int | None) -> RunError:
        from dataclasses import replace

        return replace(
            error,
            message=f"{error.message}: limit heap_bytes is {self._limits.heap_bytes} and "
            f"{used_bytes or 0} bytes were used: keep less at a time, or raise it",
        )

    def _ended_by(self, number: int) -> None:
        """Says what ended a worker that did not end by itself."""
        import signal

        ending = self._ending
        if ending is None or ending.status != "worker_died" or number == 0:
            return
        if number == getattr(signal, "SIGXCPU", -1):
            self._ending = _timed_out("cpu_seconds", self._limits.cpu_seconds, "CPU")
        else:
            ending.reason += f" (signal {number}, {signal.strsignal(number)})"

    def _tell_call(self, call: Call) -> None:
        self._tell(self._on_call, _record(call))

    def _tell_console(self, line: ConsoleLine) -> None:
        self._tell(self._on_console, line)

    def _tell(self, listener: Callable[[Any], None] | None, what: object) -> None:
        """Tells a listener, one thing at a time, and nothing between a question and its answer."""
        with self._telling:
            if listener is not None and self.alive():
                self._held.append((listener, what))
            self._tell_held()

    def _tell_on(self) -> None:
        """Tells what was held back, now that nobody is asked; a listener's fault ends the run."""
        if not self._held:
            return
        try:
            with self._telling:
                self._tell_held()
        except BaseException as fault:  # noqa: BLE001 - raised again where the caller waits
            self._fail(fault)

    def _tell_held(self) -> None:
        while self._held and not self.clock.paused and self.alive():
            listener, what = self._held.pop(0)
            listener(what)

    def _tell_what_was_held(self) -> None:
        """Tells what was printed during a question that the run has ended in."""
        with self._telling:
            held, self._held = self._held, []
        for listener, what in held:
            listener(what)

    def _located(self, ending: Ending, told: list[Any]) -> list[RunError]:
        from nocturn.host.location import Locator

        locator = Locator(self._program, ending.lead)
        return [locator.locate(each) for each in told]

    def _result(self, exchange: Exchange | None, cpu_seconds: float) -> RunResult:
        ending = self._ending or _cancelled()
        wall_seconds = self.clock.elapsed_seconds
        error = None
        if ending.error is not None:
            error = self._located(ending, [ending.error])[0]
            if ending.status == "memory_limit":
                error = self._out_of_memory(error, ending.heap_bytes)
        elif ending.status != "ok":
            name = "".join(word.capitalize() for word in ending.status.split("_"))
            error = RunError(code=None, name=name, message=ending.reason)
        unhandled = self._located(ending, ending.unhandled) if ending.unhandled else []
        return RunResult(
            status=ending.status,
            value=ending.value,
            console=tuple(exchange.console) if exchange else (),
            calls=tuple(_record(call) for call in tuple(exchange.calls)) if exchange else (),
            unhandled_rejections=tuple(unhandled),
            error=error,
            usage=Usage(
                wall_ms=round(wall_seconds * 1e3, 3),
                cpu_ms=round(cpu_seconds * 1e3, 3),
                heap_bytes=ending.heap_bytes,
                console_bytes=exchange.console_bytes if exchange else 0,
                calls=exchange.call_count if exchange else 0,
                waited_ms=round(self.clock.waited_seconds * 1e3, 3),
            ),
            isolation=exchange.isolation if exchange else "none",
            would_write=_would_write(exchange) if self._dry_run else None,
            run=self.identity,
            shown=ending.shown,
        )


def probe(pool: Pool, limits: Limits) -> tuple[str, dict[str, str]]:
    """Has one worker lock itself down, and runs nothing in it.

    Returns:
        The level, and for each step ``on`` or ``off: why``.

    Raises:
        IsolationError: A step failed that should work here.
        ConfigurationError: No worker can be started.
    """
    worker = pool.take(limits, Ticket())
    if worker is None:
        raise ConfigurationError("the pool is closed")
    exchange = Exchange(worker.channel, _nothing, limits, _nothing, _nothing, _nothing)
    try:
        ended = exchange.prepare("best-effort")
        if ended is not None:
            raise ConfigurationError(f"no worker can be had: {ended.reason}")
    finally:
        pool.give_back(worker)
        worker.close()
    return exchange.isolation, exchange.steps


def _nothing(_: object) -> None:
    """Nobody runs, so nobody calls or prints."""


def _record(call: Call) -> CallRecord:
    # A call without an outcome was overtaken by the end of its run.
    code = call.code if call.ended is not None else CANCELLED
    effects = tuple(effect.to_dict() for effect in call.effects)
    return CallRecord(call.tool, effects, call.ruling, code, call.bytes, call.ms)


def _would_write(exchange: Exchange | None) -> tuple[WouldWrite, ...]:
    calls = tuple(exchange.calls) if exchange else ()
    return tuple(WouldWrite(*call.would_write) for call in calls if call.would_write is not None)


def _texts(arguments: Sequence[str]) -> list[str]:
    texts: list[Any] = list(arguments)
    if isinstance(arguments, str) or not all(isinstance(each, str) for each in texts):
        raise ConfigurationError('args is not a list of texts: give args=["one", "two"]')
    return texts


def _cancelled() -> Ending:
    return Ending("cancelled", reason="the run was cancelled")


def _timed_out(name: str, limit: float, what: str) -> Ending:
    return Ending(
        "time_limit",
        reason=f"limit {name} is {limit:g} and the script used it up ({what}): "
        f"do less in one run, or raise it",
    )

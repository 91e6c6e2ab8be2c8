"""Thousands of runs in one workspace, a tenth killed at their deadline, a tenth crashed on purpose.

Each run must end as it should, with the right value; 200 concurrent ones too. Then one session has
1,000 lines, every twentieth of which is killed and must take nothing else back. At the end nothing
may be left: no process, no descriptor, no thread, and the memory of host and zygote must have
stayed flat. Exits with 1, and says what was wrong, where something is. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nocturn import Limits, Workspace, tool
from nocturn.host.pool import WARM, Pool, Ticket

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nocturn import RunResult
    from nocturn.host.process import Worker

__all__ = ["KINDS", "Held", "Kind", "leaks", "main", "problem_of"]

DEADLINE: Final = Limits(wall_seconds=0.02)
GROWTH_BYTES: Final = 8 << 20
"""What the host, or the zygote, may grow by between the first tenth and the end."""
FATAL_EVERY: Final = 20
"""Of a session's lines one in so many is killed."""
SETTLE_SECONDS: Final = 10.0
"""In which the last runs' threads and workers must be gone."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of run.

    Attributes:
        status: How it must end.
        source: Its script; ``{n}`` is the run's number.
        value: The value that it must have, from the number; None where there is none.
        limits: Its limits; None for the workspace's.
    """

    status: str
    source: str
    value: Callable[[int], object] | None = None
    limits: Limits | None = None


_FINE: Final = (
    Kind("ok", "{n} * 2", lambda n: n * 2),
    Kind("ok", "console.log('run', {n}); 'a'.repeat(1000).length + {n}", lambda n: 1_000 + n),
    Kind("ok", "nocturn.call('add', {{a: {n}, b: 1}})", lambda n: n + 1),
    Kind("guest_error", "throw new RangeError('{n}')"),
)
KINDS: Final = (
    Kind("time_limit", "for(;;);", limits=DEADLINE),
    *_FINE,
    Kind("worker_died", "nocturn.call('crash', {{run: {n}}}); {n}"),
    *_FINE,
)
"""Ten kinds, in turn: one is killed, one crashes, eight end by themselves."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a process holds at one moment.

    Attributes:
        processes: Its descendants that are alive or not yet reaped.
        descriptors: Its open descriptors.
        threads: Its threads.
        host_bytes: Its resident memory.
        zygote_bytes: The resident memory of its children, which is where workers are forked.
    """

    processes: int
    descriptors: int
    threads: int
    host_bytes: int
    zygote_bytes: int

    @classmethod
    def now(cls) -> Held:
        """Returns what this process holds."""
        gc.collect()
        own = _children(os.getpid())
        return cls(
            processes=len(own) + sum(len(_children(pid)) for pid in own),
            descriptors=len(os.listdir("/proc/self/fd")),
            threads=len(os.listdir("/proc/self/task")),
            host_bytes=_resident_bytes(os.getpid()),
            zygote_bytes=sum(map(_resident_bytes, own)),
        )


def leaks(before: Held, after: Held, growth_bytes: int = GROWTH_BYTES) -> list[str]:
    """Compares two moments, of which the later must hold no more.

    Args:
        before: The earlier one.
        after: The later one.
        growth_bytes: By how much memory may differ, since allocators keep some.

    Returns:
        A sentence for each thing that leaked.
    """
    found: list[str] = []
    for field in fields(Held):
        earlier, later = getattr(before, field.name), getattr(after, field.name)
        allowed = growth_bytes if field.name.endswith("_bytes") else 0
        if later > earlier + allowed:
            found.append(f"{field.name} went from {earlier:,} to {later:,}")
    return found


def problem_of(kind: Kind, number: int, result: RunResult) -> str:
    """Returns what is wrong with a run's result; empty where nothing is."""
    if result.status != kind.status:
        said = result.error.message if result.error else ""
        return f"run {number} ended as {result.status} ({said}), not as {kind.status}"
    wanted = kind.value(number) if kind.value else None
    return "" if result.value == wanted else f"run {number} gave {result.value!r}, not {wanted!r}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it all and prints what came of it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=10_000, help="runs in a row")
    parser.add_argument("--concurrent", type=int, default=200, help="asynchronous runs at once")
    parser.add_argument("--lines", type=int, default=1_000, help="lines of one session")
    given = parser.parse_args(arguments)
    if sys.platform != "linux":
        print("soak: it looks for what is left in /proc, so it is for Linux")
        return 0
    with tempfile.TemporaryDirectory(prefix="nocturn-soak-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        problems = _soak(folder, max(len(KINDS), given.count), given.concurrent, given.lines)
    for problem in problems[:20]:
        print(f"soak: {problem}", file=sys.stderr)
    print(
        f"soak: {len(problems)} problems" if problems else "soak: nothing is left, all ended well"
    )
    return 1 if problems else 0


def _soak(folder: str, count: int, concurrent: int, lines: int) -> list[str]:
    """Returns a sentence for each thing that went wrong."""
    before_all = Held.now()
    crash = _Crash()
    with Workspace(f"{folder}/ws", tools=[add, crash.tool], isolation="best-effort") as ws:
        # Nothing public says which worker a run has, and that one is to be crashed.
        ws._pool = crash.pool = _Remembering(lambda: ws.limits)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        first = max(len(KINDS), count // 10)
        # What the first runs leave is the pool's own; what later ones add to it is a leak.
        problems = _in_a_row(ws, range(first))
        problems += asyncio.run(_at_once(ws, concurrent))
        warm = _settled(lambda held: held.processes == 1 + WARM)
        for start in range(first, count, first):
            problems += _in_a_row(ws, range(start, min(start + first, count)))
        problems += asyncio.run(_at_once(ws, concurrent))
        problems += leaks(warm, _settled(lambda held: not leaks(warm, held)))
        problems += _one_session(ws, lines)
        problems += leaks(warm, _settled(lambda held: not leaks(warm, held)))
    closed = _settled(lambda held: not leaks(before_all, held, sys.maxsize))
    problems += leaks(before_all, closed, sys.maxsize)
    return problems


def _in_a_row(ws: Workspace, numbers: range) -> list[str]:
    start = time.monotonic()
    problems: list[str] = []
    for number in numbers:
        kind = KINDS[number % len(KINDS)]
        result = ws.run(kind.source.format(n=number), limits=kind.limits)
        problems += filter(None, [problem_of(kind, number, result)])
    rate = len(numbers) / (time.monotonic() - start)
    print(f"soak: {numbers.stop} runs, {rate:,.0f} a second, {Held.now()}", file=sys.stderr)
    return problems


def _one_session(ws: Workspace, count: int) -> list[str]:
    """Has one session count up, and loses nothing of it to the lines that are killed."""
    problems: list[str] = []
    with ws.session() as session:
        session.eval("let n = 0")
        warm: Held | None = None
        for number in range(1, count + 1):
            is_fatal = number % FATAL_EVERY == 0
            flood = "for (;;) console.log('x'.repeat(1e5))" if is_fatal else "n"
            result = session.eval(f"const line = {number}; n += 1; {flood}")
            wanted = ("output_limit", None) if is_fatal else ("ok", number - number // FATAL_EVERY)
            if (result.status, result.value) != wanted:
                problems.append(f"line {number} gave {result.status} {result.value}, not {wanted}")
            if number == max(1, count // 10):
                warm = _settled(lambda held: held.processes <= 3 + WARM)
        if warm is not None:
            held = _settled(lambda held: not leaks(warm, held))
            problems += leaks(warm, held)
            print(f"soak: one session of {count} lines, {held}", file=sys.stderr)
    return problems


async def _at_once(ws: Workspace, count: int) -> list[str]:
    kind = Kind("ok", "nocturn.call('add', {{a: {n}, b: {n}}})", lambda n: 2 * n)
    runs = (ws.run_async(kind.source.format(n=number)) for number in range(count))
    results = await asyncio.gather(*runs)
    found = (problem_of(kind, number, result) for number, result in enumerate(results))
    return [problem for problem in found if problem]


def _settled(is_settled: Callable[[Held], bool]) -> Held:
    """Waits until three looks in a row are as they should be; returns the last look at any rate."""
    deadline = time.monotonic() + SETTLE_SECONDS
    looks = 0
    while True:
        held = Held.now()
        looks = looks + 1 if is_settled(held) else 0
        if looks == _LOOKS or time.monotonic() > deadline:
            return held
        time.sleep(0.05)


@tool(axis="read", effects="ungated")
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


class _Remembering(Pool):
    """A pool that knows the last worker that it gave out."""

    last: Worker | None = None

    def take(self, limits: Limits, ticket: Ticket) -> Worker | None:
        self.last = super().take(limits, ticket)
        return self.last


class _Crash:
    """A tool that crashes the worker that called it, as a broken engine would."""

    pool: _Remembering

    def __init__(self) -> None:
        self.tool = tool(axis="read", effects="ungated", name="crash")(self._crash)

    def _crash(self, run: int) -> None:
        """Ends the calling worker by SIGSEGV and by SIGKILL, in turn."""
        worker = self.pool.last
        if worker is not None:
            os.kill(worker.pid, signal.SIGSEGV if run // len(KINDS) % 2 else signal.SIGKILL)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, thread.read_text(encoding="ascii").split())
        except OSError:  # the thread has ended meanwhile
            continue
    return found


def _resident_bytes(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except OSError:  # it has ended meanwhile
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


_LOOKS: Final = 3

if __name__ == "__main__":
    raise SystemExit(main())

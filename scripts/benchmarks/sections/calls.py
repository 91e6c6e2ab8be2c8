"""Calls: one run that calls a tool over and over, with both processes on one core and on two."""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Final

from yardsticks.processes import Echo, pinned

from nocturn import Limits, tool
from nocturn.host.execution import Execution
from nocturn.host.pool import Pool
from nocturn.host.program import Program
from sections.figure import Figure, Rounds, run, workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["calls"]

_LEAST: Final = "socket-pair turns"
_TEXT_BYTES: Final = 65_536
_SOURCE: Final = "const text = 'x'.repeat({}); for (let i = 0; i < {}; i += 1) nocturn.call({})"
_TIMES: Final = 3


@tool(axis="read", effects="ungated")
def nothing() -> None:
    """Does nothing: what a call costs is the road."""


@tool(axis="read", effects="ungated")
def length(text: str) -> int:
    """Returns a text's length."""
    return len(text)


def calls(folder: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields calls a second, against bare turns of a socket pair on the same cores."""
    cores = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
    if cores:
        yield from _placed(folder, rounds, "one core", cores[0], cores[0])
    if len(cores) > 1:
        yield from _placed(folder, rounds, "two cores", cores[0], cores[1])


def _placed(folder: str, rounds: Rounds, where: str, here: int, there: int) -> Iterator[Figure]:
    limits = Limits(wall_seconds=120, cpu_seconds=120, calls=max(rounds.calls, rounds.large_calls))
    bare = _SOURCE.format(0, rounds.calls, "'nothing'")
    large = _SOURCE.format(_TEXT_BYTES, rounds.large_calls, "'length', {text}")
    with workspace(folder, tools=[nothing, length], limits=limits) as ws:
        pool = Pool(lambda: limits)
        with pinned(there):  # the zygotes and their workers inherit this
            run(ws, "1")
            _run_without_road(pool, "1", limits)
        with Echo(there) as echo, pinned(here):
            least = rounds.calls / _seconds(lambda: echo.turns(rounds.calls))
            whole = rounds.calls / _seconds(lambda: run(ws, bare))
            engine = rounds.calls / _seconds(lambda: _run_without_road(pool, bare, limits))
            texts = rounds.large_calls / _seconds(lambda: run(ws, large))
        pool.close()
    near = where == "one core"
    for what, rate, target in (
        ("calls of a bare tool", whole, 40_000 if near else 10_000),
        ("the same without the dispatcher", engine, None),
        ("calls with 64 KiB", texts, 1_400 if near else None),
    ):
        yield Figure(f"{what}, {where}", rate, target, least, _LEAST, "/s")


def _run_without_road(pool: Pool, source: str, limits: Limits) -> None:
    execution = Execution(Program(source, "<script>"), (), limits, "best-effort", pool)
    execution.run(lambda _: None).raise_for_error()


def _seconds(action: Callable[[], object]) -> float:
    took: list[float] = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        action()
        took.append(time.perf_counter() - start)
    return statistics.median(took)

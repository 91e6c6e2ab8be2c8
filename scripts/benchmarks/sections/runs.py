"""Warm runs: one at a time, many at once, and how deep one may recurse."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from measure import measure
from yardsticks.engine import run_with_prelude

from nocturn import Limits
from sections.figure import REST_SECONDS, Figure, Rounds, run, workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["crowd", "recursion", "warm"]

_LEAST: Final = "engine + prelude in-process"
_OTHER_LIMITS: Final = Limits(heap_bytes=63 << 20)
"""Not what the waiting workers are locked to, so one has to be forked."""
_RECURSION: Final = "let d = 0; function f() { d += 1; f() } try { f() } catch {} d"


def warm(folder: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields what one run costs: with a worker waiting, with none, and back to back."""
    with workspace(folder) as ws:
        rested = measure(
            {
                "least": run_with_prelude,
                "waiting": lambda: run(ws, "1+1"),
                "none": lambda: run(ws, "1+1", limits=_OTHER_LIMITS),
            },
            rounds=rounds.runs,
            rest_seconds=REST_SECONDS,
        )
        busy = measure({"": lambda: run(ws, "1+1")}, rounds=rounds.runs)[""]
    least, waiting, none = rested.values()
    for what, seconds, target in (
        ("warm, a worker waiting, p50", waiting.median_seconds, 0.0005),
        ("warm, a worker waiting, p99", waiting.p99_seconds, 0.003),
        ("warm, none waiting, p50", none.median_seconds, 0.0015),
        ("warm, none waiting, p99", none.p99_seconds, 0.003),
        ("warm, back to back, p50", busy.median_seconds, None),
    ):
        yield Figure(what, seconds, target, least.median_seconds, _LEAST)


def crowd(folder: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields the scripts a second on all cores, against as many bare engines."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    threads = 2 * cores  # while one of them waits, another uses its core
    each = max(1, rounds.crowd // threads)
    with workspace(folder) as ws:
        run(ws, "1+1")

        def runs() -> None:
            for _ in range(each):
                run(ws, "1+1")

        took = _together(threads, runs)
    least = measure({"": run_with_prelude}, rounds=max(3, rounds.runs // 3))[""]
    yield Figure(
        f"scripts a second on {cores} cores",
        threads * each / took,
        1_250,
        least.per_second * cores,
        f"{_LEAST}, {cores} times",
        "/s",
    )


def recursion(folder: str, _: Rounds) -> Iterator[Figure]:
    """Yields how many frames a function that calls itself gets."""
    with workspace(folder) as ws:
        yield Figure("recursion", float(run(ws, _RECURSION).value), 9_000, unit="frames")


def _together(threads: int, action: Callable[[], None]) -> float:
    """Returns the seconds from a common start until the last of the threads is done."""
    faults: list[BaseException] = []
    starting = threading.Barrier(threads + 1)

    def work() -> None:
        starting.wait()
        try:
            action()
        except BaseException as fault:  # noqa: BLE001 - raised again below
            faults.append(fault)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for each in workers:
        each.start()
    starting.wait()
    start = time.perf_counter()
    for each in workers:
        each.join()
    took = time.perf_counter() - start
    if faults:
        raise faults[0]
    return took

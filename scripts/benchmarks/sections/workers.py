"""Workers that wait: how fast one is forked and locked, and the memory it takes."""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING

from measure import measure
from yardsticks.processes import Echo
from yardsticks.procfs import children, proportional_bytes

from nocturn import Limits
from nocturn.host.exchange import Exchange
from nocturn.host.pool import Pool, Ticket
from sections.figure import REST_SECONDS, Figure, Rounds, run, workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forks", "memory"]


def forks(_: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields how long it takes to have a worker, and to have it locked."""
    pool = Pool(Limits, warm=0)
    try:
        took = [_fork_seconds(pool) for _round in range(max(3, rounds.runs // 3))]
    finally:
        pool.close()
    with Echo() as echo:
        least = measure({"": lambda: echo.turns(1)}, rounds=100)[""].median_seconds
    # The first waited for the zygote.
    forked, locked = (statistics.median(each) for each in zip(*took[1:], strict=True))
    yield Figure("a worker forked, as the host sees it", forked, None, least, "socket-pair turns")
    yield Figure("a worker forked and locked", locked, None, least, "socket-pair turns")


def memory(folder: str, _: Rounds) -> Iterator[Figure]:
    """Yields what an idle worker takes; as root only."""
    with workspace(folder) as ws:
        for _round in range(2):  # the first run has the pool filled, the second finds it so
            run(ws, "1")
            time.sleep(20 * REST_SECONDS)
        (zygote,) = (child for child in children(os.getpid()) if children(child))
        sizes = [proportional_bytes(pid) for pid in children(zygote)]
        own = proportional_bytes(zygote)
    known = [size for size in sizes if size is not None]
    value = statistics.median(known) if known else None
    yield Figure("an idle worker's proportional memory", value, 1.5e6, own, "the zygote's", "B")


def _fork_seconds(pool: Pool) -> tuple[float, float]:
    start = time.perf_counter()
    worker = pool.take(Limits(), Ticket())
    if worker is None:
        msg = "nobody left the queue, and yet there is no worker"
        raise RuntimeError(msg)
    forked = time.perf_counter() - start
    Exchange(worker.channel, _ignore, Limits(), _ignore, _ignore).prepare("best-effort")
    locked = time.perf_counter() - start
    pool.give_back(worker)
    worker.close()
    return forked, locked


def _ignore(_: object) -> None:
    """Nobody calls, prints or is told."""

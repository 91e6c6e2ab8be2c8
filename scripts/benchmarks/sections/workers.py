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
from sections.figure import Figure, Rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.host.process import Worker

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


def memory(_: str, __: Rounds) -> Iterator[Figure]:
    """Yields what one of a few and one of several idle workers takes; as root only.

    What a fork has not written to is shared, so each of many has less of it on its account.
    """
    for count, target in ((2, None), (8, 1.5e6)):
        pool = Pool(Limits, warm=0)
        workers: list[Worker] = []
        try:
            for _worker in range(count):
                if (worker := pool.take(Limits(), Ticket())) is not None:
                    workers.append(worker)
                    Exchange(worker.channel, _ignore, Limits(), _ignore, _ignore, _ignore).prepare(
                        "best-effort"
                    )
            (zygote,) = (child for child in children(os.getpid()) if children(child))
            sizes = [proportional_bytes(each.pid) for each in workers]
            own = proportional_bytes(zygote)
        finally:
            for each in workers:
                pool.give_back(each)
                each.close()
            pool.close()
        known = [size for size in sizes if size is not None]
        value = statistics.median(known) if known else None
        name = f"proportional memory of one of {count} idle workers"
        yield Figure(name, value, target, own, "the zygote's", "B")


def _fork_seconds(pool: Pool) -> tuple[float, float]:
    start = time.perf_counter()
    worker = pool.take(Limits(), Ticket())
    if worker is None:
        msg = "nobody left the queue, and yet there is no worker"
        raise RuntimeError(msg)
    forked = time.perf_counter() - start
    Exchange(worker.channel, _ignore, Limits(), _ignore, _ignore, _ignore).prepare("best-effort")
    locked = time.perf_counter() - start
    pool.give_back(worker)
    worker.close()
    return forked, locked


def _ignore(_: object) -> None:
    """Nobody calls, prints or is told."""

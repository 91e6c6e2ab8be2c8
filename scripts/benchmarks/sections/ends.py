"""Ends: how late a worker is killed, and how soon its host's death reaches it."""

from __future__ import annotations

import os
import select
import signal
import statistics
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from yardsticks.procfs import children

from nocturn import Limits
from nocturn.host.execution import Execution
from nocturn.host.pool import Pool, Ticket
from nocturn.host.program import Program
from sections.figure import Figure, Rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.host.process import Worker

__all__ = ["deadlines", "host_deaths"]

_LIMITS: Final = Limits(wall_seconds=0.05)
_LOOP: Final = "console.log('here'); for(;;);"
_RUNS: Final = 2
_HOST: Final = f"""
import sys, threading
from nocturn import Limits, Workspace
limits = Limits(wall_seconds=60, cpu_seconds=60)
ws = Workspace(sys.argv[1], isolation="best-effort", limits=limits)
looping = threading.Barrier({_RUNS} + 1)
def run():
    ws.run("{_LOOP}", on_console=lambda _: looping.wait())
for _ in range({_RUNS}):
    threading.Thread(target=run, daemon=True).start()
looping.wait()
print("ready", flush=True)
threading.Event().wait()
"""
_HUNG_SECONDS: Final = 30


def deadlines(_: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields how long after its deadline a worker that loops is gone."""
    late = [_lateness_seconds() for _ in range(rounds.kills)]
    yield Figure("a worker's end after its deadline, p50", statistics.median(late), 0.01)
    yield Figure("a worker's end after its deadline, worst", max(late), 0.01)


def host_deaths(folder: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields how long after its host was killed the last worker is gone."""
    took = [_host_killed_seconds(folder) for _ in range(max(1, rounds.kills // 4))]
    yield Figure("all workers gone after the host was killed", statistics.median(took), 0.05)


def _lateness_seconds() -> float:
    pool = _Watched(lambda: _LIMITS)
    late: list[float] = []

    def wait() -> None:
        select.select([pool.fd], [], [], _HUNG_SECONDS)
        late.append(execution.clock.elapsed_seconds - _LIMITS.wall_seconds)

    waiting = threading.Thread(target=wait)
    execution = Execution(
        Program(_LOOP, "<script>"),
        (),
        _LIMITS,
        "best-effort",
        pool,
        None,
        lambda _: waiting.start(),
    )
    try:
        execution.run(lambda _: None)
        waiting.join()
    finally:
        os.close(pool.fd)
        pool.close()
    return late[0]


class _Watched(Pool):
    """A pool whose last worker's end can be waited for."""

    fd = -1

    def take(self, limits: Limits, ticket: Ticket) -> Worker | None:
        worker = super().take(limits, ticket)
        if worker is not None:
            self.fd = os.pidfd_open(worker.pid)
        return worker


def _host_killed_seconds(folder: str) -> float:
    host = subprocess.Popen([sys.executable, "-c", _HOST, f"{folder}/host"], stdout=subprocess.PIPE)
    fds: list[int] = []
    try:
        assert host.stdout is not None  # noqa: S101 - for the type checker
        host.stdout.readline()
        zygotes = children(host.pid)
        workers = [worker for zygote in zygotes for worker in children(zygote)]
        if len(workers) < _RUNS:
            msg = f"the host has {len(workers)} workers and should have {_RUNS} at least"
            raise RuntimeError(msg)
        fds = [os.pidfd_open(pid) for pid in (*zygotes, *workers)]
        start = time.perf_counter()
        host.send_signal(signal.SIGKILL)
        for fd in fds:
            if not select.select([fd], [], [], _HUNG_SECONDS)[0]:
                msg = f"a worker outlived its host by {_HUNG_SECONDS} seconds"
                raise RuntimeError(msg)
        return time.perf_counter() - start
    finally:
        host.kill()
        host.communicate()
        for fd in fds:
            os.close(fd)

"""The same work by nocturn and by other sandboxes, in one run: who isolates how, at what cost.

Peers are installed when they are first met, into a cache folder and never into this project;
isolated-vm is compiled there, which takes minutes. Each job of each peer is a process with a
deadline: what does not install, cannot do a job or hangs is a cell that says so. Behind each figure
is its ratio to the limit, quickjs-ng in the host's own process with nothing around it.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
from measure import duration
from platformdirs import user_cache_path
from rivals.driver import Driver
from rivals.installation import Installation
from rivals.peer import LIMIT, PEERS, NoFigureError, Peer
from yardsticks.processes import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_RIVALS: Final = Path(__file__).resolve().parent / "rivals"
_CORES: Final = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Jobs:
    """What is measured of each peer.

    Attributes:
        installation: Where the peers are.
        seconds: How long one job goes on.
        starts: How often a cold start is timed.
        limit_seconds: When a start or a job is given up.
    """

    installation: Installation
    seconds: float = 0.4
    starts: int = 5
    limit_seconds: float = 15.0

    def cold(self, peer: Peer) -> float:
        """Returns the seconds from nothing to the first result, the caches filled."""
        start = Start(
            (*self.installation.interpreter(peer), "-e" if peer.node else "-c", peer.cold),
            folder=self.installation.folder(peer),
            limit_seconds=self.limit_seconds,
        )
        try:
            _, *took = [start.seconds() for _ in range(self.starts + 1)]
        except RuntimeError as problem:
            raise NoFigureError("fails") from problem
        return statistics.median(took)

    def fresh(self, peer: Peer) -> float:
        """Returns the seconds of ``1+1`` in a context that nobody has been in."""
        return self._median(peer, "fresh")

    def fib(self, peer: Peer) -> float:
        """Returns the seconds of ``fib(27)``."""
        return self._median(peer, "fib")

    def calls(self, peer: Peer) -> float:
        """Returns the host calls a second."""
        return 1 / self._median(peer, "calls")

    def large(self, peer: Peer) -> float:
        """Returns the host calls a second that carry 64 KiB."""
        return 1 / self._median(peer, "large")

    def scripts(self, peer: Peer) -> float:
        """Returns the fresh ``1+1`` a second, by as many host processes as there are cores."""
        drivers: list[Driver] = []
        try:
            for _ in range(_CORES):
                drivers.append(self._driver(peer, "fresh"))  # noqa: PERF401 - closed below, each
            for driver in drivers:
                driver.begin()
            took = [driver.end()["seconds"] for driver in drivers]
        finally:
            for driver in drivers:
                driver.close()
        return math.fsum(len(each) / math.fsum(each) for each in took)

    def idle(self, peer: Peer) -> float:
        """Returns the bytes of one more sandbox that waits for a script."""
        with self._driver(peer, "idle") as driver:
            before = driver.memory_bytes()
            driver.begin()
            made = driver.end()["made"]
            return float(max(0, driver.memory_bytes() - before) / made)

    def _median(self, peer: Peer, job: str) -> float:
        with self._driver(peer, job) as driver:
            driver.begin()
            return float(statistics.median(driver.end()["seconds"]))

    def _driver(self, peer: Peer, job: str) -> Driver:
        interpreter = self.installation.interpreter(peer)
        program = str(_RIVALS / ("guests.cjs" if peer.node else "guests.py"))
        command = (*interpreter, program, peer.name, job, str(self.seconds))
        return Driver(command, self.installation.folder(peer), self.limit_seconds)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table.

    Attributes:
        head: What it says.
        job: What measures it, a method of :class:`Jobs`.
        unit: ``s``, ``/s`` or ``B``.
    """

    head: str
    job: Callable[[Jobs, Peer], float]
    unit: str = "s"

    def cell(self, figure: float | str, limit: float | str) -> str:
        """Returns a figure with its ratio to the limit's; a word as it is."""
        if isinstance(figure, str):
            return figure
        shown = {"s": duration, "/s": "{:,.0f}".format, "B": _megabytes}[self.unit](figure)
        if isinstance(limit, str) or not figure or not limit:
            return shown
        ratio = limit / figure if self.unit == "/s" else figure / limit
        return f"{shown} ({ratio:.2g})" if ratio < _SHORT else f"{shown} ({ratio:,.0f})"


_SHORT: Final = 10
_COLUMNS: Final = (
    Column("cold to a result", Jobs.cold),
    Column("fresh 1+1", Jobs.fresh),
    Column("calls/s", Jobs.calls, "/s"),
    Column("64 KiB calls/s", Jobs.large, "/s"),
    Column(f"scripts/s, {_CORES} hosts", Jobs.scripts, "/s"),
    Column("idle", Jobs.idle, "B"),
    Column("fib(27)", Jobs.fib),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = measure.options(__doc__)
    parser.add_argument("--no-install", action="store_true", help="use the peers that are there")
    parser.add_argument("--cache", type=Path, help="where the peers are, or are installed")
    given = parser.parse_args(arguments)
    cache = given.cache or user_cache_path("nocturn") / "bench-peers"
    installation = Installation(cache.absolute(), may_install=not given.no_install)
    jobs = Jobs(installation, 0.01, 1) if given.quick else Jobs(installation)
    # By job, so that a busy moment of the machine hits all peers alike.
    figures = {
        (column.head, peer.name): _figure(jobs, column, peer)
        for column in _COLUMNS
        for peer in PEERS
    }
    lines = [("peer", "its walls", *(column.head for column in _COLUMNS))]
    for peer in PEERS:
        cells = (
            column.cell(figures[column.head, peer.name], figures[column.head, LIMIT.name])
            for column in _COLUMNS
        )
        lines.append((peer.name, peer.walls, *cells))
    print(f"{measure.machine()}; in brackets: times the limit, {LIMIT.name}", end="\n\n")
    print(measure.layout(lines, markdown=given.markdown))
    return 0


def _figure(jobs: Jobs, column: Column, peer: Peer) -> float | str:
    if column.job.__name__ in peer.lacks:
        return "has none"
    try:
        return column.job(jobs, peer)
    except NoFigureError as reason:
        return str(reason)


def _megabytes(size_bytes: float) -> str:
    return f"{size_bytes / 1e6:.2f} MB"


if __name__ == "__main__":
    raise SystemExit(main())

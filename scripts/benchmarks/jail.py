"""The jail against its targets: starts, runs, calls, memory, deadlines, and how fast it is locked.

Each figure stands beside its target and beside the least that the job could cost, measured in the
same run. Targets are for two cores that do nothing else; ratios mean something on any machine. The
memory of a locked worker can be read by root only. On Linux only; ``--markdown`` prints the table
that ``docs/performance.md`` holds.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Final

import measure
from sections.calls import calls
from sections.ends import deadlines, host_deaths
from sections.figure import Rounds, workspace
from sections.guarding import guard
from sections.runs import crowd, recursion, warm
from sections.starts import starts
from sections.workers import forks, memory

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTIONS: Final = (
    starts,
    warm,
    crowd,
    calls,
    forks,
    memory,
    deadlines,
    host_deaths,
    recursion,
    guard,
)
_QUICK: Final = Rounds(starts=1, runs=4, crowd=16, calls=50, large_calls=5, kills=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    given = measure.options(__doc__).parse_args(arguments)
    if sys.platform != "linux":
        print("jail: the zygote, the pool and the lock-down are Linux's: nothing to measure here")
        return 0
    rounds = _QUICK if given.quick else Rounds()
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        with workspace(folder) as ws:
            level, _ = ws.isolation()
        figures = [figure for section in _SECTIONS for figure in section(folder, rounds)]
    print(f"{measure.machine()}; isolation: {level}", end="\n\n")
    head = ("what", "measured", "target", "met", "against the least")
    print(measure.layout([head, *(each.cells() for each in figures)], markdown=given.markdown))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

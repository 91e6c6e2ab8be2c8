"""Cold starts: from nothing to a first result, as a library and as a command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from yardsticks.processes import Start, start_all

from sections.figure import Figure, Rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["starts"]

_RUN: Final = """
import sys
from nocturn import Workspace
with Workspace(sys.argv[1], isolation="best-effort") as ws:
    print(ws.run("1+1").value, flush=True)
"""
_WRITE: Final = """
import sys
from nocturn import Workspace
with Workspace(sys.argv[1], isolation="best-effort") as ws:
    source = "nocturn.memory.write('people/lina.md', 'daughter, 7 years old', 'Likes dragons.')"
    print(ws.run(source, mode="watched").raise_for_error().value, flush=True)
"""
_TARGETS: Final = (
    ("run", "cold `python -c` to the first result of `1+1`", 0.05),
    ("write", "cold to the first `memory_write`", 0.35),
    ("eval", "`nocturn eval 1+1` as a command, to its end", 0.2),
)


def starts(folder: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields what a start costs, against a Python that does nothing."""
    script = Path(sys.executable).with_name("nocturn")
    by_import = (sys.executable, "-c", "from nocturn.cli.main import main; main()")
    command = (str(script),) if script.exists() else by_import
    place = ("--isolation", "best-effort", "--workspace", f"{folder}/eval")
    started = start_all(
        {
            "pass": Start((sys.executable, "-c", "pass"), to_end=True),
            "run": Start((sys.executable, "-c", _RUN, f"{folder}/run")),
            "write": Start((sys.executable, "-c", _WRITE, f"{folder}/write")),
            "eval": Start((*command, "eval", "1+1", *place), to_end=True),
        },
        rounds=rounds.starts,
    )
    least = started["pass"].median_seconds
    for name, what, target in _TARGETS:
        yield Figure(what, started[name].median_seconds, target, least, "`python -c pass`")

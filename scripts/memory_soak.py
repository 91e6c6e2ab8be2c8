"""Notes whose writers are killed at random points, and notes that many write at once.

First: a process changes notes over and over (writes, appends, edits, moves, removals, undoes one
change or a whole run) and says before each what will be, and after each that it is; it gets
SIGKILL at a random moment. Whatever the moment: each note is as it was confirmed last, or as the
change on its way makes it; all of one change, or nothing of it; every text that was confirmed is in
its note, the history or the trash; and nothing else is left.

Then: many processes at once. Where versions were given no update is lost, no appended line either;
no reader sees half a note, and the history has every state. Eight processes add 50 entries each to
one persona, and all are there. Exits with 1, and says what was wrong,
where something is. For systems that fork.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from soaks.crowded import crowded
from soaks.killed import killed
from soaks.personas import personas

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it all and prints what came of it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", type=int, nargs="?", default=500, help="writers that are killed")
    parser.add_argument("--processes", type=int, default=16, help="that write at once")
    parser.add_argument("--operations", type=int, default=5_000, help="of all of them together")
    parser.add_argument("--entries", type=int, default=50, help="that each adds to a persona")
    parser.add_argument("--seed", type=int, default=None, help="for what is drawn at random")
    given = parser.parse_args(arguments)
    if sys.platform == "win32":
        print("memory_soak: it forks, so it is not for Windows")
        return 0
    seed = int.from_bytes(os.urandom(4)) if given.seed is None else given.seed
    dice = random.Random(seed)  # noqa: S311 - dice
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="nocturn-soak-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        if given.kills:
            problems += killed(Path(folder) / "killed", given.kills, dice)
        if given.operations:
            problems += crowded(Path(folder) / "crowded", given.processes, given.operations, dice)
            problems += personas(Path(folder) / "persona", given.entries)
    for problem in problems[:20]:
        print(f"memory_soak: {problem}", file=sys.stderr)
    print(
        f"memory_soak: {len(problems)} problems, seed {seed}"
        if problems
        else "memory_soak: nothing lost, nothing torn, nothing left"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())

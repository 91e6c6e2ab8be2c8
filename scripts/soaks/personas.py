"""Many processes that add to one persona's memory at once."""

from __future__ import annotations

import multiprocessing
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["personas"]

PROCESSES: Final = 8


def personas(folder: Path, entries: int) -> list[str]:
    """Has each of :data:`PROCESSES` add entries; returns what was wrong.

    Args:
        folder: Where the persona is to be.
        entries: How many each adds.
    """
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add, args=(folder, n, entries)) for n in range(PROCESSES)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    problems = [f"a writer of the persona ended with {w.exitcode}" for w in writers if w.exitcode]
    wanted = sorted(f"- entry {at} of {n}" for n in range(PROCESSES) for at in range(entries))
    found = sorted((folder / "MEMORY.md").read_text(encoding="utf-8").splitlines())
    if found != wanted:
        problems.append(f"the persona has {len(found)} entries, not each of {len(wanted)} once")
    print(f"memory_soak: {len(found)} entries by {PROCESSES} processes", file=sys.stderr)
    return problems


def _add(folder: Path, number: int, entries: int) -> None:
    from nocturn.agents import memory_tool

    tool = memory_tool(folder)
    for at in range(entries):
        told = tool.execute({"action": "add", "text": f"entry {at} of {number}"})
        if told.is_error:
            raise SystemExit(told.output)

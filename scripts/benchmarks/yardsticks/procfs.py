"""What the kernel says of processes; on Linux."""

from __future__ import annotations

from pathlib import Path

__all__ = ["children", "proportional_bytes", "tree"]

_KIB = 1_024


def children(pid: int) -> list[int]:
    """Returns the pids of a process's children; none where it is gone."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, thread.read_text(encoding="ascii").split())
        except OSError:  # the thread has ended meanwhile
            continue
    return found


def tree(pid: int) -> list[int]:
    """Returns a process and all that descends from it."""
    return [pid, *(below for child in children(pid) for below in tree(child))]


def proportional_bytes(pid: int) -> int | None:
    """Returns a process's memory, what it shares divided by those who share it.

    Returns:
        None where that may not be read: it takes root for a process that cannot be dumped.
    """
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return None
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("Pss:")]
    return int(sizes[0]) * _KIB if sizes else None

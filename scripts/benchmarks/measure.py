"""What every benchmark here shares: timing things side by side, and a table of the outcome.

A bare number says more about the machine than about the code, so measure a limit, the least that
the job could cost, in the same call of :func:`measure`, and print the ratio.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Row", "Sample", "duration", "layout", "machine", "measure", "options", "table"]

_HEAD = ("what", "p50", "p99", "a second", "times its limit")
_SLOW_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Sample:
    """How long one thing took, over and over.

    Attributes:
        name: What was measured.
        seconds: One duration a round, for one operation each; not empty.
    """

    name: str
    seconds: tuple[float, ...]

    @property
    def median_seconds(self) -> float:
        """The middle duration."""
        return statistics.median(self.seconds)

    @property
    def p99_seconds(self) -> float:
        """The duration that 99 % of the rounds did not exceed (nearest rank)."""
        return sorted(self.seconds)[math.ceil(len(self.seconds) * 0.99) - 1]

    @property
    def per_second(self) -> float:
        """Operations a second, at the median."""
        return 1 / self.median_seconds


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        sample: What was measured.
        limit: The least it could cost, measured in the same run; None where there is no such thing.
    """

    sample: Sample
    limit: Sample | None = None


def measure(
    actions: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    warm_ups: int = 3,
    operations: int = 1,
    rest_seconds: float = 0.0,
) -> dict[str, Sample]:
    """Times several actions in turn, so that a busy moment of the machine hits them alike.

    Args:
        actions: What to time, by name.
        rounds: How often each is timed, at least 1.
        warm_ups: How often each runs first, untimed.
        operations: How many operations one call of an action does; durations are divided by it.
        rest_seconds: A pause before each timing, in which work in the background can finish.

    Returns:
        A sample for each action, under its name.
    """
    for action in actions.values():
        for _ in range(warm_ups):
            action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, action in actions.items():
                if rest_seconds:
                    time.sleep(rest_seconds)
                start = time.perf_counter()
                action()
                seconds[name].append((time.perf_counter() - start) / operations)
    finally:
        gc.enable()
    return {name: Sample(name, tuple(each)) for name, each in seconds.items()}


def table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """Lays samples out as a table.

    Args:
        rows: The lines, in order.
        markdown: Whether to write a Markdown table rather than plain columns.

    Returns:
        The table, without a line break at its end.
    """
    return layout([_HEAD, *(_cells(row) for row in rows)], markdown=markdown)


def layout(lines: Sequence[Sequence[str]], *, markdown: bool = False) -> str:
    """Sets lines of cells in columns: the first to the left, the others to the right.

    Args:
        lines: The head, then the rest; all of one length.
        markdown: Whether to write a Markdown table rather than plain columns.

    Returns:
        The table, without a line break at its end.
    """
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    padded = [
        [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        for line in lines
    ]
    if not markdown:
        return "\n".join("  ".join(line).rstrip() for line in padded)
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))


def options(about: str | None) -> argparse.ArgumentParser:
    """Returns the command line of a benchmark: ``--markdown`` and ``--quick``.

    Args:
        about: The benchmark's docstring.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument(
        "--quick", action="store_true", help="a few rounds only, to see that it works"
    )
    return parser


def machine() -> str:
    """Returns one line that says where the figures come from."""
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.release()}, "
        f"{platform.machine()}, {os.cpu_count()} CPUs"
    )


def duration(seconds: float) -> str:
    """Writes a duration in the largest unit that leaves at least one before the point."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    sample = row.sample
    ratio = sample.median_seconds / row.limit.median_seconds if row.limit else None
    return (
        sample.name,
        duration(sample.median_seconds),
        duration(sample.p99_seconds),
        f"{sample.per_second:,.{0 if sample.median_seconds < _SLOW_SECONDS else 1}f}",
        "" if ratio is None else f"{ratio:.1f}",
    )

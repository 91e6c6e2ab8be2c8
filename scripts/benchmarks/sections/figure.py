"""What the sections share: how often they measure, on what, and how a figure is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from measure import duration

from nocturn import Workspace

if TYPE_CHECKING:
    from nocturn import RunResult

__all__ = ["REST_SECONDS", "Figure", "Rounds", "run", "workspace"]

REST_SECONDS = 0.005
"""In which a worker that was used up is replaced."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often things are timed.

    Attributes:
        starts: Starts of a process.
        runs: Runs, one after the other.
        crowd: Runs on all cores at once, all together.
        calls: Calls in one run.
        large_calls: Calls with a large argument in one run.
        notes: Notes in one workspace.
        kills: Workers killed at their deadline; a quarter as many hosts are killed.
    """

    starts: int = 15
    runs: int = 300
    crowd: int = 2_000
    calls: int = 5_000
    large_calls: int = 300
    notes: int = 10_000
    kills: int = 20


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        what: What was measured.
        value: Seconds, a rate, bytes or frames, as ``unit`` says; None where only root may know.
        target: What it should be at most, or for rates and frames at least; None: there is none.
        least: What the bare job took, in the same unit.
        least_name: The bare job.
        unit: ``s``, ``/s``, ``B`` or ``frames``.
    """

    what: str
    value: float | None
    target: float | None = None
    least: float | None = None
    least_name: str = ""
    unit: str = "s"

    def cells(self) -> tuple[str, ...]:
        """Returns what the table shows: what, value, target, whether it is met, ratio."""
        more_is_better = self.unit in ("/s", "frames")
        target = met = ratio = ""
        if self.target is not None:
            target = f"{'≥' if more_is_better else '≤'} {self._written(self.target)}"
            met = "?" if self.value is None else "yes"
            if self.value not in (None, self.target):
                met = "no" if (self.value < self.target) == more_is_better else "yes"
        if self.value and self.least:
            times = self.least / self.value if more_is_better else self.value / self.least
            ratio = f"{times:.1f} times {self.least_name}"
        shown = "needs root" if self.value is None else self._written(self.value)
        return (self.what, shown, target, met, ratio)

    def _written(self, value: float) -> str:
        if self.unit == "s":
            return duration(value)
        if self.unit == "B":
            return f"{value / 1e6:.2f} MB"
        return f"{value:,.0f}" + (" /s" if self.unit == "/s" else "")


def workspace(folder: str, **options: Any) -> Workspace:
    """Returns a workspace that runs with what isolation the machine has; the head says which."""
    return Workspace(f"{folder}/workspace", isolation="best-effort", **options)


def run(ws: Workspace, source: str, **options: Any) -> RunResult:
    """Runs a script that must end well."""
    return ws.run(source, **options).raise_for_error()

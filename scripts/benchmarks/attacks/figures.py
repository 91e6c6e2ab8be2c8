"""How long the scanner takes: ordinary texts, hostile ones, the first scan, a write."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import measure
from measure import Sample

from attacks.hostile import hostile_texts, prose
from attacks.values import Values, fresh, scanner
from nocturn import Workspace
from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Timed", "hostile", "ordinary"]

_SHORT_BYTES: Final = 500


@dataclass(frozen=True, slots=True)
class Timed:
    """A duration beside its target and beside the least that the job could cost.

    Attributes:
        sample: What was measured.
        least: The least; None where there is no such thing.
        target_seconds: What the median should be at most; None where nothing was asked for.
    """

    sample: Sample
    least: Sample | None = None
    target_seconds: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Returns what the table shows: what, median, target, whether it is met, ratio."""
        median, target, met, ratio = self.sample.median_seconds, "", "", ""
        if self.target_seconds is not None:
            target = f"≤ {measure.duration(self.target_seconds)}"
            met = "yes" if median <= self.target_seconds else "no"
        if self.least is not None:
            ratio = f"{median / self.least.median_seconds:,.1f} times {self.least.name}"
        return (self.sample.name, measure.duration(median), target, met, ratio)


def ordinary(folder: str, rounds: int) -> Iterator[Timed]:
    """Yields the times of ordinary texts, of the first scan and of a write.

    Args:
        folder: Where workspaces may be made.
        rounds: How often each is timed.
    """
    values = fresh(1_000)
    ours = scanner(values)
    for size, words, target in (
        (_SHORT_BYTES, "500 bytes", 0.002),
        (NOTE_CONTENT_BYTES, "64 KiB", 0.15),
    ):
        text = prose(size)
        least, took = measure.measure(
            {
                "each `value in text`": partial(_search, values, text),
                f"a scan of {words}, 1,000 values": partial(ours.names, text),
            },
            rounds=rounds,
            warm_ups=min(3, rounds // 10),
        ).values()
        yield Timed(took, least, target)
    for count in (10, 1_000):
        some = values[:count]
        name = f"the first scan, {count:,} values"
        first = measure.measure(
            {name: partial(scanner, some)},
            rounds=max(1, rounds // 10),
            warm_ups=min(1, rounds // 10),
        )
        yield Timed(first[name])
    yield _write(folder, rounds)


def _write(folder: str, rounds: int) -> Timed:
    note = ("a.md", "a summary", prose(_SHORT_BYTES))
    with (
        Workspace(f"{folder}/bare") as bare,
        Workspace(f"{folder}/armed", secrets=[Values(fresh(10))]) as armed,
    ):
        least, took = measure.measure(
            {
                "the same with nothing to look for": partial(bare.memory.write, *note),
                "memory_write of 500 bytes, 10 values": partial(armed.memory.write, *note),
            },
            rounds=rounds,
        ).values()
    return Timed(took, least)


def _search(values: Sequence[str], text: str) -> bool:
    return any(value in text for value in values)


def hostile(rounds: int, size_bytes: int) -> list[Timed]:
    """Returns the times of hostile texts with a thousand values, the worst first.

    Some are made of values and say so; another that is blocked is blocked wrongly.

    Args:
        rounds: How often each is timed.
        size_bytes: How long each is.
    """
    values = fresh(1_000)
    ours = scanner(values)
    ordinary_text = prose(size_bytes)
    timed: list[Timed] = []
    for name, text in hostile_texts(values, size_bytes):
        what = f"{name} (blocked)" if ours.names(text) else name
        least, took = measure.measure(
            {
                "words of that size": partial(ours.names, ordinary_text),
                what: partial(ours.names, text),
            },
            rounds=rounds,
            warm_ups=min(1, rounds - 1),
        ).values()
        timed.append(Timed(took, least, 0.5))
    return sorted(timed, key=lambda each: each.sample.median_seconds, reverse=True)

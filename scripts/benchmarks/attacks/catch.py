"""How much of each way to hide a value is caught, and how often an innocent text is."""

from __future__ import annotations

import importlib.util
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from attacks.values import RANDOM, fresh, scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from nocturn.guard.scanner import Scanner

__all__ = [
    "ALL",
    "LARGE",
    "MOST",
    "SMALL",
    "Given",
    "Rate",
    "bands",
    "given_set",
    "groups_of",
    "rates",
    "seed_all",
]

SMALL: Final = 10
LARGE: Final = 1_000
"""Values in the vault: the one that is hidden, and others."""
MOST: Final = 0.9
ALL: Final = 0.99


@dataclass(frozen=True, slots=True)
class Given:
    """A set of evasions that was given: nobody here wrote it.

    Attributes:
        encodings: What hides a value in a text, by the name of its class.
        secrets: Makes fresh values, eight for each that is asked for.
        note: Puts what hides a value between ordinary words.
    """

    encodings: Mapping[str, Callable[[str], str]]
    secrets: Callable[[int], list[str]]
    note: Callable[[str, Callable[[str], str]], str]


@dataclass(frozen=True, slots=True)
class Rate:
    """What was caught of one class.

    Attributes:
        name: The class.
        tried: How many values were hidden.
        small: How many of them were named with ten values in the vault.
        large: How many with a thousand.
        wrong: Notes with another value of the same format that were blocked for a value, of twice
            as many as were tried.
    """

    name: str
    tried: int
    small: int
    large: int
    wrong: int

    @property
    def share(self) -> float:
        """The smaller of the two shares that were caught, 0 to 1."""
        return min(self.small, self.large) / self.tried


def seed_all(seed: int) -> None:
    """Has all that is random here begin anew: ours, and what a given set draws from."""
    # Two generators with one seed give the same bits: values of one would be found in the other's.
    RANDOM.seed(f"ours {seed}")
    random.seed(seed)


def given_set(shared: Path) -> Given | None:
    """Loads the given set by its path; None where it is not.

    Args:
        shared: The folder that is shared with other projects.
    """
    file = shared / "data" / "leaks" / "evasions.py"
    spec = importlib.util.spec_from_file_location("given_evasions", file)
    if not file.is_file() or spec is None or spec.loader is None:
        return None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Given(module.ENCODINGS, module.secrets, module.note)


def rates(
    notes: Mapping[str, Callable[[str], str]], values: Sequence[str], others: Sequence[str]
) -> Iterator[Rate]:
    """Hides each value in each way, and looks whether the scanner names it.

    Args:
        notes: What makes a note that carries a value, by the name of its class.
        values: What is in the vaults, at most :data:`LARGE`.
        others: As many that are not, each of the format of the value at its place.

    Yields:
        A rate for each class.
    """
    filler = fresh(max(LARGE, len(values)) - len(values))
    large = scanner([*values, *filler])
    small = [scanner(group) for group in groups_of(values)]
    for name, note in notes.items():
        few = many = wrong = 0
        for at, (value, other) in enumerate(zip(values, others, strict=True)):
            ours, within = small[at // SMALL], at % SMALL
            text, innocent = note(value), note(other)
            few += f"secret {within}" in ours.names(text)
            many += f"secret {at}" in large.names(text)
            wrong += _blocks(ours, innocent) + _blocks(large, innocent)
        yield Rate(name, len(values), few, many, wrong)


def groups_of(values: Sequence[str]) -> list[list[str]]:
    """Returns the values by :data:`SMALL`, the last of them filled up with others."""
    groups = [list(values[at : at + SMALL]) for at in range(0, len(values), SMALL)]
    return [[*group, *fresh(SMALL - len(group))] for group in groups]


def _blocks(ours: Scanner, text: str) -> bool:
    return any(name.startswith("secret ") for name in ours.names(text))


def bands(found: Sequence[Rate]) -> tuple[int, int]:
    """Returns how many classes are caught in at least :data:`MOST`, and :data:`ALL`, of cases."""
    return sum(each.share >= MOST for each in found), sum(each.share >= ALL for each in found)

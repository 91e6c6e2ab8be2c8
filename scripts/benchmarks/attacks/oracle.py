"""The oracle attack, run for real: a guest in a worker that sees yes and no, and asks on and on.

The budget of blocks, which ends such a run after three of them, is switched off in this process.
What a strategy gained is measured twice: by what it claims of the value that is true, and by how
many of its answers differ when it is run again with another value in the vault. Where none does,
nothing that the guest saw depends on the value.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import string
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import nocturn.guard.screen
from attacks.values import RANDOM, characters
from nocturn import Limits, Workspace, tool
from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from collections.abc import Set as AbstractSet

__all__ = ["Budget", "Outcome", "attack"]

_PREFIX: Final = "sk-ant-api03-"
_ALPHABET: Final = string.ascii_letters + string.digits + "_-"
_UNKNOWN: Final = 40
_GUEST: Final = Path(__file__).with_name("oracle.js")
_LIMITS: Final = Limits(wall_seconds=7_200, cpu_seconds=7_200, calls=1_000_000)
_STRATEGIES: Final = (
    "one letter more, by every call",
    "two letters more",
    "one letter more, in other forms",
    "thousands of guesses in a note",
    "thousands of guesses, compressed",
    "what reading back strikes out",
    "the mark, written back over a guess",
    "summaries and paths in a list",
    "pairs of many strings in a call",
    "how long it takes",
)

_Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a guest may ask.

    Attributes:
        letters: How many letters the guest takes into account; fewer than there are, and those
            that are right are among them: a hint.
        notes: Calls with as many guesses as they hold, for each strategy that packs them, about.
        rounds: How often each letter is timed.
        pieces: The sizes of which all pieces there are are written down, and sought by halving.
        narrowing_runs: Runs in which what was blocked is narrowed down, at most.
    """

    letters: int = len(_ALPHABET)
    notes: int = 400
    rounds: int = 60
    pieces: tuple[int, ...] = (1, 2, 3, 4)
    narrowing_runs: int = 400


@dataclass(slots=True)
class Outcome:
    """What became of a strategy.

    Attributes:
        strategy: What it was.
        calls: Calls made against one value.
        refused: How many of these were blocked.
        recovered: Characters of the unknown part that it found out.
        differing: Answers that were others with another value in the vault.
    """

    strategy: str
    calls: int = 0
    refused: int = 0
    recovered: int = 0
    differing: int = 0

    @property
    def bits(self) -> float:
        """The most that the answers can have told of which value it is."""
        return math.log2(math.comb(self.calls, self.differing)) + self.differing


@tool(axis="read", effects="ungated")
def keep(texts: list[str]) -> int:
    """Takes a list of texts, and says how many there are: a tool of somebody's own."""
    return len(texts)


def attack(budget: Budget, only: str | None = None) -> Iterator[Outcome]:
    """Runs every strategy against two values, and yields what each gained.

    Args:
        budget: How much the guest may ask.
        only: One strategy; None for all.
    """
    setattr(nocturn.guard.screen, "BLOCKS_A_RUN", 1_000_000_000)  # noqa: B010 - Final for the rest
    values = [f"{_PREFIX}{characters(_UNKNOWN, _ALPHABET)}AA" for _ in range(2)]
    hint = "".join(value[len(_PREFIX)] for value in values)
    others = [each for each in _ALPHABET if each not in hint]
    letters = "".join(sorted({*hint, *RANDOM.sample(others, budget.letters - len({*hint}))}))
    seed = RANDOM.randrange(1 << 31)

    def guest(value: str) -> _Guest:
        return _Guest(value, budget, letters, seed)

    for strategy in _STRATEGIES:
        if only not in (None, strategy):
            continue
        texts = _compressed() if "compressed" in strategy else []
        told = [guest(value).ask({"strategy": strategy, "texts": texts}) for value in values]
        yield _outcome(strategy, values, told)
    for size in budget.pieces:
        strategy = f"all pieces of {size}, over a run, then halving"
        if only in (None, strategy):
            swept = [guest(value).narrow(size) for value in values]
            yield _outcome(strategy, values, swept)


def _outcome(strategy: str, values: Sequence[str], told: Sequence[_Told]) -> Outcome:
    one, other = told
    longest = max(len(one.answers), len(other.answers))
    same = sum(a == b for a, b in zip(one.answers, other.answers, strict=False))
    return Outcome(
        strategy,
        calls=one.calls,
        refused=sum(answer.startswith("LEAK_BLOCKED") for answer in one.answers),
        recovered=max(
            _recovered(values[0], {*one.claims} - {*other.claims}),
            _recovered(values[1], {*other.claims} - {*one.claims}),
        ),
        differing=longest - same,
    )


@dataclass(slots=True)
class _Told:
    """What a guest was told: its calls, its claims, and each answer in turn."""

    calls: int
    claims: list[str]
    answers: list[str]
    ended: int | None = None

    def add(self, other: _Told) -> None:
        self.calls += other.calls
        self.claims += other.claims
        self.answers += other.answers


@dataclass(frozen=True, slots=True)
class _Guest:
    """A guest that asks for the one value in a workspace's vault."""

    value: str
    budget: Budget
    letters: str
    seed: int

    def ask(self, orders: dict[str, Any], ws: Workspace | None = None) -> _Told:
        """Runs the guest once, in a new workspace where none is given."""
        if ws is None:
            with self.workspace() as made:
                return self.ask(orders, made)
        known = {"prefix": _PREFIX, "letters": self.letters, "length": _UNKNOWN, "seed": self.seed}
        given = {**known, "notes": self.budget.notes, "rounds": self.budget.rounds, **orders}
        result = ws.run(
            _GUEST.read_text(), mode="watched", args=[json.dumps(given)], limits=_LIMITS
        )
        told: dict[str, Any] = result.raise_for_error().value
        meaning = {symbol: answer for answer, symbol in told["answers"]}
        answers = [meaning[symbol] for symbol in told["transcript"]]
        return _Told(told["calls"], told["claims"], answers, told["ended"])

    @contextmanager
    def workspace(self) -> Generator[Workspace]:
        """Lends a workspace of its own, with the value in its vault."""
        with (
            tempfile.TemporaryDirectory(prefix="nocturn-oracle-") as folder,
            Workspace(folder, tools=[keep], isolation="best-effort") as ws,
        ):
            ws.vault.set("ANTHROPIC_API_KEY", self.value)
            yield ws

    def narrow(self, size: int) -> _Told:
        """Writes down all pieces of a size; of what was blocked, seeks the pieces that it took."""
        told = _Told(0, [], [])
        with self.workspace() as ws:

            def blocked_at(ranges: list[_Range]) -> int | None:
                asked = self.ask({"strategy": "sweep", "size": size, "ranges": ranges}, ws)
                told.add(asked)
                return asked.ended

            end = blocked_at([(0, len(self.letters) ** size)])
            if end is not None:
                needed = _needed([(0, end)], blocked_at, self.budget.narrowing_runs)
                told.claims += [self._piece(at, size) for at, _ in needed]
        return told

    def _piece(self, place: int, size: int) -> str:
        piece = ""
        for _ in range(size):
            place, rest = divmod(place, len(self.letters))
            piece = self.letters[rest] + piece
        return piece


def _needed(
    ranges: list[_Range], blocked_at: Callable[[list[_Range]], int | None], runs: int
) -> list[_Range]:
    """Returns single pieces that are blocked together, as far as the runs go."""
    while runs > 0 and any(to - at > 1 for at, to in ranges):
        halves = [half for each in ranges for half in _halved(each)]
        for half in tuple(halves):  # without which is it blocked all the same?
            fewer = [each for each in halves if each != half]
            runs -= 1
            if fewer and blocked_at(fewer) is not None:
                halves = fewer
        ranges = halves
    return [each for each in ranges if each[1] - each[0] == 1]


def _halved(both: _Range) -> list[_Range]:
    at, to = both
    middle = (at + to) // 2
    return [both] if to - at == 1 else [(at, middle), (middle, to)]


def _recovered(value: str, claims: AbstractSet[str]) -> int:
    """Returns how many characters of the unknown part are in a claim that is true.

    Claims that are made whatever the value is are no knowledge, and are not among them.
    """
    unknown = value[len(_PREFIX) : len(_PREFIX) + _UNKNOWN]
    known: set[int] = set()
    for claim in claims:
        at = unknown.find(claim)
        if at >= 0:
            known.update(range(at, at + len(claim)))
    return len(known)


def _compressed() -> list[str]:
    """Returns notes that hold all pieces of three, and many guesses behind the prefix."""
    every = [a + b + c for a in _ALPHABET for b in _ALPHABET for c in _ALPHABET]
    packed = ["".join(every[at : at + 60_000]) for at in range(0, len(every), 60_000)]
    packed += [
        "\n".join(_PREFIX + characters(6, _ALPHABET) for _ in range(4_000)),
        "\n".join(_PREFIX + piece for piece in every[:12_000]),
    ]
    notes = [base64.b64encode(gzip.compress(text.encode(), 9)).decode() for text in packed]
    return [note for note in notes if len(note) <= NOTE_CONTENT_BYTES]

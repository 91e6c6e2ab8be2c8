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
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import nocturn.guard.screen
from attacks.values import LETTERS, RANDOM, characters
from nocturn import Limits, Workspace, tool
from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from collections.abc import Set as AbstractSet

__all__ = ["Budget", "Outcome", "attack"]

_GUEST: Final = Path(__file__).with_name("oracle.js")
_LIMITS: Final = Limits(wall_seconds=7_200, cpu_seconds=7_200, calls=1_000_000)
_MORE: Final = (
    "one letter more, by every call",
    "one letter more, beside ever less that is known",
)
_STRATEGIES: Final = (
    *_MORE,
    "two letters more",
    "one letter more, in other forms",
    "every letter but one, over and over",
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
class _Format:
    """What everybody knows of a value, and what is asked for.

    Attributes:
        what: Its name.
        prefix: What is known and stands before.
        alphabet: The letters of the unknown part.
        count: How many of them it has.
        suffix: What is known and stands behind.
        rest: How many more unknown letters follow, which are not asked for.
    """

    what: str
    prefix: str
    alphabet: str
    count: int
    suffix: str = ""
    rest: int = 0

    def value(self) -> str:
        """Returns a new value."""
        unknown = characters(self.count, self.alphabet)
        return f"{self.prefix}{unknown}{characters(self.rest, self.alphabet)}{self.suffix}"

    def unknown(self, value: str) -> str:
        """Returns what is asked for."""
        return value[len(self.prefix) :][: self.count]


_TOKEN: Final = _Format("a token", "sk-ant-api03-", LETTERS + "_-", 40, "AA")
_OTHERS: Final = (
    _Format("a database's URL", "postgres://app:", LETTERS, 14, "@db.internal:5432/prod"),
    _Format("a JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiAi", LETTERS + "_-", 60),
    _Format(
        "a private key",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ",
        LETTERS + "+/",
        14,
        "\n-----END PRIVATE KEY-----\n",
        rest=200,
    ),
)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a guest may ask.

    Attributes:
        letters: How many letters the guest takes into account; fewer than there are, and the
            first that is right is among them: a hint.
        notes: Calls with as many guesses as they hold, for each strategy that packs them, about.
        rounds: How often each letter is timed.
        pieces: The sizes of which all pieces there are of the value's first letters are written
            down, and those that are blocked sought by halving.
        narrowing_runs: Runs in which what was blocked is narrowed down, at most.
    """

    letters: int = 64
    notes: int = 150
    rounds: int = 40
    pieces: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    narrowing_runs: int = 400


@dataclass(slots=True)
class Outcome:
    """What became of a strategy.

    Attributes:
        strategy: What it was.
        calls: Calls made against one value.
        answers: What the guest saw; reading back tells it more than once a call.
        refused: How many of these were blocked.
        recovered: Characters of the unknown part that it found out.
        differing: Answers that were others with another value in the vault.
    """

    strategy: str
    calls: int = 0
    answers: int = 0
    refused: int = 0
    recovered: int = 0
    differing: int = 0

    @property
    def bits(self) -> float:
        """The most that the answers can have told of which value it is."""
        return math.log2(math.comb(self.answers, self.differing)) + self.differing


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
    for form in (_TOKEN, *_OTHERS):
        guests = _guests(form, budget)
        for strategy in _STRATEGIES if form is _TOKEN else _MORE:
            name = strategy if form is _TOKEN else f"{form.what}: {strategy}"
            if only in (None, name):
                texts = _compressed() if "compressed" in strategy else []
                told = [each.ask({"strategy": strategy, "texts": texts}) for each in guests]
                yield _outcome(name, guests, told)
    for size in budget.pieces:
        name = f"all pieces of {size} of twelve right letters, then halving"
        if only in (None, name):
            guests = _guests(_TOKEN, replace(budget, letters=0), hint=12)
            yield _outcome(name, guests, [each.narrow(size) for each in guests])


def _guests(form: _Format, budget: Budget, *, hint: int = 1) -> list[_Guest]:
    """Returns two guests that differ in the value only that they are after.

    Args:
        form: What is public of the values.
        budget: What they may ask.
        hint: How many letters of the first value they are told, from its start, in no order.
    """
    values = [form.value() for _ in range(2)]
    told = {*form.unknown(values[0])[:hint]}
    others = [each for each in form.alphabet if each not in told]
    count = max(0, min(budget.letters, len(form.alphabet)) - len(told))
    letters = "".join(sorted({*told, *RANDOM.sample(others, count)}))
    seed = RANDOM.randrange(1 << 31)
    return [_Guest(form, value, budget, letters, seed) for value in values]


def _outcome(strategy: str, guests: Sequence[_Guest], told: Sequence[_Told]) -> Outcome:
    one, other = told
    longest = max(len(one.answers), len(other.answers))
    same = sum(a == b for a, b in zip(one.answers, other.answers, strict=False))
    return Outcome(
        strategy,
        calls=one.calls,
        answers=longest,
        refused=sum(answer.startswith("LEAK_BLOCKED") for answer in one.answers),
        recovered=max(
            guests[0].recovered({*one.claims} - {*other.claims}),
            guests[1].recovered({*other.claims} - {*one.claims}),
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

    form: _Format
    value: str
    budget: Budget
    letters: str
    seed: int

    def ask(self, orders: dict[str, Any], ws: Workspace | None = None) -> _Told:
        """Runs the guest once, in a new workspace where none is given."""
        if ws is None:
            with self.workspace() as made:
                return self.ask(orders, made)
        given = {
            "prefix": self.form.prefix,
            "suffix": self.form.suffix,
            "length": self.form.count,
            "letters": self.letters,
            "seed": self.seed,
            "notes": self.budget.notes,
            "rounds": self.budget.rounds,
            **orders,
        }
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
            ws.vault.set("WANTED", self.value)
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

    def recovered(self, claims: AbstractSet[str]) -> int:
        """Returns how many characters of the unknown part are in a claim that is true.

        Args:
            claims: What is claimed of this value, and was not of another.
        """
        unknown = self.form.unknown(self.value)
        known: set[int] = set()
        for claim in claims:
            at = unknown.find(claim)
            if at >= 0:
                known.update(range(at, at + len(claim)))
        return len(known)

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


def _compressed() -> list[str]:
    """Returns notes that hold all pieces of three, and many guesses behind the prefix."""
    every = [a + b + c for a in _TOKEN.alphabet for b in _TOKEN.alphabet for c in _TOKEN.alphabet]
    packed = ["".join(every[at : at + 60_000]) for at in range(0, len(every), 60_000)]
    packed += [
        "\n".join(_TOKEN.prefix + characters(6, _TOKEN.alphabet) for _ in range(4_000)),
        "\n".join(_TOKEN.prefix + piece for piece in every[:12_000]),
    ]
    notes = [base64.b64encode(gzip.compress(text.encode(), 9)).decode() for text in packed]
    return [note for note in notes if len(note) <= NOTE_CONTENT_BYTES]

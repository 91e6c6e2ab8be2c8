"""The leak scanner against its targets, and against those who try to get a value past it.

Values, notes and attacks are new in each run, drawn from a seed that is printed. The first set of
evasions is given and lies beside this project, in ``../shared`` (``--shared``); the second is ours,
and the scanner is not tuned to it. ``--only`` names one section; ``--markdown`` prints the tables
that ``docs/security.md`` holds.
"""

from __future__ import annotations

import logging
import os
import secrets
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import leak_shapes
import measure
from attacks import catch, evasions, figures, oracle, prose, values
from attacks.roads import spread_rates

from nocturn.limits import NOTE_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Encode: TypeAlias = "Callable[[str], str]"
_ROOT: Final = Path(__file__).resolve().parents[2]
_GIVEN_MOST: Final = 80
_GIVEN_ALL: Final = 65
"""Of the classes that were given, how many are to be caught in 90 % and in 99 % of cases."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How much is tried.

    Attributes:
        values: Values that each class hides, a multiple of eight.
        runs: Values that each class hides that is spread over fields and calls.
        texts: Ordinary texts that are read; None for all there are.
        timings: How often each time is taken.
        hostile: How often each hostile text is timed.
        hostile_bytes: How long each is.
        oracle: What the guest may ask.
    """

    values: int = 104
    runs: int = 24
    texts: int | None = None
    timings: int = 50
    hostile: int = 3
    hostile_bytes: int = NOTE_CONTENT_BYTES
    oracle: oracle.Budget = field(default_factory=oracle.Budget)


_QUICK: Final = Rounds(
    values=8,
    runs=2,
    texts=40,
    timings=3,
    hostile=1,
    hostile_bytes=4_096,
    oracle=oracle.Budget(letters=4, notes=8, rounds=2, pieces=(1, 2, 3, 4), narrowing_runs=20),
)


@dataclass(frozen=True, slots=True)
class Given:
    """What a section is given.

    Attributes:
        rounds: How much to try.
        shared: The folder with what is shared between projects.
        folder: Where files may be made.
        quick: Whether it is only to be seen that it works.
        markdown: Whether to write Markdown tables.
    """

    rounds: Rounds
    shared: Path
    folder: str
    quick: bool
    markdown: bool

    def layout(self, lines: Sequence[Sequence[str]]) -> str:
        """Returns a table."""
        return measure.layout(lines, markdown=self.markdown)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables; returns the exit status."""
    parser = measure.options(__doc__)
    parser.add_argument("--seed", type=int, help="the seed of an earlier run")
    parser.add_argument("--shared", type=Path, default=_ROOT.parent / "shared")
    parser.add_argument("--only", choices=_SECTIONS, help="one section")
    options = parser.parse_args(arguments)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    print(f"{measure.machine()}; seed {seed}")
    logging.getLogger("nocturn").setLevel(logging.CRITICAL)  # of blocks: they are counted here
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        rounds = _QUICK if options.quick else Rounds()
        given = Given(rounds, options.shared, folder, options.quick, options.markdown)
        for name, section in _SECTIONS.items():
            if options.only in (None, name):
                catch.seed_all(seed)
                print("\n" + "\n\n".join(section(given)), flush=True)
    return 0


def _given_evasions(given: Given) -> Iterator[str]:
    found = catch.given_set(given.shared)
    if found is None:
        yield "The given set of evasions is not here: skipped."
        return
    notes = {name: _noted(found.note, each) for name, each in found.encodings.items()}
    hidden, others = (found.secrets(given.rounds.values // 8) for _ in range(2))
    rates = list(catch.rates(notes, hidden, others))
    yield (
        f"**Evasions that were given**; the target is {_GIVEN_MOST} classes at 90 %, "
        f"{_GIVEN_ALL} at 99 %."
    )
    yield from _told(given, rates)


def _own_evasions(given: Given) -> Iterator[str]:
    count = given.rounds.values
    notes = {name: _noted(evasions.note, each) for name, each in evasions.EVASIONS.items()}
    rates = list(catch.rates(notes, values.fresh(count), values.fresh(count)))
    yield "**Our second set**, in one text; the scanner is not tuned to it."
    yield from _told(given, [each for each in rates if each.name not in evasions.HOPELESS])
    count = given.rounds.runs
    spread = list(spread_rates(given.folder, values.fresh(count), values.fresh(count)))
    yield "**Our second set**, over the fields of a call and the calls of a run, each run for real."
    yield from _told(given, [each for each in spread if each.name not in evasions.HOPELESS])
    lost = [each for each in (*rates, *spread) if each.name in evasions.HOPELESS]
    yield f"Not to be caught in principle: {_named(lost)}."


def _noted(note: Callable[[str, _Encode], str], encode: _Encode) -> _Encode:
    return lambda value: note(value, encode)


def _told(given: Given, rates: Sequence[catch.Rate]) -> Iterator[str]:
    most, every = catch.bands(rates)
    wrong, notes = sum(each.wrong for each in rates), 2 * sum(each.tried for each in rates)
    yield (
        f"{len(rates)} classes, {rates[0].tried} values each: {most} are caught in at least 90 % "
        f"of cases, {every} in at least 99 %, with 10 and with 1,000 values in the vault. Of "
        f"{notes:,} notes with another value of the same format, {wrong} were blocked."
    )
    if not given.markdown:
        lines = [
            (
                each.name,
                *(f"{n / each.tried:.1%}" for n in (each.small, each.large)),
                str(each.wrong),
            )
            for each in rates
        ]
        yield given.layout([("class", "10 values", "1,000 values", "wrong"), *lines])
        return
    bands = (
        ("at least 99 %", [each for each in rates if each.share >= catch.ALL]),
        ("90 to 99 %", [each for each in rates if catch.MOST <= each.share < catch.ALL]),
        ("less", [each for each in rates if each.share < catch.MOST]),
    )
    rows = [f"| {name} | {len(some)} | {_named(some)} |" for name, some in bands]
    yield "\n".join(("| caught | classes | which |", "|---|--:|---|", *rows))


def _named(rates: Sequence[catch.Rate]) -> str:
    told = (
        each.name.replace("|", "\\|") + ("" if each.share == 1 else f" ({100 * each.share:.3g} %)")
        for each in sorted(rates, key=lambda each: -each.share)
    )
    return "; ".join(told)


def _oracle(given: Given) -> Iterator[str]:
    found = list(oracle.attack(given.rounds.oracle))
    yield (
        "**The oracle attack**, the budget of blocks switched off, by a guest that knows what is "
        "public of a value (`sk-ant-api03-` where no format is named), the alphabet and the "
        f"length: {sum(each.calls for each in found):,} calls against each of two values. What it "
        "learns is in the answers that differ between the two: none, and it is 0 bits."
    )
    head = ("strategy", "calls", "blocked", "answers that differ", "bits", "characters found")
    lines = [
        (
            each.strategy,
            f"{each.calls:,}",
            f"{each.refused:,}",
            str(each.differing),
            f"{each.bits:.0f}",
            str(each.recovered),
        )
        for each in found
    ]
    yield given.layout([head, *lines])


def _prose(given: Given) -> Iterator[str]:
    scanners = {count: values.scanner(values.fresh(count)) for count in (catch.SMALL, catch.LARGE)}
    reading = prose.read_all(scanners, given.rounds.texts)
    yield (
        f"**Ordinary texts**: {reading.files:,} of them, {reading.size_bytes / 1e6:.1f} MB, from "
        "`sys.path` and `/usr/share/doc`, each once."
    )
    lines = [
        *((f"for one of {n:,} values", str(len(found))) for n, found in reading.blocked.items()),
        ("for a shape", str(len(reading.shapes))),
        ("not, but a person is warned", str(reading.warned)),
    ]
    yield given.layout([("blocked", "times"), *lines])
    for found in (*reading.blocked.values(), reading.shapes):
        if found:
            yield "; ".join(f"{what} ({times})" for what, times in Counter(found).items())


def _shapes(given: Given) -> Iterator[str]:
    yield "**Shapes**: in how many texts something is found, in brackets how many there are."
    lines = leak_shapes.rows(given.shared, quick=given.quick)
    yield given.layout(lines) if lines else "The texts for the shapes are not here: skipped."


def _times(given: Given) -> Iterator[str]:
    timed = list(figures.ordinary(given.folder, given.rounds.timings))
    hostile = figures.hostile(given.rounds.hostile, given.rounds.hostile_bytes)
    head = ("what", "median", "target", "met", "against the least")
    yield "**Time**"
    yield given.layout([head, *(each.cells() for each in timed)])
    yield (
        f"**Hostile texts**, {len(hostile)} of {given.rounds.hostile_bytes:,} bytes, with 1,000 "
        "values, the worst first; what is blocked for a value says so."
    )
    yield given.layout([head, *(each.cells() for each in hostile)])


_SECTIONS: Final[dict[str, Callable[[Given], Iterator[str]]]] = {
    "given": _given_evasions,
    "own": _own_evasions,
    "oracle": _oracle,
    "prose": _prose,
    "shapes": _shapes,
    "times": _times,
}


if __name__ == "__main__":
    raise SystemExit(main())

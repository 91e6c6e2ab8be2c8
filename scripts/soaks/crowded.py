"""Many processes that work on the same notes: no update is lost, no note is torn."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from nocturn import NocturnError, Workspace
from nocturn.errors import CONFLICT
from soaks.changes import HEAD, UNDONE, VERBS, Notes, drawn, looked_at, own_dice
from soaks.children import Child

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from soaks.children import Say

__all__ = ["crowded", "lost_updates"]

COUNTERS: Final = tuple(f"shared/counter-{each}.md" for each in range(4))
LOG: Final = "shared/log.md"
LINES: Final = "shared/lines.md"
FREE: Final = "shared/free.md"
_WHOLE: Final = {
    **dict.fromkeys(COUNTERS, re.compile(r"[0-9]+")),
    LOG: re.compile(r"([0-9a-f]{16}\n)*"),
    LINES: re.compile(r"(<[0-9]+> [0-9]+\n)+"),
    FREE: re.compile(r"([0-9a-f]{16}\n)(?:\1)*"),
}
"""What each shared note looks like while no write to it is torn."""


def crowded(folder: Path, processes: int, operations: int, dice: random.Random) -> list[str]:
    """Returns a sentence for each thing that went wrong."""
    with Workspace(folder) as ws:
        for path in COUNTERS:
            ws.memory.write(path, "s", "0")
        ws.memory.write(LOG, "s", "")
        ws.memory.write(LINES, "s", "".join(_line(each, 0) for each in range(processes)))
        ws.memory.write(FREE, "s", _free(dice))
    each = max(1, operations // processes)
    start = time.monotonic()
    children = [
        Child(_one_of_many(folder, number, each, own_dice(dice))) for number in range(processes)
    ]
    reports = [report for child in children for report in child.said()]
    seconds = time.monotonic() - start
    done: Counter[str] = Counter()
    problems: list[str] = []
    for report in reports:
        done.update(report["done"])
        problems += report["problems"]
    print(
        f"memory_soak: {processes} processes, {each * processes} operations, {seconds:.0f} s,"
        f" {sum(report['conflicts'] for report in reports)} conflicts",
        file=sys.stderr,
    )
    return problems + _after_the_crowd(folder, done)


def _after_the_crowd(folder: Path, done: Counter[str]) -> list[str]:
    found, left = looked_at(folder)
    there = Counter({path: int(found[path]) for path in COUNTERS})
    there.update(found[LOG].splitlines())
    there.update(found[LINES].splitlines())
    problems = [f"{each} is left" for each in left]
    problems += lost_updates(done, there)
    with Workspace(folder) as ws:
        for path in COUNTERS:
            states = len(ws.memory.history(path))
            if states != done[path] + 1:
                problems.append(f"{path} had {done[path] + 1} states; the history has {states}")
    return problems


def lost_updates(told: Counter[str], found: Counter[str]) -> list[str]:
    """Compares what writers were told was done with what is there.

    Returns:
        A sentence for each that is missing, or is there too often.
    """
    return [
        f"{what} is there {found[what]} times, and was done {told[what]} times"
        for what in sorted({*told, *found})
        if told[what] != found[what]
    ]


def _one_of_many(
    folder: Path, number: int, operations: int, dice: random.Random
) -> Callable[[Say], None]:
    """Gives a process that does so many operations, and tells what it did."""

    def work(say: Say) -> None:
        with Workspace(folder) as ws:
            one = _OneOfMany(ws, number, dice)
            for _ in range(operations):
                one.operate()
            one.done[_line(number, one.line).rstrip()] = 1
            say({"done": one.done, "problems": one.problems, "conflicts": one.conflicts})

    return work


class _OneOfMany:
    """One of the processes that work on the same notes.

    Attributes:
        done: What was done, as it must be found at the end.
        problems: What went wrong.
        conflicts: How often a version was no longer there.
        line: What its own line in a shared note says.
    """

    def __init__(self, ws: Workspace, number: int, dice: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []
        self.conflicts = 0
        self.line = 0
        self._ws = ws
        self._memory = ws.memory
        self._number = number
        self._dice = dice
        self._mine: Notes = {}
        self._paths = tuple(f"mine/{number}-{name}.md" for name in "xyz")
        self._operations = (
            *(self._count,) * 5,
            *(self._append,) * 3,
            *(self._edit,) * 2,
            *(self._write_free,) * 2,
            *(self._change_mine,) * 4,
            *(self._read,) * 3,
            self._list,
            self._search,
        )

    def operate(self) -> None:
        """Does one operation; another's change in between is no problem, anything else is."""
        operation = self._dice.choice(self._operations)
        try:
            operation()
        except NocturnError as error:
            if error.code == CONFLICT:
                self.conflicts += 1
            else:
                self._wrong(f"{operation.__name__} ended in {error}")

    def _count(self) -> None:
        path = self._dice.choice(COUNTERS)
        version = self._memory.stat(path)["version"]
        value = int(self._body(path))
        self._memory.write(path, "s", str(value + 1), if_version=version)
        self.done[path] += 1

    def _append(self) -> None:
        line = f"{self._dice.getrandbits(64):016x}"
        self._memory.append(LOG, f"{line}\n")
        self.done[line] += 1

    def _edit(self) -> None:
        self._memory.edit(LINES, _line(self._number, self.line), _line(self._number, self.line + 1))
        self.line += 1

    def _write_free(self) -> None:
        self._memory.write(FREE, "s", _free(self._dice))

    def _change_mine(self) -> None:
        """Nobody else touches these: each is as it was left."""
        change = drawn(self._dice.choice(VERBS), self._mine, self._dice, self._paths)
        if change is None:
            return
        change.make(self._ws)
        before, self._mine = self._mine, change.applied(self._mine)
        if change.verb == "write" and self._dice.random() < UNDONE:
            self._memory.undo(*change.coming)
            self._mine = before
        found = {path: self._body(path) for path in self._mine}
        if found != self._mine:
            self._wrong(f"after {change.verb}, its own notes are {found}, not {self._mine}")

    def _read(self) -> None:
        path = self._dice.choice((*COUNTERS, LOG, LINES, FREE))
        if not _WHOLE[path].fullmatch(self._body(path)):
            self._wrong(f"{path} was torn")

    def _list(self) -> None:
        listed = {note["path"] for note in self._memory.list()["notes"]}
        if not {*COUNTERS, LOG, LINES, FREE} <= listed or LOG not in self._memory.catalog():
            self._wrong("a note was not listed")

    def _search(self) -> None:
        found = {each["path"] for each in self._memory.search(f"shared {self._number}")}
        if LINES not in found:
            self._wrong("a note was not found")

    def _body(self, path: str) -> str:
        return self._memory.read(path).removeprefix(HEAD)

    def _wrong(self, what: str) -> None:
        self.problems.append(f"process {self._number}: {what}")


def _line(number: int, value: int) -> str:
    return f"<{number}> {value}\n"


def _free(dice: random.Random) -> str:
    return f"{dice.getrandbits(64):016x}\n" * dice.choice((1, 100, 1_000))

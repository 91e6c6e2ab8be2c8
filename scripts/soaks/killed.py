"""Writers that are killed at random points: nothing is lost, and nothing half there."""

from __future__ import annotations

import json
import sqlite3
import sys
import zlib
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from nocturn import NocturnError, Workspace
from soaks.changes import (
    HEAD,
    PROBE,
    PURGED,
    UNDONE,
    VERBS,
    Notes,
    drawn,
    looked_at,
    merged,
    own_dice,
)
from soaks.children import Child

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from soaks.children import Say

__all__ = ["Told", "killed", "problems_of"]

KILLED_AT: Final = 4
"""In which of its first changes a writer is killed, at most."""
AGAIN_EVERY: Final = 5
"""So often whoever puts right what a killed writer left is killed as well."""
RUN_EVERY: Final = 4
"""So often the writer begins with undoing a whole run, which another has made before."""


def killed(folder: Path, kills: int, dice: random.Random) -> list[str]:
    """Returns a sentence for each thing that went wrong."""
    problems: list[str] = []
    told = Told({})
    on_its_way: Counter[str] = Counter()
    came_about: Counter[str] = Counter()
    one, whole_run = _Pace(0.02), _Pace(0.05)
    for number in range(kills):
        undoing = _made_run(folder, told, dice) if number % RUN_EVERY == 0 else None
        writer = Child(_changing(folder, told.notes, undoing, own_dice(dice)))
        pace, changes = (whole_run, 0) if undoing else (one, dice.randrange(KILLED_AT))
        lines = writer.killed(2 * changes + 1, dice.uniform(0, 2 * pace.seconds))
        pace.learn(in_time=len(lines) <= 2 * changes + 1)
        for line in lines:
            told.hear(line)
        if number % AGAIN_EVERY == 0:
            Child(_putting_right(folder)).killed(1, dice.uniform(0, 4 * one.seconds))
        if told.verb == "purge":
            _purge_again(folder, told)
        found, left = looked_at(folder)
        on_its_way[told.verb or "nothing"] += 1
        came_about[told.verb or "nothing"] += found == told.after()
        problems += problems_of(f"kill {number}", told, found, left)
        told.keep(found)
        told = Told(found, kept=told.kept, purged=told.purged)
    problems += _forgotten(folder, told)
    verbs = ", ".join(f"{verb} {came_about[verb]} of {n}" for verb, n in on_its_way.items())
    print(
        f"memory_soak: {kills} kills; of what was on its way came about: {verbs}", file=sys.stderr
    )
    return problems


class _Pace:
    """How long a change takes about, on this machine now.

    Attributes:
        seconds: Within so long of its beginning, half of the writers are killed in it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def learn(self, *, in_time: bool) -> None:
        """Comes nearer, by whether a writer was killed before its change was done."""
        self.seconds *= 1.15 if in_time else 1 / 1.15


@dataclass
class Told:
    """What a writer said before it was killed.

    Attributes:
        notes: All notes after the last change that it confirmed.
        coming: What the change on its way makes of notes, None for one that is gone; empty where
            none was.
        verb: What that change is.
        kept: Every text that it confirmed, or that was there.
        purged: Those that were purged since.
        failed: Why it ended by itself; empty where it did not.
    """

    notes: Notes
    coming: dict[str, str | None] = field(default_factory=dict[str, str | None])
    verb: str = ""
    kept: set[str] = field(default_factory=set[str])
    purged: set[str] = field(default_factory=set[str])
    failed: str = ""

    def hear(self, line: Mapping[str, Any]) -> None:
        """Takes one of its lines: what is coming, that it came, or why it ended by itself."""
        self.failed = line.get("failed", "")
        if self.failed:
            return
        if "coming" in line:
            self.coming, self.verb = line["coming"], line["verb"]
            return
        if self.verb == "purge":
            self.purged.update(self.notes[path] for path in self.coming)
        self.notes, self.coming, self.verb = self.after(), {}, ""
        self.keep(self.notes)

    def keep(self, notes: Notes) -> None:
        """Remembers the texts that must not be lost."""
        self.kept.update(body for path, body in notes.items() if path not in PURGED)

    def after(self) -> Notes:
        """Returns all notes as the change on its way makes them."""
        return merged(self.notes, self.coming)


def problems_of(name: str, told: Told, found: Notes, left: Sequence[str]) -> list[str]:
    """Returns a sentence for each thing that must not be.

    Args:
        name: Whose round it was.
        told: What the writer said.
        found: All notes, after the next change.
        left: What else is there that should not be.
    """
    problems = [f"{name}: {each} is left" for each in left]
    if told.failed:
        problems.append(f"{name}: {told.verb} failed: {told.failed}")
    if found not in (told.notes, told.after()):
        wrong = sorted(
            path
            for path in {*told.notes, *told.coming, *found}
            if found.get(path) not in (told.notes.get(path), told.after().get(path))
        )
        what = f"{', '.join(wrong)} is neither" if wrong else "half of it was done:"
        problems.append(
            f"{name}: {told.verb or 'nothing'} was on its way, and {what} {told.coming}"
        )
    return problems


def _made_run(folder: Path, told: Told, dice: random.Random) -> tuple[str, Notes]:
    """Changes many notes in one run; returns its name and the notes before it."""
    before, after = dict(told.notes), dict(told.notes)
    calls: list[str] = []
    path = ""
    for verb in ("write", "write", "remove", "write", "move"):
        change = drawn(verb, after, dice)
        if change is not None:
            path = min(change.coming)
            calls.append(f"nocturn.memory.{verb}({', '.join(map(json.dumps, change.arguments))});")
            after = change.applied(after)

    def run(say: Say) -> None:
        with Workspace(folder, isolation="best-effort") as ws:
            ws.run("\n".join(calls), mode="watched").raise_for_error()
            say(ws.memory.history(path)[-1])

    (line,) = Child(run).said()
    told.notes = after
    told.keep(after)
    return line["run"], before


def _changing(
    folder: Path, notes: Notes, undoing: tuple[str, Notes] | None, dice: random.Random
) -> Callable[[Say], None]:
    """Gives a writer that changes notes until it is killed."""

    def change(say: Say) -> None:
        now = notes
        with Workspace(folder) as ws:
            ws.memory.write(PROBE, "s", "")  # what the first change of a process makes is made
            if undoing is not None:
                run, before = undoing
                gone = dict.fromkeys(now.keys() - before.keys())
                say({"verb": "undo of a run", "coming": {**before, **gone}})
                ws.memory.undo(run=run)
                say({"came": True})
                now = before
            while True:
                change = drawn(dice.choice((*VERBS, "purge")), now, dice)
                if change is None:
                    continue
                say({"verb": change.verb, "coming": change.coming})
                change.make(ws)
                say({"came": True})
                (path, *_) = change.coming
                if change.verb == "write" and path not in PURGED and dice.random() < UNDONE:
                    say({"verb": "undo", "coming": {path: now.get(path)}})
                    ws.memory.undo(path)
                    say({"came": True})
                else:
                    now = change.applied(now)

    return change


def _putting_right(folder: Path) -> Callable[[Say], None]:
    """Gives whoever comes after a killed writer, to be killed as well."""

    def put_right(say: Say) -> None:
        say({})
        looked_at(folder)

    return put_right


def _purge_again(folder: Path, told: Told) -> None:
    """Does a purge again that was killed: no other change finishes one."""
    (path,) = told.coming
    told.purged.add(told.notes[path])
    with Workspace(folder) as ws, suppress(NocturnError):  # all of it may be gone already
        ws.purge.note(path)


def _forgotten(folder: Path, told: Told) -> list[str]:
    """Looks for every text, past all that is tested: in the notes, the history and the trash.

    Returns:
        A sentence for each that is lost, and for each that was purged and is somewhere yet.
    """
    with closing(sqlite3.connect(folder / ".nocturn/history.db")) as db:
        found = {zlib.decompress(row[0]) for row in db.execute("SELECT data FROM contents")}
    found.update(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    lost = [body for body in told.kept if (HEAD + body).encode() not in found]
    all_bytes = b"\n".join(found)
    there = [body for body in told.purged if body.strip().encode() in all_bytes]
    return [
        *(f"a text that was confirmed is nowhere: {body[:32]!r}" for body in lost),
        *(f"a text that was purged is somewhere: {body!r}" for body in there),
    ]

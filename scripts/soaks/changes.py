"""Changes of notes, drawn at random, each with what it makes of them: a model is a dictionary."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from nocturn import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = [
    "HEAD",
    "PROBE",
    "PURGED",
    "UNDONE",
    "VERBS",
    "Change",
    "Notes",
    "bodies",
    "drawn",
    "looked_at",
    "merged",
    "own_dice",
]

Notes: TypeAlias = dict[str, str]
"""Bodies by path."""

HEAD: Final = "---\ndescription: s\n---\n"
"""What comes before the body of each note."""
VERBS: Final = ("write", "write", "append", "edit", "move", "remove")
UNDONE: Final = 0.3
"""How many of the writes are undone at once."""
PATHS: Final = tuple(f"{folder}/{name}.md" for folder in ("a", "b") for name in "xyz")
PURGED: Final = ("purged/x.md", "purged/y.md")
"""Notes that are written to be purged, and are not changed else."""
PROBE: Final = "probe.md"
"""A note that is written to see what the next change makes of what was left."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Attributes:
        verb: The method that makes it.
        arguments: What that is given.
        coming: What becomes of which notes; None for one that is gone.
    """

    verb: str
    arguments: tuple[str, ...]
    coming: dict[str, str | None]

    def make(self, ws: Workspace) -> None:
        """Makes it."""
        if self.verb == "purge":
            ws.purge.note(*self.arguments)
        else:
            getattr(ws.memory, self.verb)(*self.arguments)

    def applied(self, notes: Notes) -> Notes:
        """Returns the notes after it."""
        return merged(notes, self.coming)


def drawn(
    verb: str, notes: Notes, dice: random.Random, paths: Sequence[str] = PATHS
) -> Change | None:
    """Draws a change of this kind; None where there is no note to change so."""
    there = [path for path in paths if path in notes]
    free = [path for path in paths if path not in notes]
    mark = f"{dice.getrandbits(64):016x}\n"
    if verb == "purge":
        path = dice.choice(PURGED)
        if path in notes:
            return Change(verb, (path,), {path: None})
        return Change("write", (path, "s", mark), {path: mark})
    if verb == "write":
        path, body = dice.choice(paths), mark * dice.choice((1, 3, 2_000))
        return Change(verb, (path, "s", body), {path: body})
    if not there or (verb == "move" and not free):
        return None
    path = dice.choice(there)
    body = notes[path]
    if verb == "append":
        return Change(verb, (path, mark), {path: body + mark})
    if verb == "edit":
        last = body[body.rstrip("\n").rfind("\n") + 1 :]
        if body.count(last) > 1:
            return None
        return Change(verb, (path, last, mark), {path: body.replace(last, mark)})
    if verb == "remove":
        return Change(verb, (path,), {path: None})
    to = dice.choice(free)
    return Change(verb, (path, to), {path: None, to: body})


def own_dice(dice: random.Random) -> random.Random:
    """Returns others, for one process: two with the same would draw the same texts."""
    return random.Random(dice.getrandbits(64))  # noqa: S311 - dice


def merged(notes: Notes, coming: Mapping[str, str | None]) -> Notes:
    """Returns notes after a change that makes this of some; None is for one that is gone."""
    merged = {**notes, **coming}
    return {path: body for path, body in merged.items() if body is not None}


def looked_at(folder: Path) -> tuple[Notes, list[str]]:
    """Makes the next change, as whoever comes next does; returns all notes, and what is left."""
    with Workspace(folder) as ws:
        ws.memory.write(PROBE, "s", "")
        found = bodies(ws)
        found.pop(PROBE)
        left = [str(each.relative_to(folder)) for each in folder.rglob("*.tmp")]
        left += map(str, ws.memory.check())
    return found, left


def bodies(ws: Workspace) -> Notes:
    """Returns all notes, as they are read."""
    paths = [note["path"] for note in ws.memory.list()["notes"]]
    return {path: ws.memory.read(path).removeprefix(HEAD) for path in paths}

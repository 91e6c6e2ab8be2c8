"""Going back: to a state that a note had, or to before a change, or to before a whole run.

What would be done is a :class:`Plan`: it is shown, cleared by what it would write, and made only
while every note is as it was when the plan was made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nocturn.effects import Effect, Preview
from nocturn.errors import CONFLICT, NOT_FOUND, STORAGE, NocturnError
from nocturn.store.changes import Change, is_respelling
from nocturn.store.reading import before_of, whole_text
from nocturn.store.trouble import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nocturn.effects import Clearance
    from nocturn.store.changes import Changes
    from nocturn.store.history import State
    from nocturn.store.version import Look

__all__ = ["Past", "Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What going back would do.

    Attributes:
        changes: What would become of each note, one for each.
        looks: What is at each path now, as it must still be.
    """

    changes: tuple[Change, ...]
    looks: Mapping[str, Look]

    @property
    def written(self) -> list[str]:
        """The paths that would be written."""
        return [each.path for each in self.changes if each.data is not None]

    @property
    def removed(self) -> list[str]:
        """The paths that would be removed."""
        return [each.path for each in self.changes if each.data is None and each.to is None]

    @property
    def moved(self) -> list[str]:
        """The paths between which notes would be moved, from and to in turn."""
        return [path for each in self.changes if each.to for path in (each.path, each.to)]

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What it would do, in the order of a tool that declares write, remove and move."""
        named = (("write", self.written), ("remove", self.removed), ("move", self.moved))
        return tuple(Effect("memory", verb, path) for verb, paths in named for path in paths)

    @property
    def bound(self) -> bytes:
        """All that it would write and do, in a form in which nothing can be taken for other."""
        rows = [
            (each.path, each.to, None if each.data is None else each.data.decode("latin-1"))
            for each in self.changes
        ]
        return json.dumps(rows).encode()

    def preview(self) -> Preview:
        """Gives what a person is shown: a note's text, or each note's by its name."""
        if len(self.changes) == 1 and self.changes[0].to is None:
            (change,) = self.changes
            after = None if change.data is None else change.data.decode(errors="replace")
            version = self.looks[change.path].version
            return Preview(after, self._there(change.path), version, self.bound)
        before = after = ""
        for each in self.changes:
            was = f"==> {each.path} <==\n{self._there(each.path) or ''}\n"
            before += was
            if each.to is not None:
                after += was.replace(each.path, each.to, 1)
            elif each.data is not None:
                after += f"==> {each.path} <==\n{each.data.decode(errors='replace')}\n"
        return Preview(after, before, None, self.bound)

    def _there(self, path: str) -> str | None:
        look = self.looks.get(path)
        if look is None or look.content is None:
            return None
        return before_of(path, look.content, strict=False)

    def to_dict(self) -> dict[str, list[str]]:
        """Returns the paths by what would become of them."""
        pairs = iter(self.moved)
        moved = [f"{path} -> {to}" for path, to in zip(pairs, pairs, strict=True)]
        return {"written": self.written, "removed": self.removed, "moved": moved}


class Past:
    """The past of one workspace's notes.

    Args:
        changes: What changes notes, and has their history.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self.history = changes.history

    def states(self, path: str) -> list[State]:
        """Gives all states of a note, oldest first, as it is now the last.

        Raises:
            NocturnError: ``PATH_ESCAPE``, ``STORAGE``.
        """
        try:
            self._changes.catch_up([path])
        except NocturnError as error:
            if error.code != STORAGE:  # a disk that can only be read has a history, too
                raise
        return self.history.of(path)

    def text(self, path: str, number: int) -> str | None:
        """Gives the whole text of a note's state; None where nothing was there.

        Raises:
            NocturnError: ``NOT_FOUND``, it has no such state or its content is not kept.
        """
        state = self._state(path, number)
        data = self._content(state.path, state.version)
        return None if data is None else whole_text(path, data)

    def content_of(self, path: str, version: str) -> bytes | None:
        """Gives the content of a version that a note had; None where that is not known."""
        if not any(each.version == version for each in self.history.of(path)):
            return None
        return self.history.content(version)

    def plan_restore(self, path: str, number: int) -> Plan:
        """Plans to bring a note back to one of its states.

        Raises:
            NocturnError: ``NOT_FOUND``, it has no such state or its content is not kept;
                ``CONFLICT``, it is in that state.
        """
        state = self._state(path, number)
        look = self._changes.catch_up([path])[path]
        if look.version == state.version:
            message = f"{shown(path)} is in state {number} now: there is nothing to restore"
            raise NocturnError(CONFLICT, message, detail={"version": look.version})
        return Plan((Change(path, self._content(state.path, state.version)),), {path: look})

    def plan_undo(self, path: str) -> Plan:
        """Plans to take the last change of a note back; that of an undo, too.

        Raises:
            NocturnError: ``NOT_FOUND``, it has no history or the content before is not kept;
                ``CONFLICT``, the note that it was moved to or from was changed since.
        """
        self._changes.catch_up([path])
        with self.history.reading() as pages:
            last = None if pages is None else pages.last(path)
            if pages is None or last is None:
                message = f"{shown(path)} has no history, so that there is nothing to take back"
                raise NocturnError(NOT_FOUND, message)
            states = [last]
            if last.partner is not None:
                states = [each for each in pages.of_change(last.change) if each.partner is not None]
                states = [each for each in states if path in (each.path, each.partner)]
        return self._taking_back(states)

    def plan_undo_run(self, run: str) -> Plan:
        """Plans to take back all that a run has changed.

        Raises:
            NocturnError: ``NOT_FOUND``, it has changed nothing or a content is not kept;
                ``CONFLICT``, notes were changed since (``detail["notes"]``), or it is taken back.
        """
        states = self.history.of_run(run)
        if not states:
            message = "the history has no change of that run: nocturn log names the runs"
            raise NocturnError(NOT_FOUND, message)
        self._changes.catch_up(each.path for each in states)
        return self._taking_back(self.history.of_run(run))

    def apply(self, clearance: Clearance, plan: Plan) -> None:
        """Does what was planned, all in one.

        Args:
            clearance: Cleared for exactly this plan.
            plan: The plan.

        Raises:
            NocturnError: ``CONFLICT``, a note was changed since the plan was made; ``STORAGE``.
            PermissionError: The clearance is for something else.
        """
        clearance.spend(plan.effects, plan.bound)

        def planned(looks: Mapping[str, Look]) -> Sequence[Change]:
            _refuse_changed(
                path for path, look in looks.items() if look.version != plan.looks[path].version
            )
            return plan.changes

        self._changes.make(clearance, plan.looks, planned)

    def _taking_back(self, states: Sequence[State]) -> Plan:
        """Plans to go back to before these states, if each of them is the last of its path."""
        first: dict[str, State] = {}
        last: dict[str, State] = {}
        for each in states:
            first.setdefault(each.path, each)
            last[each.path] = each
        looks = self._changes.catch_up(first)
        # What is as it was before is taken back already, or did not come about.
        open_paths = [path for path in first if looks[path].version != first[path].before]
        _refuse_changed(path for path in open_paths if looks[path].version != last[path].version)
        moves = _moves_back(open_paths, first, last, states)
        changes = [
            Change(path, to=moves[path])
            if path in moves
            else Change(path, self._content(path, first[path].before))
            for path in open_paths
            if path not in moves.values()
        ]
        # What goes makes way for what comes, which may be the same name spelled anew.
        changes.sort(key=lambda each: each.data is not None)
        if not changes:
            raise NocturnError(CONFLICT, "that is taken back already: there is nothing to do")
        gone = [each.path for each in changes if each.data is None]
        seen = {
            path: looks[path]
            for path in open_paths
            if not any(path != each and is_respelling(path, each) for each in gone)
        }
        return Plan(tuple(changes), seen)

    def _content(self, path: str, version: str | None) -> bytes | None:
        if version is None:
            return None
        data = self.history.content(version)
        if data is None:
            raise _not_kept(path)
        return data

    def _state(self, path: str, number: int) -> State:
        for each in self.history.of(path):
            if each.number == number:
                return each
        message = f"{shown(path)} has no state {number}: nocturn memory history names them"
        raise NocturnError(NOT_FOUND, message)


def _moves_back(
    paths: Sequence[str],
    first: Mapping[str, State],
    last: Mapping[str, State],
    states: Sequence[State],
) -> dict[str, str]:
    """Gives those that only have to be moved back, by where they are."""
    moves: dict[str, str] = {}
    for each in states:
        back = each.partner
        if (
            back is not None
            and {back, each.path} <= {*paths}
            and first[each.path].before is None
            and last[back].version is None
            and last[each.path].version == first[back].before
        ):
            moves[each.path] = back
    return moves


def _refuse_changed(paths: Iterable[str]) -> None:
    changed = sorted(paths)
    if changed:
        named = ", ".join(shown(each) for each in changed)
        message = f"changed since, so that nothing was done: {named}; look at them, then try again"
        raise NocturnError(CONFLICT, message, detail={"notes": changed})


def _not_kept(path: str) -> NocturnError:
    message = f"that content of {shown(path)} is not in the history: look in the trash for it"
    return NocturnError(NOT_FOUND, message)

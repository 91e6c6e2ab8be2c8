"""Any sequence of changes, by the tools, by hand, and with crashes, agrees with a dictionary."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from nocturn.effects import Clearance, Effect, binding
from nocturn.errors import NocturnError
from nocturn.store.amendment import Append
from nocturn.store.notes import NoteStore

PATHS = st.sampled_from(["a.md", "b.md", "p/a.md", "p/q/c.md"])
TEXTS = st.sampled_from(["", "one", "two\n", "three\nlines\nhere"])
CALLS = ("fsync", "replace", "open", "unlink", "mkdir")


def token(data):
    return hashlib.sha256(data).hexdigest()[:32]


def cleared(effects, content=b""):
    return Clearance._issue(
        effects=tuple(effects),
        digest=binding(tuple(effects), content),
        expected=None,
        asked=False,
        ruling="allow",
        run="r",
    )


class Notes(RuleBasedStateMachine):
    """The model: what each note is, and what the history has of it, in order."""

    def __init__(self):
        super().__init__()
        in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.folder = Path(tempfile.mkdtemp(dir=in_memory))
        self.memory = self.folder / "memory"
        self.files = {}
        self.log = []
        self.reopen()

    def teardown(self):
        shutil.rmtree(self.folder)

    @rule()
    def reopen(self):
        self.notes = NoteStore(self.memory, token, self.folder / ".nocturn/trash")

    # ---- by the tools ----------------------------------------------------------------------------

    @rule(path=PATHS, text=TEXTS)
    def write(self, path, text):
        self.catch_up(path)
        clearance = cleared([Effect("memory", "write", path)], text.encode())
        self.notes.write(clearance, path, text)
        self.becomes(path, text)

    @rule(path=PATHS, text=TEXTS.filter(bool))
    def append(self, path, text):
        there = self.files.get(path)
        amendment = Append(text)
        clearance = cleared([Effect("memory", "write", path)], amendment.bound)
        if there is None:
            refused(self.notes.amend, clearance, path, amendment, print)
            return
        self.catch_up(path)
        self.notes.amend(clearance, path, amendment, lambda *_: None)
        self.becomes(path, there + ("\n" if there and not there.endswith("\n") else "") + text)

    @rule(path=PATHS)
    def remove(self, path):
        clearance = cleared([Effect("memory", "remove", path)])
        if path not in self.files:
            refused(self.notes.remove, clearance, path)
            return
        self.catch_up(path)
        self.notes.remove(clearance, path)
        self.becomes(path, None)

    @rule(path=PATHS, to=PATHS)
    def move(self, path, to):
        effects = [Effect("memory", "move", each) for each in (path, to)]
        if path == to:
            return
        if path not in self.files or to in self.files:
            refused(self.notes.move, cleared(effects), path, to)
            return
        self.catch_up(path)
        self.catch_up(to)
        self.notes.move(cleared(effects), path, to)
        text = self.files[path]
        self.becomes(path, None, partner=to)
        self.becomes(to, text, partner=path)

    @rule(path=PATHS)
    def read(self, path):
        if path in self.files:
            assert self.notes.read(path) == self.files[path]
            self.is_seen(path)
        else:
            refused(self.notes.read, path)

    # ---- back ------------------------------------------------------------------------------------

    @rule(path=PATHS, data=st.data())
    def restore(self, path, data):
        states = self.notes.past.states(path)
        self.is_seen(path)
        if not states:
            return
        state = data.draw(st.sampled_from(states))
        text = None
        if state.version is not None:
            text = self.notes.past.history.content(state.version).decode()
        if text == self.files.get(path):
            refused(self.notes.past.plan_restore, path, state.number)
            return
        self.apply(self.notes.past.plan_restore(path, state.number))
        self.becomes(path, text)

    @rule(path=PATHS)
    def undo(self, path):
        self.is_seen(path)
        last = next((each for each in reversed(self.log) if each[0] == path), None)
        if last is None:
            refused(self.notes.past.plan_undo, path)
            return
        pairs = {path: last}
        if last[3] is not None:
            self.catch_up(last[3])
            at = self.log.index(last)
            near = self.log[max(0, at - 1) : at + 2]
            pairs |= {each[0]: each for each in near if (each[0], each[3]) == (last[3], path)}
        todo = {name: each for name, each in pairs.items() if self.files.get(name) != each[1]}
        if not todo or any(self.files.get(name) != each[2] for name, each in todo.items()):
            refused(self.notes.past.plan_undo, path)
            return
        plan = self.notes.past.plan_undo(path)
        self.apply(plan)
        moved = dict(zip(plan.moved[::2], plan.moved[1::2], strict=True))
        for name, each in sorted(todo.items(), key=lambda item: item[1][1] is not None):
            partners = {**moved, **{to: path for path, to in moved.items()}}
            self.becomes(name, each[1], partner=partners.get(name))

    # ---- by hand, and with force -----------------------------------------------------------------

    @rule(path=PATHS, text=TEXTS)
    def edit_by_hand(self, path, text):
        file = self.memory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        self.files[path] = text

    @rule(path=PATHS)
    def remove_by_hand(self, path):
        (self.memory / path).unlink(missing_ok=True)
        self.files.pop(path, None)

    @precondition(lambda self: self.log and hasattr(os, "fork"))
    @rule(path=PATHS, to=PATHS, text=TEXTS, step=st.integers(1, 25))
    def crash(self, path, to, text, step):
        before = dict(self.files)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the child does not come back from here
            child = os.fork()
        if child == 0:
            try:
                kill_before(step)
                self.write(path, text)
                self.move(path, to)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        self.reopen()
        clearance = cleared([Effect("memory", "write", "z.md")], b"z")
        self.notes.write(clearance, "z.md", b"z".decode())
        self.files = self.on_disk()
        written = {**before, path: text}
        moved = {**{name: each for name, each in written.items() if name != path}, to: text}
        assert self.files in (before, written, *([moved] if to not in before else []))
        for each in (path, to):
            self.notes.past.states(each)  # at the next look it is seen whether it came about
        self.log = self.told()

    # ---- what must hold --------------------------------------------------------------------------

    @invariant()
    def the_files_are_the_models(self):
        assert self.on_disk() == self.files
        assert not [*self.memory.rglob(".nocturn-*")]

    @invariant()
    def the_history_is_the_models(self):
        assert self.told() == self.log

    def on_disk(self):
        found = {
            each.relative_to(self.memory).as_posix(): each.read_text()
            for each in self.memory.rglob("*.md")
        }
        found.pop("z.md", None)
        return found

    def told(self):
        with self.notes.past.history.reading() as pages:
            if pages is None:
                return []

            def text(version):
                return None if version is None else pages.content(version).decode()

            return [
                (each.path, text(each.before), text(each.version), each.partner)
                for each in pages._states("WHERE path != 'z.md' ORDER BY number")
            ]

    def catch_up(self, path):
        known = next((each[2] for each in reversed(self.log) if each[0] == path), None)
        if known != self.files.get(path):
            self.log.append((path, known, self.files.get(path), None))

    def is_seen(self, path):
        """A look makes no history, and goes on with one where the workspace has begun."""
        if (self.folder / ".nocturn").is_dir():
            self.catch_up(path)

    def becomes(self, path, text, partner=None):
        self.log.append((path, self.files.get(path), text, partner))
        self.files.pop(path, None)
        if text is not None:
            self.files[path] = text

    def apply(self, plan):
        self.notes.past.apply(cleared(plan.effects, plan.bound), plan)


def refused(function, *args):
    with pytest.raises(NocturnError):
        function(*args)


def kill_before(number):
    made = [0]

    def counted(call):
        def count(*args, **how):
            made[0] += 1
            if made[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **how)

        return count

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))


TestNotes = Notes.TestCase
TestNotes.settings = settings(
    max_examples=int(os.environ.get("NOCTURN_EXAMPLES", "25")),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

"""A process that is killed at any step of a change: each note is whole, and nothing is lost.

This file is also the program that does it: it forks a child for each system call that a change
makes, which kills itself right before that call, and looks at what is left.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from nocturn.effects import Clearance, Effect, binding
from nocturn.store import renaming
from nocturn.store.amendment import Append
from nocturn.store.notes import NoteStore

CALLS = ("open", "fsync", "replace", "mkdir", "unlink", "link", "write")
STRIDE = 5
"""The suite tries every fifth call; run this file with 1 to try each."""
BEFORE = {"a.md": "by hand", "b.md": "other", "p/c.md": "third"}


def cleared(effects, content=b"", run=""):
    return Clearance._issue(
        effects=tuple(effects),
        digest=binding(tuple(effects), content),
        expected=None,
        asked=False,
        ruling="allow",
        run=run,
    )


def effect(verb, path):
    return Effect("memory", verb, path)


def store(folder):
    def token(data):
        return hashlib.sha256(data).hexdigest()[:32]

    return NoteStore(folder / "memory", token, folder / ".nocturn/trash")


def write(notes, path, text, run=""):
    notes.write(cleared([effect("write", path)], text.encode(), run), path, text)


def fill(folder):
    notes = store(folder)
    write(notes, "a.md", "first")
    write(notes, "b.md", "older")
    write(notes, "p/c.md", "third")
    write(notes, "b.md", "other", run="r")
    write(notes, "p/d.md", "from the run", run="r")
    (folder / "memory/a.md").write_text("by hand")  # nobody has seen that yet


def undo_run(notes):
    plan = notes.past.plan_undo_run("r")
    notes.past.apply(cleared(plan.effects, plan.bound), plan)


def append(notes):
    amendment = Append("more")
    clearance = cleared([effect("write", "a.md")], amendment.bound)
    notes.amend(clearance, "a.md", amendment, lambda *_: None)


def move(notes, path, to):
    notes.move(cleared([effect("move", path), effect("move", to)]), path, to)


OLD = {**BEFORE, "p/d.md": "from the run"}
CHANGES = {
    "write": (lambda notes: write(notes, "a.md", "new"), {**OLD, "a.md": "new"}),
    "make": (lambda notes: write(notes, "q/r/e.md", "new"), {**OLD, "q/r/e.md": "new"}),
    "remove": (
        lambda notes: notes.remove(cleared([effect("remove", "a.md")]), "a.md"),
        {name: text for name, text in OLD.items() if name != "a.md"},
    ),
    "append": (append, {**OLD, "a.md": "by hand\nmore"}),
    "move": (
        lambda notes: move(notes, "b.md", "q/b.md"),
        {**{name: text for name, text in OLD.items() if name != "b.md"}, "q/b.md": "other"},
    ),
    "respell": (
        lambda notes: move(notes, "b.md", "B.md"),
        {**{name: text for name, text in OLD.items() if name != "b.md"}, "B.md": "other"},
    ),
    "undo": (undo_run, {**BEFORE, "b.md": "older"}),
}


def kill_before(number):
    """Has this process kill itself before its call of this number; gives how many there were."""
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
    renaming._at_once = counted(renaming._at_once)


def there(folder):
    memory = folder / "memory"
    found = {
        str(each.relative_to(memory)): each.read_text()
        for each in memory.rglob("*")
        if each.is_file() and each.suffix == ".md"
    }
    return {name: text for name, text in found.items() if name != "z.md"}


def look(folder, old, new):
    """Gives what is wrong after a kill, once somebody else has changed another note."""
    now = there(folder)
    halves = [name for name, text in now.items() if text not in (old.get(name), new.get(name))]
    notes = store(folder)
    write(notes, "z.md", "another note")
    after = there(folder)
    wrong = [f"{name} is neither old nor new" for name in halves]
    if after not in (old, new):
        wrong.append(f"neither all nor nothing: {after}")
    wrong += [f"left: {each}" for each in (folder / "memory").rglob(".nocturn-*")]
    for path in {*old, *new, *after}:
        states = notes.past.states(path)
        own = [each for each in states if each.path == path]
        at = notes._looks.of_text(after[path].encode()) if path in after else None
        if (own[-1].version if own else None) != at:
            wrong.append(f"the history of {path} ends elsewhere")
        for one, following in itertools.pairwise(own):
            if one.version != following.before:
                wrong.append(f"the history of {path} has a gap")
        kept = [
            each
            for each in states
            if each.version and not notes.past.content_of(path, each.version)
        ]
        wrong += [f"state {each.number} of {path} has no content" for each in kept]
    edited = [each.version for each in notes.past.states("a.md")]
    if notes._looks.of_text(b"by hand") not in edited:
        wrong.append("what was written by hand is lost")
    with notes.past.history.reading() as pages:
        if pages.unfinished():
            wrong.append("something is unfinished")
    return wrong


def main(folder, name, stride):
    change, new = CHANGES[name]
    fill(folder / "filled")
    number, kills, wrong = 1 - stride, 0, []
    while True:
        number += stride
        trial = folder / str(number)
        shutil.copytree(folder / "filled", trial)
        child = os.fork()
        if child == 0:
            kill_before(number)
            change(store(trial))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        wrong += [f"{name} at {number}: {each}" for each in look(trial, OLD, new)]
        if not os.WIFSIGNALED(status):
            wrong += [] if there(trial) == new else [f"{name} did not come about"]
            break
        kills += 1
        shutil.rmtree(trial)
    sys.stdout.write(json.dumps({"kills": kills, "wrong": wrong}))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_at_any_step_leaves_all_or_nothing_and_loses_nothing(tmp_path, name):
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else tmp_path  # a kill needs no real disk
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        done = subprocess.run(
            [sys.executable, __file__, folder, name, str(STRIDE)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["kills"] > 2


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))

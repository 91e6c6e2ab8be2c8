"""What the store's tests share: real folders, real clearances, and a way to be nobody in them."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from nocturn.effects import Clearance, Effect, binding
from nocturn.store.notes import NoteStore


@pytest.fixture
def root(tmp_path):
    return tmp_path / "memory"


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("not yours")
    return folder


def make_token(data: bytes) -> str:
    return hashlib.sha256(b"test" + data).hexdigest()[:32]


@pytest.fixture(scope="session")
def token():
    return make_token


@pytest.fixture
def notes(tmp_path):
    return NoteStore(tmp_path / "memory", make_token, tmp_path / ".nocturn" / "trash")


@pytest.fixture(scope="session")
def clear():
    def clear(verb, path, content="", *, asked=False, expected=None):
        effects = (Effect("memory", verb, path),)
        return Clearance._issue(
            effects=effects,
            digest=binding(effects, content.encode()),
            expected=expected,
            asked=asked,
            ruling="once" if asked else "allow",
        )

    return clear


@pytest.fixture(scope="session")
def clear_all():
    """Makes a clearance for several effects, as a run's own where that is given."""

    def clear_all(effects, content=b"", *, run="", asked=False, expected=None):
        return Clearance._issue(
            effects=tuple(effects),
            digest=binding(tuple(effects), content),
            expected=expected,
            asked=asked,
            ruling="allow",
            run=run,
            agent="an agent",
        )

    return clear_all


@pytest.fixture
def do(notes, clear_all):
    """Does what a plan of the notes' past says."""

    def do(plan):
        notes.past.apply(clear_all(plan.effects, plan.bound), plan)
        return plan.to_dict()

    return do


@pytest.fixture
def move(notes, clear_all):
    """Moves a note the way the tools do."""

    def move(path, to, **version):
        preview = notes.preview_move(path, to, **version)
        effects = (Effect("memory", "move", path), Effect("memory", "move", to))
        notes.move(clear_all(effects), path, to, **version)
        return preview

    return move


@pytest.fixture
def put(notes, clear):
    """Writes a note the way the tools do: preview, then exactly that."""

    def put(path, summary="a summary", body="body\n", block="", **version):
        preview = notes.preview_write(path, summary, block, body, **version)
        notes.write(clear("write", path, preview.after), path, preview.after, **version)
        return preview

    return put


@pytest.fixture
def as_nobody():
    """A folder where this process has an ordinary user's rights: root obeys no modes."""
    folder = Path(tempfile.mkdtemp())
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        yield folder
    else:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tree():
    """Everything under a folder, links not followed, as sorted relative paths."""

    def tree(folder: Path) -> list[str]:
        if not folder.exists():
            return []
        return sorted(str(each.relative_to(folder)) for each in folder.rglob("*"))

    return tree

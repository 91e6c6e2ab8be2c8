"""The soak of the notes passes on what we have, and fails on what is lost, torn or left."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
forks = pytest.mark.skipif(sys.platform == "win32", reason="it forks")


def run(*command):
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=240, check=False
    )


@pytest.fixture(scope="module")
def soaks():
    """Loads modules of ``scripts/soaks``, and unloads them again."""
    sys.path.insert(0, str(SCRIPTS))
    yield lambda name: importlib.import_module(f"soaks.{name}")
    sys.path.remove(str(SCRIPTS))
    for name in [each for each in sys.modules if each.partition(".")[0] == "soaks"]:
        del sys.modules[name]


@forks
def test_a_short_soak_ends_well() -> None:
    done = run(
        SCRIPTS / "memory_soak.py",
        "5",
        "--processes",
        "4",
        "--operations",
        "60",
        "--seed",
        "6",
        "--entries",
        "2",
    )
    assert (done.returncode, done.stdout.count("nothing lost")) == (0, 1), done.stderr


@forks
def test_a_soak_fails_where_versions_are_not_heeded() -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from nocturn.memory import Memory
write = Memory.write
Memory.write = lambda memory, *what, if_version=False: write(memory, *what)
import memory_soak
given = ["0", "--processes", "4", "--operations", "160", "--entries", "1"]
raise SystemExit(memory_soak.main(given))
"""
    done = run("-c", code, SCRIPTS)
    assert done.returncode == 1, done.stderr
    assert "was done" in done.stderr


def test_what_was_on_its_way_may_be_done_or_not_and_never_by_half(soaks) -> None:
    killed = soaks("killed")
    told = killed.Told({"a.md": "1", "b.md": "2"}, {"a.md": None, "c.md": "1"}, "move")
    before, after = told.notes, {"b.md": "2", "c.md": "1"}
    assert [killed.problems_of("n", told, found, []) for found in (before, after)] == [[], []]
    for half in ({**before, "c.md": "1"}, {"b.md": "2"}):
        (problem,) = killed.problems_of("n", told, half, [])
        assert "half of it" in problem
    (problem,) = killed.problems_of("n", told, {**before, "b.md": ""}, [])
    assert "b.md is neither" in problem
    assert killed.problems_of("n", told, before, ["x.tmp"]) == ["n: x.tmp is left"]


def test_a_text_that_was_confirmed_must_be_kept(soaks) -> None:
    told = soaks("killed").Told({"a.md": "1"})
    told.hear({"verb": "write", "coming": {"a.md": "2"}})
    told.hear({"came": True})
    told.hear({"verb": "remove", "coming": {"a.md": None}})
    assert (told.notes, told.after(), told.kept) == ({"a.md": "2"}, {}, {"2"})


def test_each_update_that_is_lost_or_doubled_is_said(soaks) -> None:
    lost_updates = soaks("crowded").lost_updates
    assert lost_updates(Counter(a=2, b=1), Counter(a=2, b=1)) == []
    lost, doubled = lost_updates(Counter(a=2, b=1), Counter(a=1, b=2))
    assert (lost[:14], doubled[:14]) == ("a is there 1 t", "b is there 2 t")

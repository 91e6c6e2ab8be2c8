"""`nocturn memory history …` and `nocturn undo`: what notes were, and going back."""

import json
import re

import pytest


@pytest.fixture
def text_of(tmp_path):
    def text_of(path):
        file = tmp_path / "ws/memory" / path
        return (
            file.read_text().partition("---\n")[2].partition("---\n")[2] if file.exists() else None
        )

    return text_of


@pytest.fixture
def wrote(nocturn_here):
    """Writes one note several times, and returns what runs a command."""
    for body in ("Likes cats.\n", "Likes dogs.\n"):
        nocturn_here("memory", "write", "--watched", "a.md", "pets", body)
    return nocturn_here


def numbers(nocturn_here, path="a.md"):
    rows = json.loads(nocturn_here("memory", "history", path, "--json").stdout)
    return [row["number"] for row in rows]


def test_a_note_has_a_history_that_can_be_compared_and_gone_back_to(wrote, text_of, tmp_path):
    first, second = numbers(wrote)
    (tmp_path / "ws/memory/a.md").write_text("by hand \x1b[2J\n")
    shown = wrote("memory", "history", "a.md")
    lines = shown.stdout.splitlines()
    assert [re.split(r"  +", line)[2:4] for line in lines] == [
        ["write", "38 B"], ["write", "38 B"], ["seen", "13 B"],
    ]  # fmt: skip
    difference = wrote("memory", "diff", "a.md", first, second).stdout
    assert "-Likes cats.\n+Likes dogs." in difference
    assert "by hand \\x1b[2J" in wrote("memory", "diff", "a.md").stdout
    restored = wrote("memory", "restore", "--watched", "a.md", first)
    assert (restored.returncode, restored.stdout) == (0, "a.md: as it was\n")
    assert text_of("a.md") == "Likes cats.\n"
    assert wrote("memory", "undo", "--watched", "a.md").returncode == 0
    assert (tmp_path / "ws/memory/a.md").read_text() == "by hand \x1b[2J\n"


def test_going_back_asks_as_a_write_does_and_a_dry_run_shows_it(wrote, text_of):
    first, _ = numbers(wrote)
    assert wrote("memory", "restore", "--strict", "a.md", first).returncode == 3
    dry = wrote("memory", "undo", "--watched", "--dry-run", "a.md")
    assert "+Likes cats." in dry.stdout
    assert text_of("a.md") == "Likes dogs.\n"
    assert wrote("memory", "restore", "--watched", "a.md", 999).returncode == 1
    assert wrote("memory", "diff", "none.md").returncode == 1


def test_a_note_is_amended_and_moved_and_its_history_follows(wrote, text_of):
    more = wrote("memory", "append", "--watched", "a.md", "- and birds")
    assert (more.returncode, more.stdout) == (0, "a.md: 49 bytes\n")
    moved = wrote("memory", "move", "--watched", "a.md", "pets/b.md")
    assert (moved.returncode, moved.stdout) == (0, "a.md: is pets/b.md now\n")
    assert text_of("pets/b.md") == "Likes dogs.\n- and birds"
    told = wrote("memory", "history", "pets/b.md").stdout
    assert "move from a.md" in told
    assert len(told.splitlines()) == 5


def test_what_was_removed_is_listed_brought_back_and_removed_for_good(wrote, text_of, tmp_path):
    assert wrote("memory", "trash").stdout == ""
    wrote("memory", "rm", "--watched", "a.md")
    (row,) = json.loads(wrote("memory", "trash", "--json").stdout)
    assert row["path"] == "a.md"
    assert row["slot"] in wrote("memory", "trash").stdout
    back = wrote("memory", "trash", "restore", "--watched", row["slot"][-8:])
    assert (back.returncode, text_of("a.md")) == (0, "Likes dogs.\n")
    assert wrote("memory", "trash", "restore", "--watched", "00000000").returncode == 1
    assert wrote("memory", "trash", "empty").returncode == 2
    assert wrote("memory", "trash", "empty", "--yes").stdout == "removed for good: 1\n"
    assert not any(each.is_file() for each in (tmp_path / "ws/.nocturn/trash").rglob("*"))


SCRIPT = """
nocturn.memory.write("a.md", "pets", "Likes fish.\\n");
nocturn.memory.write("new.md", "new", "New.\\n");
nocturn.memory.remove("old.md");
"""


def test_all_that_one_run_wrote_is_taken_back_by_the_id_that_it_told(wrote, text_of, tmp_path):
    wrote("memory", "write", "--watched", "old.md", "old", "Old.\n")
    (tmp_path / "s.js").write_text(SCRIPT)
    done = wrote("run", "--watched", "s.js")
    assert (done.returncode, text_of("a.md")) == (0, "Likes fish.\n")
    run = re.search(r"nocturn undo ([0-9a-f]{8}) takes back", done.stderr)[1]
    assert run in wrote("log").stdout
    assert wrote("undo", "--watched", run[:3]).returncode == 2
    undone = wrote("undo", "--watched", "--json", run)
    assert undone.returncode == 0
    assert json.loads(undone.stdout) == {
        "written": ["a.md", "old.md"], "removed": ["new.md"], "moved": [],
    }  # fmt: skip
    texts = [text_of(each) for each in ("a.md", "old.md", "new.md")]
    assert texts == ["Likes dogs.\n", "Old.\n", None]
    assert wrote("undo", "--watched", run).returncode == 1


def test_a_run_that_wrote_nothing_tells_no_id(nocturn_here):
    done = nocturn_here("eval", "1 + 1")
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_a_path_that_never_was_has_no_history_and_says_so(nocturn_here):
    for more in ([], ["--json"]):
        done = nocturn_here("memory", "history", "never.md", *more)
        assert (done.returncode, done.stdout) == (1, "")
        assert "never.md" in done.stderr

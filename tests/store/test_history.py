"""The history: every state of a note is in it, whoever brought it about, and little else."""

from __future__ import annotations

import sqlite3
import zlib
from dataclasses import replace

import pytest

from nocturn.effects import Effect
from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.history import KEPT_BYTES, History, State


@pytest.fixture
def note(root):
    def note(path, data=None):
        file = root / path
        if data is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return file

    return note


def told(notes, path):
    """The states of a note as (verb, path, whole text)."""
    rows = []
    for each in notes.past.states(path):
        data = None if each.version is None else notes.past.history.content(each.version)
        rows.append((each.verb, each.path, None if data is None else data.decode()))
    return rows


def test_each_state_is_kept_with_its_run_and_the_rest(notes, clear_all, token):
    effects = (Effect("memory", "write", "a.md"),)
    for run in ("r1", "r2"):
        notes.write(clear_all(effects, run.encode(), run=run), "a.md", run)
    notes.remove(clear_all((Effect("memory", "remove", "a.md"),), run="r3"), "a.md")
    first, second, gone = notes.past.states("a.md")
    assert (first.verb, first.before, first.version) == ("write", None, token(b"r1"))
    assert (second.before, second.version) == (token(b"r1"), token(b"r2"))
    assert (gone.verb, gone.before, gone.version) == ("remove", token(b"r2"), None)
    assert [each.run for each in (first, second, gone)] == ["r1", "r2", "r3"]
    assert {each.agent for each in (first, second, gone)} == {"an agent"}
    assert [each.bytes for each in (first, second, gone)] == [2, 2, 0]
    assert first.to_dict()["at"].endswith("Z")
    assert [each.number for each in notes.past.history.of_run("r2")] == [second.number]


def test_what_was_changed_by_hand_is_seen_at_the_next_change(notes, put, note):
    note("a.md", b"hand-made")
    put("a.md", "s", "one")
    note("a.md", b"edited")
    put("a.md", "s", "two")
    note("a.md").unlink()
    put("a.md", "s", "three")
    one, two, three = (f"---\ndescription: s\n---\n{each}" for each in ("one", "two", "three"))
    assert told(notes, "a.md") == [
        ("seen", "a.md", "hand-made"),
        ("write", "a.md", one),
        ("seen", "a.md", "edited"),
        ("write", "a.md", two),
        ("seen", "a.md", None),
        ("write", "a.md", three),
    ]


@pytest.mark.parametrize("look", ["read", "stat"])
def test_a_read_sees_what_was_changed_by_hand(notes, put, note, look):
    put("a.md", "s", "one")
    note("a.md", b"edited")
    getattr(notes, look)("a.md")
    assert [each.verb for each in notes.past.history.of("a.md")] == ["write", "seen"]
    getattr(notes, look)("a.md")
    assert len(notes.past.history.of("a.md")) == 2


def test_reads_make_nothing_and_never_fail_for_the_history(notes, note, tmp_path, put):
    note("a.md", b"text")
    notes.read("a.md")
    notes.stat("a.md")
    notes.past.states("a.md")
    assert not (tmp_path / ".nocturn").exists()
    put("b.md")
    (tmp_path / ".nocturn/history.db").write_bytes(b"not a database")
    assert notes.read("a.md") == "text"
    assert notes.stat("a.md").bytes == 4


def test_a_history_that_is_not_ours_refuses_the_write_and_stays(put, note, tmp_path):
    put("a.md", "s", "one")
    before = note("a.md").read_bytes()
    (tmp_path / ".nocturn/history.db").write_bytes(b"not a database")
    with pytest.raises(ConfigurationError):
        put("a.md", "s", "two")
    assert note("a.md").read_bytes() == before
    assert (tmp_path / ".nocturn/history.db").read_bytes() == b"not a database"
    assert [each.name for each in note("a.md").parent.iterdir()] == ["a.md"]


def test_a_content_is_kept_once_and_compressed(put, tmp_path):
    for _ in range(3):
        put("a.md", "s", "x" * 60_000)
        put("b.md", "s", "x" * 60_000)
        put("a.md", "s", "y" * 60_000)
    with sqlite3.connect(tmp_path / ".nocturn/history.db") as db:
        assert db.execute("SELECT COUNT(*) FROM contents").fetchone() == (2,)
    db.close()
    assert (tmp_path / ".nocturn/history.db").stat().st_size < 60_000
    assert (tmp_path / ".nocturn/history.db").stat().st_mode & 0o777 == 0o600


def test_what_no_history_can_hold_goes_to_the_trash_before_it_is_replaced(
    notes, put, note, outside, tmp_path
):
    note("big.md", b"z" * (KEPT_BYTES + 1))
    (note("big.md").parent / "link.md").symlink_to(outside / "secret.md")
    put("big.md", "s", "small")
    put("link.md", "s", "small")
    kept = {each.path: tmp_path / ".nocturn/trash" / each.slot for each in notes.trash.entries()}
    assert (kept["big.md"] / "big.md").stat().st_size == KEPT_BYTES + 1
    assert (kept["link.md"] / "link.md").readlink() == outside / "secret.md"
    assert (outside / "secret.md").read_text() == "not yours"
    assert [each.verb for each in notes.past.states("big.md")] == ["seen", "write"]
    with pytest.raises(NocturnError) as error:
        notes.past.plan_undo("big.md")
    assert error.value.code == "NOT_FOUND"


def test_a_note_is_followed_through_its_moves(notes, put, move):
    put("a.md", "s", "one")
    move("a.md", "b/c.md")
    put("b/c.md", "s", "two")
    put("a.md", "s", "another note")
    move("b/c.md", "d.md")
    verbs = [(verb, path) for verb, path, _ in told(notes, "d.md")]
    assert verbs == [
        ("write", "a.md"),
        ("move", "a.md"),
        ("move", "b/c.md"),
        ("write", "b/c.md"),
        ("move", "b/c.md"),
        ("move", "d.md"),
    ]


def states(*rows):
    return [State("a.md", "write", None, version, at_ms=at) for version, at in rows]


def test_old_states_go_but_never_the_newest_of_a_note(tmp_path):
    history = History(tmp_path / ".nocturn")
    with history.changing() as pages:
        for at, version in enumerate("abc", 1):
            pages.add(states((version, at)))
            pages.keep(version, version.encode())
        pages.prune(since_ms=10, most_bytes=1 << 30)
    (left,) = history.of("a.md")
    assert left.version == "c"
    assert history.content("c") == b"c"
    assert history.content("a") is None


def test_the_oldest_go_while_there_is_too_much_but_none_of_a_change_under_way(tmp_path):
    history = History(tmp_path / ".nocturn")
    with history.changing() as pages:
        for at in range(200):
            change = pages.add(states((f"v{at}", 1 << 50)))
            pages.keep(f"v{at}", bytes(range(256)) * 4 + at.to_bytes(2))
            if at == 3:
                pages.begin(change)
        pages.prune(since_ms=0, most_bytes=20_000)
    kept = [each.version for each in history.of("a.md")]
    assert kept[0] == "v3"
    assert kept[-1] == "v199"
    assert 2 < len(kept) < 100


def test_it_is_tidied_now_and_then_by_itself(notes, put, monkeypatch):
    monkeypatch.setattr(notes.past.history, "_kept_seconds", -1)
    monkeypatch.setattr("nocturn.store.changes._TIDIED_EVERY", 1)  # chance is no test
    for text in ("one", "two", "three"):
        put("a.md", "s", text)
    assert len(notes.past.states("a.md")) == 1
    assert notes.read("a.md").endswith("three")


def test_a_content_that_unpacks_to_a_disk_full_is_bounded(tmp_path):
    history = History(tmp_path / ".nocturn")
    with history.changing() as pages:
        pages.keep("v", b"")
        bomb = zlib.compress(bytes(KEPT_BYTES * 8))
        pages._db.execute("UPDATE contents SET data = ?", (bomb,))
    assert len(history.content("v")) == KEPT_BYTES
    with history.changing() as pages:
        pages._db.execute("UPDATE contents SET data = 'no zlib'")
    with pytest.raises(ConfigurationError):
        history.content("v")


def test_states_that_come_about_together_have_one_change(tmp_path):
    history = History(tmp_path / ".nocturn")
    (one,) = states(("v", 1))
    with history.changing() as pages:
        first = pages.add([one])
        second = pages.add([one, replace(one, path="b.md")])
        assert [each.path for each in pages.of_change(second)] == ["a.md", "b.md"]
        pages.drop(second)
        assert [each.number for each in pages.thread("a.md")] == [first]
        assert pages.add([one]) > second  # a number is never another's

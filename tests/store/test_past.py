"""Going back: one note, one change, one run; and never over what somebody has changed since."""

from __future__ import annotations

import pytest

from nocturn.effects import Effect
from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NAME_TAKEN, NOT_FOUND, NocturnError
from nocturn.store.preamble import fresh


def refused(function, *args, **how):
    with pytest.raises(NocturnError) as caught:
        function(*args, **how)
    return caught.value


def body(text):
    return fresh("s") + text


@pytest.fixture
def write(notes, clear_all):
    def write(path, text, run=""):
        effects = (Effect("memory", "write", path),)
        notes.write(clear_all(effects, text.encode(), run=run), path, text)

    return write


@pytest.fixture
def remove(notes, clear_all):
    def remove(path, run=""):
        notes.remove(clear_all((Effect("memory", "remove", path),), run=run), path)

    return remove


@pytest.fixture
def texts(root):
    def texts():
        return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*.md")}

    return texts


def test_a_state_is_restored_by_its_number(notes, write, do, texts):
    for text in ("one", "two", "three"):
        write("a.md", text)
    first = notes.past.states("a.md")[0].number
    assert do(notes.past.plan_restore("a.md", first)) == {
        "written": ["a.md"],
        "removed": [],
        "moved": [],
    }
    assert texts() == {"a.md": "one"}
    assert refused(notes.past.plan_restore, "a.md", first).code == CONFLICT
    assert refused(notes.past.plan_restore, "a.md", 99).code == NOT_FOUND
    write("b.md", "other")
    other = notes.past.states("b.md")[0].number
    assert refused(notes.past.plan_restore, "a.md", other).code == NOT_FOUND


def test_an_undo_takes_the_last_change_back_and_the_next_one_brings_it_again(
    notes, write, remove, do, texts
):
    write("a.md", "one")
    write("a.md", "two")
    do(notes.past.plan_undo("a.md"))
    assert texts() == {"a.md": "one"}
    do(notes.past.plan_undo("a.md"))
    assert texts() == {"a.md": "two"}
    remove("a.md")
    do(notes.past.plan_undo("a.md"))
    assert texts() == {"a.md": "two"}
    write("b.md", "new")
    assert do(notes.past.plan_undo("b.md"))["removed"] == ["b.md"]
    assert texts() == {"a.md": "two"}
    assert refused(notes.past.plan_undo, "never.md").code == NOT_FOUND


def test_a_change_by_hand_can_be_taken_back_too(notes, write, do, texts, root):
    write("a.md", "one")
    (root / "a.md").write_text("by hand")
    do(notes.past.plan_undo("a.md"))
    assert texts() == {"a.md": "one"}
    do(notes.past.plan_undo("a.md"))
    assert texts() == {"a.md": "by hand"}


@pytest.mark.parametrize("to", ["b/c.md", "A.md"])
def test_a_move_is_taken_back_from_either_name(notes, write, move, do, texts, to):
    write("a.md", "one")
    for path in ("a.md", to):
        move("a.md", to)
        assert texts() == {to: "one"}
        assert do(notes.past.plan_undo(path))["moved"] == [f"{to} -> a.md"]
        assert texts() == {"a.md": "one"}


def test_a_run_is_taken_back_whole(notes, write, remove, do, texts, clear_all):
    write("kept.md", "kept")
    write("changed.md", "before")
    write("removed.md", "was here")
    write("moved.md", "on the move")
    before = texts()
    write("changed.md", "once", run="r")
    write("changed.md", "twice", run="r")
    write("new.md", "new", run="r")
    remove("removed.md", run="r")
    effects = [Effect("memory", "move", each) for each in ("moved.md", "Moved.md")]
    notes.move(clear_all(effects, run="r"), "moved.md", "Moved.md")
    write("Moved.md", "and changed", run="r")
    after = texts()
    told = do(notes.past.plan_undo_run("r"))
    assert texts() == before
    assert {*told["written"], *told["removed"], *told["moved"]} == {
        *("changed.md", "new.md", "removed.md", "moved.md", "Moved.md")
    }
    assert refused(notes.past.plan_undo_run, "r").code == CONFLICT
    assert refused(notes.past.plan_undo_run, "no such run").code == NOT_FOUND
    assert after != before


def test_a_run_is_not_taken_back_over_what_was_changed_since(notes, write, texts, root):
    for path in ("a.md", "b.md", "c.md"):
        write(path, "one", run="r")
    (root / "b.md").write_text("by hand")
    write("c.md", "later")
    before = texts()
    error = refused(notes.past.plan_undo_run, "r")
    assert (error.code, error.detail) == (CONFLICT, {"notes": ["b.md", "c.md"]})
    assert texts() == before


def test_what_changes_after_the_plan_was_shown_stops_all_of_it(
    notes, write, clear_all, texts, root
):
    write("a.md", "one", run="r")
    write("b.md", "one", run="r")
    plan = notes.past.plan_undo_run("r")
    (root / "b.md").write_text("by hand")
    error = refused(notes.past.apply, clear_all(plan.effects, plan.bound), plan)
    assert (error.code, error.detail["notes"]) == (CONFLICT, ["b.md"])
    assert texts() == {"a.md": "one", "b.md": "by hand"}


def test_a_plan_needs_a_clearance_for_exactly_itself(notes, write, clear_all, texts):
    write("a.md", "one", run="r")
    write("b.md", "two", run="r")
    plan = notes.past.plan_undo_run("r")
    for effects, bound in ((plan.effects[:1], plan.bound), (plan.effects, b"[]")):
        with pytest.raises(PermissionError):
            notes.past.apply(clear_all(effects, bound), plan)
    assert len(texts()) == 2


def test_a_preview_shows_each_note_by_its_name_and_its_whole_text(notes, write):
    write("a.md", "first")
    write("a.md", "second", run="r")
    write("b.md", "third", run="r")
    preview = notes.past.plan_undo_run("r").preview()
    assert preview.before == "==> b.md <==\nthird\n==> a.md <==\nsecond\n"
    assert preview.after == "==> a.md <==\nfirst\n"
    alone = notes.past.plan_undo("b.md").preview()
    assert (alone.before, alone.after) == ("third", None)


def test_a_version_of_another_note_is_not_told_of(notes, write, token):
    write("a.md", "one")
    write("b.md", "two")
    assert notes.past.content_of("a.md", token(b"one")) == b"one"
    assert notes.past.content_of("a.md", token(b"two")) is None


def test_nothing_is_ever_moved_over(notes, write, texts, root, clear_all):
    write("a.md", "one")
    write("b.md", "two")
    assert refused(notes.preview_move, "a.md", "b.md").code == NAME_TAKEN
    assert refused(notes.preview_move, "a.md", "B.md").code == NAME_TAKEN
    assert refused(notes.preview_move, "a.md", "a.md").code == BAD_ARGUMENTS
    assert refused(notes.preview_move, "c.md", "d.md").code == NOT_FOUND
    assert refused(notes.preview_move, "a.md", "c.md", if_version="0" * 32).code == CONFLICT
    effects = [Effect("memory", "move", each) for each in ("a.md", "c.md")]
    (root / "c.md").write_text("came between")
    assert refused(notes.move, clear_all(effects), "a.md", "c.md").code == NAME_TAKEN
    assert texts() == {"a.md": "one", "b.md": "two", "c.md": "came between"}


def test_two_names_of_one_file_are_two_notes(notes, write, root, texts):
    write("a.md", "one")
    (root / "b.md").hardlink_to(root / "a.md")
    assert refused(notes.preview_move, "a.md", "b.md").code == NAME_TAKEN
    assert len(texts()) == 2


def test_a_move_to_another_folder_of_that_name_in_other_case_is_refused(notes, write):
    write("people/a.md", "one")
    assert refused(notes.preview_move, "people/a.md", "People/a.md").code == NAME_TAKEN


def test_a_move_leaves_no_folder_behind_that_it_made_in_vain(notes, write, root, clear_all):
    write("a.md", "one")
    effects = [Effect("memory", "move", each) for each in ("a.md", "x/y/b.md")]
    asked = clear_all(effects, asked=True, expected="0" * 32)
    assert refused(notes.move, asked, "a.md", "x/y/b.md").code == CONFLICT
    assert not (root / "x").exists()

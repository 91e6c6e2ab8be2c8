"""Restore and undo: by a person's hand, as one question, and a run by its own name."""

import pytest

from nocturn import NocturnError
from nocturn.testing import FixedSecrets, RecordingApprover


def refusal(call, *args, **how):
    with pytest.raises(NocturnError) as refused:
        call(*args, **how)
    return refused.value


RUN = """
nocturn.memory.append("kept.md", "more");
nocturn.memory.write("new.md", "n", "new");
nocturn.memory.move("moved.md", "elsewhere/moved.md");
nocturn.memory.remove("removed.md");
"""


@pytest.fixture
def full(ws):
    for path in ("kept.md", "moved.md", "removed.md"):
        ws.memory.write(path, "s", path)
    return ws


def texts(ws):
    root = ws.path / "memory"
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*.md")}


def test_a_whole_run_is_taken_back_by_what_its_result_says(full):
    before = texts(full)
    result = full.run(RUN, mode="watched").raise_for_error()
    assert len(result.run) == 16
    assert "run" not in result.to_dict()
    assert texts(full) != before
    told = full.memory.undo(run=result.run)
    assert told == {
        "written": ["kept.md", "removed.md"],
        "removed": ["new.md"],
        "moved": ["elsewhere/moved.md -> moved.md"],
    }
    assert texts(full) == before
    assert {each["run"] for each in full.memory.history("kept.md")} >= {result.run}


def test_all_of_it_is_one_question_and_a_no_does_nothing(nocturn_workspace):
    person = RecordingApprover(answer=False)
    ws = nocturn_workspace(approver=person)
    run = ws.run('for (const n of "abc") nocturn.memory.write(n + ".md", n, n)', mode="watched").run
    before = texts(ws)
    assert refusal(ws.memory.undo, run=run, mode="guarded").code == "GATE_DENIED"
    (question,) = person.questions
    assert sorted((each.verb, each.target) for each in question.effects) == [
        ("remove", "a.md"),
        ("remove", "b.md"),
        ("remove", "c.md"),
    ]
    assert texts(ws) == before
    person.answer = True
    assert ws.memory.undo(run=run, mode="guarded")["removed"] == ["a.md", "b.md", "c.md"]
    assert texts(ws) == {}


def test_a_conflict_names_the_notes_and_nothing_is_done(full):
    run = full.run(RUN, mode="watched").run
    full.memory.append("new.md", "mine")
    before = texts(full)
    error = refusal(full.memory.undo, run=run)
    assert (error.code, error.detail["notes"]) == ("CONFLICT", ["new.md"])
    assert texts(full) == before


def test_what_changes_while_a_person_decides_stops_it(nocturn_workspace):
    person = RecordingApprover()
    ws = nocturn_workspace(approver=person)
    ws.memory.write("a.md", "s", "one")
    ws.memory.write("a.md", "s", "two")

    def meddle(_):
        (ws.path / "memory/a.md").write_text("by hand")
        return True

    person.answer = meddle
    number = ws.memory.history("a.md")[0]["number"]
    assert refusal(ws.memory.restore, "a.md", number, mode="guarded").code == "CONFLICT"
    assert texts(ws) == {"a.md": "by hand"}


def test_no_guest_can_go_back(ws):
    ws.memory.write("a.md", "s", "one")
    source = """["memory_restore", "memory_undo"].map((tool) => {
      try { return nocturn.call(tool, {path: "a.md", number: 1}); }
      catch (error) { return error.code; }
    })"""
    assert ws.run(source, mode="watched").value == ["UNKNOWN_TOOL", "UNKNOWN_TOOL"]
    with pytest.raises(NocturnError):
        ws.run("1", tools=["memory_undo"])


def test_an_undo_names_a_note_or_a_run(ws):
    assert refusal(ws.memory.undo).code == "BAD_ARGUMENTS"
    assert refusal(ws.memory.undo, "a.md", run="r").code == "BAD_ARGUMENTS"
    assert refusal(ws.memory.undo, "a.md").code == "NOT_FOUND"
    assert refusal(ws.memory.restore, "a.md", 1).code == "NOT_FOUND"
    assert not ws.path.exists()


def test_what_was_is_told_without_secrets(nocturn_workspace):
    secret = "q7Xw2Lm9Zt4Kd8RvB3nY"
    ws = nocturn_workspace(secrets=[FixedSecrets(KEY=secret)])
    ws.memory.write("a.md", "s", "one\n")
    (ws.path / "memory/a.md").write_text(f"key: {secret}\n")
    (ws.path / f"memory/{secret}.md").write_text("x")
    states = ws.memory.history("a.md")
    assert [each["verb"] for each in states] == ["write", "seen"]
    told = ws.memory.diff("a.md", states[0]["number"])
    assert "+key: [REDACTED]" in told
    assert ws.memory.diff("a.md", states[0]["number"], states[1]["number"]) == told
    assert secret not in str(ws.memory.history(f"{secret}.md"))
    ws.memory.remove("a.md")
    (trashed,) = ws.memory.trash()
    assert (trashed["path"], trashed["bytes"]) == ("a.md", len(f"key: {secret}\n"))
    assert refusal(ws.memory.diff, "a.md", 99).code == "NOT_FOUND"


def test_a_dry_undo_does_nothing(full):
    run = full.run(RUN, mode="watched").run
    before = texts(full)
    told = full.memory.undo(run=run, dry_run=True)
    assert told["value"]["removed"] == ["new.md"]
    assert texts(full) == before

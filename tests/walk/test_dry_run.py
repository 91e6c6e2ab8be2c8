"""Dry runs: every write stops behind the gate's ruling, and the result says what it would be."""

import asyncio

import pytest

from nocturn import NocturnError
from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "9f86d081884c7d659a2feaa0c55ad015"
WRITE = "nocturn.memory.write('people/lina.md', 'a daughter', 'Likes cats.\\n');"
DIFF = (
    "--- /dev/null\n+++ b/people/lina.md\n@@ -0,0 +1,4 @@\n"
    "+---\n+description: a daughter\n+---\n+Likes cats.\n"
)


@pytest.fixture
def person():
    return RecordingApprover()


@pytest.fixture
def ws(nocturn_workspace, person):
    return nocturn_workspace(approver=person)


def files(ws):
    return sorted(str(each.relative_to(ws.path)) for each in ws.path.rglob("*"))


def test_nothing_is_written_and_the_diff_says_what_would_be(ws):
    result = ws.run(WRITE, mode="watched", dry_run=True)
    assert result.value == {"path": "people/lina.md", "summary": "a daughter", "bytesWritten": 44}
    assert [(each.path, each.diff) for each in result.would_write] == [("people/lina.md", DIFF)]
    assert result.calls[0].ruling == "allow"
    assert not ws.path.exists()


def test_the_shape_of_a_result_has_one_field_more_in_a_dry_run_alone(ws):
    dry = ws.run(WRITE, mode="watched", dry_run=True).to_dict()
    assert dry["would_write"] == [{"path": "people/lina.md", "diff": DIFF}]
    assert dry.keys() - ws.run("1").to_dict().keys() == {"would_write"}
    assert ws.run("1", dry_run=True).to_dict()["would_write"] == []
    assert ws.run("import 'x'", dry_run=True).to_dict()["would_write"] == []


def test_the_script_goes_on_and_reads_what_is_really_there(ws):
    ws.memory.write("people/lina.md", "old", "old\n")
    before = {each: (ws.path / each).stat().st_mtime_ns for each in files(ws)}
    result = ws.run(
        WRITE + "const after = nocturn.memory.read('people/lina.md');"
        "nocturn.memory.remove('people/lina.md');"
        "nocturn.memory.list().notes.length + after",
        mode="watched",
        dry_run=True,
    )
    assert result.value == "1---\ndescription: old\n---\nold\n"
    changed, removed = result.would_write
    assert "-description: old\n+description: a daughter\n" in changed.diff
    assert removed.diff.startswith("--- a/people/lina.md\n+++ /dev/null\n")
    now = {each: (ws.path / each).stat().st_mtime_ns for each in files(ws)}
    journal = ".nocturn/journal.jsonl"
    assert {k: v for k, v in now.items() if k != journal} == {
        k: v for k, v in before.items() if k != journal
    }


def test_the_journal_has_outcomes_that_say_dry_and_no_intent(ws, read_journal):
    ws.memory.write("a.md", "s", "c")
    ws.run(WRITE, mode="watched", dry_run=True)
    dry = [entry for entry in read_journal(ws) if entry.get("dry")]
    assert [(entry["phase"], entry["ruling"]) for entry in dry] == [("outcome", "allow")]


def test_what_would_be_refused_is_refused(ws):
    result = ws.run(WRITE, dry_run=True)
    assert result.error.detail == {"reason": "unattended"}
    assert result.would_write == ()
    result = ws.run("nocturn.memory.write('../x.md', 's', 'c')", mode="watched", dry_run=True)
    assert result.error.code == "PATH_ESCAPE"
    assert not ws.path.exists()


def test_a_person_is_asked_once_is_told_that_it_is_dry_and_nothing_is_remembered(ws, person):
    result = ws.run(WRITE, mode="guarded", agent="bob", dry_run=True)
    assert result.calls[0].ruling == "once"
    (question,) = person.questions
    assert question.dry
    assert [option.value for option in question.options] == ["once"]
    person.answer = False
    assert ws.run(WRITE, mode="guarded", dry_run=True).would_write == ()
    assert not ws.path.exists()


def test_no_secret_stands_in_what_would_be_written(nocturn_workspace):
    ws = nocturn_workspace(secrets=[FixedSecrets(token=SECRET)])
    (ws.path / "memory/people").mkdir(parents=True)
    (ws.path / "memory/people/lina.md").write_text(f"the token: {SECRET}\n")
    (told,) = ws.run(WRITE, mode="watched", dry_run=True).would_write
    assert "-the token: [REDACTED]" in told.diff


def test_a_dry_run_from_an_event_loop_and_a_dry_call_from_python(ws):
    result = asyncio.run(ws.run_async(WRITE, mode="watched", dry_run=True))
    assert [each.diff for each in result.would_write] == [DIFF]
    told = ws.memory.write("people/lina.md", "a daughter", "Likes cats.\n", dry_run=True)
    assert told["value"]["bytesWritten"] == 44
    assert told["would_write"] == [{"path": "people/lina.md", "diff": DIFF}]
    assert ws.call("time_now", {}, dry_run=True)["would_write"] == []
    with pytest.raises(NocturnError) as refused:
        ws.memory.remove("people/lina.md", dry_run=True)
    assert refused.value.code == "NOT_FOUND"
    assert not ws.path.exists()

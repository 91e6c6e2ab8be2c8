"""The contract's section 6, through whole runs."""

import json
import threading

import pytest

from nocturn import Limits, NocturnError, tool
from nocturn.guard.approver import CallbackApprover
from nocturn.guard.ports import NO_ANSWER
from nocturn.testing import RecordingApprover

WRITE = "nocturn.memory.write('people/lina.md', 's', 'c')"


@pytest.fixture
def person():
    return RecordingApprover()


@pytest.fixture
def ws(nocturn_workspace, person):
    return nocturn_workspace(approver=person)


def denied(result):
    assert result.status == "guest_error"
    assert result.error.code == "GATE_DENIED"
    return result.error.detail["reason"]


def write(path):
    return f"nocturn.memory.write({path!r}, 's', 'c');"


def attempt(source):
    return f"try {{ {source} }} catch (e) {{ codes.push(e.detail.reason) }};"


def test_the_default_mode_is_strict(ws, person):
    assert denied(ws.run(WRITE)) == "unattended"
    assert person.questions == []


def test_watched_allows_notes_and_shows_the_call(ws, person):
    seen = []
    assert ws.run(WRITE, mode="watched", on_call=seen.append).ok
    assert person.questions == []
    assert [(call.tool, call.ruling) for call in seen] == [("memory_write", "allow")]


def test_guarded_asks_and_a_yes_runs(ws, person):
    result = ws.run(WRITE, mode="guarded")
    assert result.ok
    assert result.calls[0].ruling == "once"
    (question,) = person.questions
    assert (question.tool, question.mode.value) == ("memory_write", "guarded")
    assert question.effects[0].target == "people/lina.md"


def test_strict_asks_nobody_and_a_grant_runs(ws, person):
    person.answer = "always"
    assert ws.run(WRITE, mode="guarded", agent="bob").ok
    result = ws.run(WRITE, agent="bob")
    assert result.ok
    assert result.calls[0].ruling == "grant"
    assert denied(ws.run(write("other.md"), agent="bob")) == "unattended"
    assert denied(ws.run(WRITE, agent="eve")) == "unattended"
    assert len(person.questions) == 1


@tool(axis="write", effects=[("mail", "send", "to")])
def send_mail(to: str) -> str:
    """Sends mail."""
    return to


def test_a_watched_workspace_without_an_approver_has_nobody_to_ask(nocturn_workspace):
    ws = nocturn_workspace(tools=[send_mail])
    result = ws.run("nocturn.call('send_mail', {to: 'lina'})", mode="watched")
    assert denied(result) == "unattended"


def test_a_kind_that_no_rule_names_is_asked_even_when_watched(nocturn_workspace, person):
    ws = nocturn_workspace(approver=person, tools=[send_mail])
    assert ws.run("nocturn.call('send_mail', {to: 'lina'})", mode="watched").value == "lina"
    assert person.questions[0].effects[0].kind == "mail"


def test_a_no_is_declined_and_sticks_for_that_effect_in_that_run(ws, person):
    person.answer = False
    result = ws.run(
        "let codes = [];" + attempt(write("a.md")) * 3 + attempt(write("b.md")) + "codes",
        mode="guarded",
    )
    assert result.value == ["declined"] * 4
    assert [q.effects[0].target for q in person.questions] == ["a.md", "b.md"]
    person.answer = True
    assert ws.run(write("a.md"), mode="guarded").ok


@pytest.mark.parametrize("answer", [None, 1, "yes", "y", object(), [], "always ", "widen"])
def test_an_answer_that_was_not_offered_is_a_no(ws, person, answer):
    # "widen" is not on offer for a note at the root.
    person.answer = answer
    assert denied(ws.run(write("a.md"), mode="guarded")) == "declined"
    assert not ws.path.exists()


def test_no_answer_is_a_timeout_told_apart_from_a_no_and_sticks(ws, person):
    person.answer = NO_ANSWER
    result = ws.run("let codes = [];" + attempt(WRITE) * 2 + "codes", mode="guarded")
    assert result.value == ["timeout", "timeout"]
    assert len(person.questions) == 1


def test_an_approver_that_hangs_is_a_timeout(nocturn_workspace):
    release = threading.Event()
    hanging = CallbackApprover(lambda _: release.wait(), timeout_seconds=0.05)
    result = nocturn_workspace(approver=hanging).run(WRITE, mode="guarded")
    release.set()
    assert denied(result) == "timeout"


def test_the_clocks_stand_still_while_a_person_decides(nocturn_workspace):
    waited = threading.Event()
    slow = CallbackApprover(lambda _: not waited.wait(1.2))
    ws = nocturn_workspace(approver=slow, limits=Limits(wall_seconds=1))
    ws.memory.list()  # what a first call loads is not to be in the way
    result = ws.run(WRITE, mode="guarded")
    assert result.ok
    assert result.usage.waited_ms > result.usage.wall_ms


def test_the_eleventh_question_of_a_run_is_unattended(ws, person):
    source = "let codes = [];" + "".join(attempt(write(f"n{n}.md")) for n in range(12)) + "codes"
    assert ws.run(source, mode="guarded").value == ["unattended"] * 2
    assert len(person.questions) == 10
    assert ws.run(write("n11.md"), mode="guarded").ok


def test_an_approver_that_breaks_is_neither_a_no_nor_a_yes(ws, person):
    def broken(_):
        raise ValueError("/etc/shadow")

    person.answer = broken
    result = ws.run(WRITE, mode="guarded")
    assert result.error.code == "INTERNAL"
    assert "shadow" not in result.to_json()
    assert not ws.path.exists()
    person.answer = True
    assert ws.run(WRITE, mode="guarded").ok


def test_a_named_agent_is_offered_four_answers_and_a_nameless_one_three(ws, person):
    ws.run(WRITE, mode="guarded", agent="bob")
    ws.run(WRITE, mode="guarded")
    named, nameless = ([o.value for o in q.options] for q in person.questions)
    assert named == ["once", "session", "always", "widen"]
    assert nameless == ["once", "session", "widen"]


def test_a_note_at_the_root_has_no_widening(ws, person):
    ws.run(write("a.md"), mode="guarded", agent="bob")
    assert "widen" not in [option.value for option in person.questions[0].options]


def test_once_is_for_once(ws, person):
    ws.run(WRITE + ";" + WRITE, mode="guarded")
    assert len(person.questions) == 2


def test_this_session_lasts_until_the_workspace_closes(nocturn_workspace, person):
    person.answer = "session"
    with nocturn_workspace(approver=person) as ws:
        assert ws.run(WRITE, mode="guarded").ok
        assert ws.run(WRITE, mode="guarded").calls[0].ruling == "grant"
        assert len(person.questions) == 1
        assert not (ws.path / "grants.json").exists()
    nocturn_workspace(approver=person).run(WRITE, mode="guarded")
    assert len(person.questions) == 2


def test_always_outlasts_the_workspace_and_belongs_to_the_agent_and_the_verb(
    nocturn_workspace, person
):
    person.answer = "always"
    with nocturn_workspace(approver=person) as ws:
        ws.run(WRITE, mode="guarded", agent="bob")
    later = nocturn_workspace(approver=person)
    assert later.run(WRITE, mode="guarded", agent="bob").calls[0].ruling == "grant"
    assert len(person.questions) == 1
    later.run(WRITE, mode="guarded", agent="eve")
    later.run("nocturn.memory.remove('people/lina.md')", mode="guarded", agent="bob")
    assert len(person.questions) == 3


def test_a_nameless_agent_is_its_script(ws, person):
    person.answer = "session"
    ws.run(WRITE, mode="guarded")
    ws.run(WRITE, mode="guarded")
    ws.run(WRITE + " // changed", mode="guarded")
    assert len(person.questions) == 2
    assert person.questions[0].agent != person.questions[1].agent


def test_a_widening_covers_the_folders_own_notes_and_no_deeper(ws, person):
    person.answer = "widen"
    ws.run(write("people/a.md"), mode="guarded", agent="bob")
    person.answer = False
    assert ws.run(write("people/b.md"), mode="strict", agent="bob").ok
    for path in ("people/x/y.md", "peoples/a.md", "a.md"):
        assert denied(ws.run(write(path), agent="bob")) == "unattended"


def test_a_nameless_agents_widening_lasts_the_session_only(nocturn_workspace, person):
    person.answer = "widen"
    with nocturn_workspace(approver=person) as ws:
        source = write("people/a.md") + write("people/b.md")
        assert [call.ruling for call in ws.run(source, mode="guarded").calls] == ["widen", "grant"]
        assert not (ws.path / "grants.json").exists()


def test_a_note_may_be_covered_in_either_spelling(ws, person):
    person.answer = "always"
    ws.run(write("cafe\u0301.md"), mode="guarded", agent="bob")
    assert ws.run(write("caf\u00e9.md"), agent="bob").ok


@pytest.mark.parametrize("name", ["policy.toml", "grants.json"])
@pytest.mark.parametrize("text", ["", "][", "{}", '{"version": 1, "grants": []}', "[rules]\n"])
def test_a_file_that_this_nocturn_did_not_write_is_refused_and_left_as_it_is(
    ws, person, name, text
):
    ws.path.mkdir()
    (ws.path / name).write_text(text)
    for mode in ("watched", "guarded", "strict"):
        result = ws.run(WRITE, mode=mode)
        assert denied(result) == "policy"
        assert name in result.error.message
    assert person.questions == []
    assert (ws.path / name).read_text() == text
    assert sorted(each.name for each in ws.path.iterdir()) == [name]
    assert ws.run("nocturn.memory.list()").ok


def test_a_grants_file_that_was_edited_by_hand_is_refused(ws, person):
    person.answer = "always"
    ws.run(WRITE, mode="guarded", agent="bob")
    file = ws.path / "grants.json"
    book = json.loads(file.read_text())
    book["grants"][0]["agent"] = "eve"
    file.write_text(json.dumps(book))
    assert denied(ws.run(WRITE, agent="eve")) == "policy"
    assert denied(ws.run(WRITE, agent="bob")) == "policy"


def test_a_folder_that_came_from_elsewhere_brings_no_permissions(
    ws, person, nocturn_workspace, tmp_path, monkeypatch
):
    person.answer = "always"
    ws.run(WRITE, mode="guarded", agent="bob")
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "somebody else"))
    assert denied(nocturn_workspace().run(WRITE, agent="bob")) == "policy"


def test_questions_come_one_at_a_time(nocturn_workspace):
    open_now, most = [], []

    def ask(_):
        open_now.append(1)
        most.append(len(open_now))
        open_now.pop()
        return True

    ws = nocturn_workspace(approver=ask)
    runs = [
        threading.Thread(target=ws.run, args=(write(f"n{n}.md"),), kwargs={"mode": "guarded"})
        for n in range(4)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert most == [1] * 4


def test_a_refusal_that_the_guest_catches_is_still_in_the_calls(ws):
    result = ws.run("let codes = [];" + attempt(WRITE) + "codes")
    assert result.ok
    (call,) = result.calls
    assert (call.code, call.ruling) == ("GATE_DENIED", "unattended")
    assert call.effects == ({"kind": "memory", "verb": "write", "target": "people/lina.md"},)


def test_calls_from_python_take_the_same_gate(ws, person):
    assert ws.memory.write("a.md", "s", "c")["bytesWritten"]
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("a.md", "s", "c", mode="strict")
    assert refused.value.code == "GATE_DENIED"
    assert refused.value.detail == {"reason": "unattended"}
    person.answer = "always"
    ws.memory.write("a.md", "s", "c", mode="guarded", agent="bob")
    ws.memory.write("a.md", "s", "c", mode="strict", agent="bob")

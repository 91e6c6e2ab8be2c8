"""Calls and runs that are one run to the guard: one budget, one person, one id."""

import json

import pytest

from nocturn import NocturnError, tool
from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "q7Xw2Lm9Zt4Kd8RvP3sN6bHc"
NOTE = {"path": "people/lina.md", "summary": "s", "content": "c"}


@tool(axis="read", effects="ungated", outside=True)
def fetch_page(address: str) -> str:
    """A page."""
    return f"the page at {address}"


@tool(axis="write", effects=[("mail", "send", "to")])
def send_mail(to: str) -> str:
    """Sends a mail."""
    return f"sent to {to}"


def write(content, path="a.md"):
    return f"nocturn.memory.write({path!r}, 's', {json.dumps(content)})"


@pytest.fixture
def person():
    return RecordingApprover("no")


@pytest.fixture
def ws(nocturn_workspace, person):
    secrets = [FixedSecrets(house=SECRET)]
    return nocturn_workspace(approver=person, secrets=secrets, tools=[fetch_page])


def code_of(talk, name="memory_write", **arguments):
    with pytest.raises(NocturnError) as refused:
        talk.call(name, {**NOTE, **arguments} if name == "memory_write" else arguments)
    return refused.value.code


def test_blocks_of_calls_and_of_runs_come_out_of_one_budget(ws):
    with ws.conversation(mode="watched") as talk:
        assert talk.run(write(SECRET)).error.code == "LEAK_BLOCKED"
        assert code_of(talk, content=SECRET) == "LEAK_BLOCKED"
        assert talk.run(write(SECRET)).error.code == "LEAK_BLOCKED"
        assert code_of(talk, content="nothing of it") == "LEAK_BLOCKED"
        assert talk.run(write("nothing of it")).error.code == "LEAK_BLOCKED"
    with ws.conversation(mode="watched") as another:
        assert another.call("memory_write", NOTE)["path"] == "people/lina.md"


def test_pieces_of_a_secret_add_up_over_a_call_and_a_run(ws):
    with ws.conversation(mode="watched") as talk:
        assert talk.run(write(SECRET[:8])).ok
        assert code_of(talk, content=SECRET[8:16]) == "LEAK_BLOCKED"


def test_what_came_in_from_outside_with_a_call_is_held_against_a_run(ws, person):
    person.answer = "always"
    with ws.conversation(mode="guarded", agent="bob") as talk:
        assert [c.ruling for c in talk.run(write("one") + ";" + write("two")).calls] == [
            "always",
            "grant",
        ]
        talk.call("fetch_page", {"address": "https://example.org"})
        assert talk.run(write("three")).calls[0].ruling == "always"
    assert person.questions[-1].outside == ("fetch_page",)


def test_a_no_in_a_run_sticks_for_the_calls_after_it_and_questions_are_counted_over_all(ws, person):
    with ws.conversation(mode="guarded", agent="bob") as talk:
        assert talk.run(write("c", "people/lina.md")).error.detail["reason"] == "declined"
        assert code_of(talk) == "GATE_DENIED"
        assert len(person.questions) == 1
        for each in range(9):
            assert code_of(talk, path=f"{each}.md") == "GATE_DENIED"
        assert talk.run(write("c", "10.md")).error.detail["reason"] == "unattended"
    assert len(person.questions) == 10


def test_all_of_it_is_one_run_to_the_journal_and_to_undo(ws):
    with ws.conversation(mode="watched") as talk:
        result = talk.run(write("one"))
        talk.call("memory_write", NOTE)
    rows = [
        json.loads(each) for each in (ws.path / ".nocturn/journal.jsonl").read_text().splitlines()
    ]
    assert {row["run"] for row in rows if "run" in row} == {talk.id, result.run} == {talk.id}
    ws.memory.undo(run=talk.id)
    assert list((ws.path / "memory").rglob("*.md")) == []


def test_its_own_tools_exist_in_it_alone_and_take_the_same_road(ws):
    assert ws.run("nocturn.call('send_mail', {to: 'lina'})").error.code == "UNKNOWN_TOOL"
    person = RecordingApprover()
    cage = {"send_mail", "memory_read"}
    with ws.conversation(
        mode="guarded", tools=["memory_read"], more=[send_mail], approver=person
    ) as talk:
        assert {each.name for each in talk.tools} == cage
        assert talk.run("nocturn.call('send_mail', {to: 'lina'})").value == "sent to lina"
        assert talk.call("send_mail", {"to": "bob"}) == "sent to bob"
        assert code_of(talk) == "UNKNOWN_TOOL"
    assert [each.effects[0].target for each in person.questions] == ["lina", "bob"]


def test_once_it_is_closed_nothing_begins(ws):
    talk = ws.conversation(mode="watched")
    talk.close()
    assert code_of(talk) == "CANCELLED"
    with pytest.raises(NocturnError) as refused:
        talk.run("1")
    assert refused.value.code == "CANCELLED"
    assert not ws.path.exists()


def test_one_without_a_name_is_known_by_what_it_is(nocturn_workspace):
    with nocturn_workspace() as ws:
        for nature in ("You are Ava.", "You are Bob.", "You are Ava."):
            with ws.conversation(mode="watched", nature=nature) as talk:
                talk.call("memory_write", {"path": "a.md", "summary": "s", "content": nature})
        lines, _ = ws.journal.last(9, lambda entry: entry["phase"] == "outcome")
    first, second, third = (each.entry["agent"] for each in lines)
    assert first == third != second

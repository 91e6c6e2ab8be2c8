"""A run that has taken in text from outside: the contract's section 6, through whole runs."""

import pytest

from nocturn import tool
from nocturn.testing import RecordingApprover

WRITE = "nocturn.memory.write('people/lina.md', 's', 'c');"
FETCH = "nocturn.call('fetch_page', {address: 'https://example.org'});"


@tool(axis="read", effects="ungated", outside=True)
def fetch_page(address: str) -> str:
    return f"the page at {address}"


@pytest.fixture
def person():
    return RecordingApprover("always")


@pytest.fixture
def ws(nocturn_workspace, person):
    return nocturn_workspace(approver=person, tools=[fetch_page])


def test_a_grant_no_longer_speaks_for_the_run_and_the_question_says_why(ws, person):
    source = WRITE + WRITE + FETCH + WRITE
    result = ws.run(source, mode="guarded", agent="bob")
    assert [call.ruling for call in result.calls] == ["always", "grant", "ungated", "always"]
    clean, doubtful = person.questions
    assert (clean.outside, clean.remarks) == ((), ())
    assert doubtful.outside == ("fetch_page",)
    assert [each.kind for each in doubtful.remarks] == ["outside"]


def test_the_next_run_is_above_doubt_again(ws, person):
    ws.run(FETCH + WRITE, mode="guarded", agent="bob")
    assert ws.run(WRITE, agent="bob").calls[0].ruling == "grant"
    assert len(person.questions) == 1


def test_strict_refuses_it_despite_a_grant(ws, person):
    ws.run(WRITE, mode="guarded", agent="bob")
    result = ws.run(FETCH + WRITE, agent="bob")
    assert (result.error.code, result.error.detail) == ("GATE_DENIED", {"reason": "unattended"})
    assert len(person.questions) == 1


def test_watched_runs_it_and_warns_the_person(ws, person, caplog):
    result = ws.run(FETCH + WRITE, mode="watched")
    assert result.ok
    assert result.calls[1].ruling == "allow"
    assert "fetch_page" in caplog.text
    assert person.questions == []


def test_the_guest_is_told_nothing_of_what_was_pointed_out(ws):
    result = ws.run(f"{FETCH} try {{ {WRITE} }} catch (e) {{ [e.message, e.detail] }}")
    assert "outside" not in result.to_json()
    assert "remark" not in result.to_json()

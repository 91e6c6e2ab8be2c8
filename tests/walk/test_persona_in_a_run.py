"""``nocturn.persona``: the persona's memory from a workspace's scripts, ruled on like notes."""

import pytest

from nocturn.testing import FixedSecrets, RecordingApprover

SECRET = "q7Xw2Lm9Zt4Kd8RvP3sN6bHc"


@pytest.fixture
def person():
    return RecordingApprover("always")


@pytest.fixture
def ws(nocturn_workspace, person):
    return nocturn_workspace(approver=person, secrets=[FixedSecrets(house=SECRET)])


def test_wrappers_and_the_call_do_the_same_and_are_shown_when_watched(ws, person):
    result = ws.run(
        """
        const {add, replace, remove} = nocturn.persona;
        add("Likes green tea"); add("Speaks Tamil", {target: "user"});
        replace("green tea", "oolong"); await add.async("Likes hiking");
        remove("- Likes hiking\\n", {target: "self"});
        nocturn.call("memory", {action: "replace", text: "i", with: "I", all: true});
        """,
        mode="watched",
    )
    assert result.value == "ok (replace → MEMORY.md); loads next session"
    persona = ws.path / "persona"
    assert (persona / "MEMORY.md").read_bytes() == b"- LIkes oolong\n"
    assert (persona / "USER.md").read_bytes() == b"- Speaks Tamil\n"
    assert sorted(each.name for each in persona.iterdir()) == ["MEMORY.md", "USER.md"]
    assert {each.ruling for each in result.calls} == {"allow"}
    assert result.calls[1].effects == ({"kind": "persona", "verb": "write", "target": "USER.md"},)
    assert person.questions == []


def test_guarded_asks_with_the_text_and_strict_runs_what_was_granted(ws, person):
    add = "nocturn.persona.add('Likes tea')"
    refused = ws.run(add, agent="ava")
    assert refused.error.detail["reason"] == "unattended"
    assert not ws.path.exists()
    assert ws.run(add, mode="guarded", agent="ava").calls[0].ruling == "always"
    (question,) = person.questions
    assert (question.preview.before, question.preview.after) == (None, "- Likes tea\n")
    assert ws.run(add, agent="ava").calls[0].ruling == "grant"
    assert ws.run(add, agent="eve").error.code == "GATE_DENIED"
    assert (ws.path / "persona/MEMORY.md").read_text() == "- Likes tea\n" * 2


def test_what_is_changed_while_a_person_decides_is_a_conflict(ws, person):
    file = ws.path / "persona/MEMORY.md"

    def answer(_):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("- by hand\n")
        return True

    person.answer = answer
    result = ws.run("nocturn.persona.add('Likes tea')", mode="guarded")
    assert result.error.code == "CONFLICT"
    assert file.read_text() == "- by hand\n"


def test_a_secret_neither_goes_in_nor_is_found_out(ws):
    (ws.path / "persona").mkdir(parents=True)
    file = ws.path / "persona/MEMORY.md"
    file.write_text(f"- the key is {SECRET}\n")
    for call, code in (
        (f"add('{SECRET}')", "LEAK_BLOCKED"),
        (f"replace('key', '{SECRET}')", "LEAK_BLOCKED"),
        (f"remove('{SECRET[:2]}')", "BAD_ARGUMENTS"),
        ("remove('zz')", "BAD_ARGUMENTS"),
    ):
        result = ws.run(f"nocturn.persona.{call}", mode="watched")
        assert result.error.code == code, call
    assert file.read_text() == f"- the key is {SECRET}\n"

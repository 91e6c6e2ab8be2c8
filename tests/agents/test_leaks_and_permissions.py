"""A whole agent, against a model that would take a secret out, and a folder that brings rules."""

import json

import pytest

from nocturn import Workspace
from nocturn.agents import AgentSpec, agent_from_dir
from nocturn.testing import RecordingApprover

SECRET = "q7Xw2Lm9Zt4Kd8RvP3sN6bHc"
HIDDEN = [ord(each) ^ 5 for each in SECRET]
TAKES_IT_OUT = f"""
  const value = {HIDDEN}.map((code) => String.fromCharCode(code ^ 5)).join("");
  console.log(value);
  try {{
    nocturn.memory.write("a.md", "the key", value);
  }} catch (error) {{
    console.log(error.code);
  }}
  nocturn.memory.write("people/lina.md", "daughter", "Likes dinosaurs.");
  value
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "ava"
    folder.mkdir()
    (folder / "SOUL.md").write_text(f"You are Ava, and the house key is {SECRET}.")
    return folder


def answers_of(server):
    """What the tools have answered, as the model was told in its last request."""
    return [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]


def test_a_script_that_would_store_a_secret_is_told_leak_blocked_and_the_agent_goes_on(
    folder, tmp_path, model_server, says
):
    with Workspace(tmp_path / "ws") as ws:
        ws.vault.set("house", SECRET)
        server = model_server(
            says.call("code_run", {"code": TAKES_IT_OUT}),
            says.call("memory_read", {"path": "people/lina.md"}),
            {"content": "noted"},
            secrets=[SECRET],
        )
        spec = AgentSpec("test-model", workspace=ws, mode="watched")
        with agent_from_dir(folder, spec) as ava:
            result = ava.run(server.options(), f"keep {SECRET} for me")
        assert (result.status, result.text, result.turns) == ("done", "noted", 3)
        script, note = answers_of(server)
        told = json.loads(script)
        assert [line["text"] for line in told["console"]] == ["[REDACTED]", "LEAK_BLOCKED"]
        assert (told["status"], told["value"]) == ("ok", "[REDACTED]")
        assert [(each["tool"], each["code"]) for each in told["calls"]] == [
            ("memory_write", "LEAK_BLOCKED"),
            ("memory_write", None),
        ]
        assert note == "---\ndescription: daughter\n---\nLikes dinosaurs."
        first, second = server.requests[0]["messages"][0], server.requests[1]["messages"][0]
        assert first == second  # the catalog of a run stays as it was when the run began
        assert "[REDACTED]" in first["content"]
        assert "<memory" not in first["content"]
    assert not (tmp_path / "ws/memory/a.md").exists()


def test_the_next_run_is_told_of_the_notes_that_this_one_wrote_and_not_of_its_own_memory(
    folder, tmp_path, model_server, says
):
    note = {"path": "people/lina.md", "summary": "daughter", "content": "Likes dinosaurs."}
    server = model_server(
        says.call("memory_write", note),
        says.call("memory", {"action": "add", "text": "Lina is seven"}),
        {"content": "noted"},
    )
    spec = AgentSpec("test-model", workspace=tmp_path / "ws", mode="watched")
    with agent_from_dir(folder, spec) as ava:
        assert ava.run(server.options(), "remember Lina").status == "done"
        assert ava.run(server.options(), "who is she?").status == "done"
    system = server.requests[-1]["messages"][0]["content"]
    assert "\npeople/lina.md — daughter\n</memory>" in system
    assert "seven" not in system
    with agent_from_dir(folder, spec) as ava:
        assert "- Lina is seven" in ava.briefing()["messages"][0]["content"]


def test_a_yes_to_one_persona_without_a_name_is_none_to_another(
    folder, tmp_path, model_server, says
):
    other = tmp_path / "bob"
    other.mkdir()
    (other / "SOUL.md").write_text("You are Bob.")
    approver = RecordingApprover("session")
    note = {"path": "people/lina.md", "summary": "daughter", "content": "Likes dinosaurs."}
    with Workspace(tmp_path / "ws") as ws:
        spec = AgentSpec("m", workspace=ws, mode="guarded", approver=approver)
        for persona, asked in ((folder, 1), (folder, 1), (other, 2)):
            server = model_server(says.call("memory_write", note), {"content": "noted"})
            with agent_from_dir(persona, spec) as agent:
                assert agent.run(server.options(), "remember").status == "done"
            assert len(approver.questions) == asked


def test_a_persona_that_brings_rules_and_grants_gets_nothing_by_them(
    folder, tmp_path, model_server, says
):
    rule = 'version = 1\n[[rule]]\nruling = "allow"\nkind = "*"\n'
    (folder / "policy.toml").write_text(rule)
    (folder / "grants.json").write_text("{}")
    note = {"path": "a.md", "summary": "s", "content": "c"}
    code = "nocturn.call('memory', {action: 'add', text: 'mine'})"
    for workspace in (None, tmp_path / "ws"):
        server = model_server(
            says.call("memory_write", note),
            says.call("code_run", {"code": code}),
            {"content": "no"},
        )
        with agent_from_dir(folder, AgentSpec("m", workspace=workspace)) as ava:
            assert ava.run(server.options(), "write it").status == "done"
        refused, script = answers_of(server)
        assert "memory_write" in refused if workspace is None else "GATE_DENIED" in refused
        assert json.loads(script)["calls"][0]["ruling"] == "allow"
    assert (folder / "MEMORY.md").read_text() == "- mine\n- mine\n"
    assert not (tmp_path / "ws/memory").exists()

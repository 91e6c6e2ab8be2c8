"""The first seed's third example, one to one: a write is on disk, and the session stays frozen."""

import pytest

from nocturn.agents import AgentSpec, RuntimeOptions, agent_from_dir


@pytest.mark.parametrize("stream", [False, True])
def test_a_write_lands_on_disk_within_the_turn_and_the_live_session_stays_frozen(
    tmp_path, model_server, stream, says
):
    (tmp_path / "SOUL.md").write_text("You are Ava.")
    (tmp_path / "MEMORY.md").write_text("- Onboarded 2026-07.")

    def llm(request):
        if any(each["role"] == "tool" for each in request["messages"]):
            return {"content": "noted"}
        return says.call("memory", {"action": "add", "text": "Prefers dark roast"})

    server = model_server(llm)
    options = RuntimeOptions(base_url=server.url, api_key=says.KEY, stream=stream)
    ava = agent_from_dir(tmp_path, AgentSpec(model="test-model"))
    result = ava.run(options, "remember my coffee preference")
    assert (result.status, result.text) == ("done", "noted")
    kept = (tmp_path / "MEMORY.md").read_text()
    assert kept == "- Onboarded 2026-07.\n- Prefers dark roast\n"
    outcome = server.requests[1]["messages"][-1]
    assert outcome["content"] == "ok (add → MEMORY.md); loads next session"
    ava.run(options, "and now?")
    ava.close()
    with agent_from_dir(tmp_path, AgentSpec(model="test-model")) as later:
        later.run(options, "and later?")
    souls = [each["messages"][0]["content"] for each in server.requests]
    assert ["dark roast" in soul for soul in souls] == [False] * 4 + [True] * 2

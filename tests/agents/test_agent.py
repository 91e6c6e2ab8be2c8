import asyncio
import json
import signal
import sys
import threading

import pytest

from nocturn import ConfigurationError, RunInterrupted, tool
from nocturn.agents.agent import agent_from_dir
from nocturn.agents.events import Asked, CallBegan, CallEnded, Done, Retrying, TextDelta
from nocturn.agents.result import TaskResult
from nocturn.agents.spec import AgentSpec, RuntimeOptions, vault
from nocturn.agents.tool import ToolResult
from nocturn.testing import FixedSecrets

SECRET = "hZ4-vLk29pXqRw7TtB0yN3sE"


@pytest.fixture
def ava(tmp_path):
    """Makes agents over one persona's folder."""
    folder = tmp_path / "ava"
    folder.mkdir()
    (folder / "SOUL.md").write_text("You are Ava.")
    made = []

    def make(**spec):
        made.append(agent_from_dir(folder, AgentSpec("test-model", **{"memory": False, **spec})))
        return made[-1]

    make.folder = folder
    yield make
    for each in made:
        each.close()


@tool(axis="read", effects="ungated")
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def mail(sent):
    @tool(axis="write", effects=[("mail", "send", "to")], name="send_mail")
    def send(to: str) -> str:
        """Sends a mail."""
        sent.append(to)
        return "sent"

    return send


class Waits:
    """A host's tool that is in its call until it is let go."""

    name, description, parameters = "wait", "Waits.", {"type": "object"}

    def __init__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()

    def execute(self, *_):
        self.begun.set()
        assert self.go_on.wait(30)
        return ToolResult("waited")


def told(request):
    return {
        each["tool_call_id"]: each["content"]
        for each in request["messages"][2:]
        if each["role"] == "tool"
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_is_asked_calls_a_tool_and_is_told(ava, model_server, says, stream):
    server = model_server(says.call("add", {"a": 1, "b": 2}), {"content": "It is 3, dear."})
    events = []
    agent = ava(tools=[add])
    result = agent.run(server.options(stream=stream, on_event=events.append), "1 + 2?")
    assert (result.status, result.text, result.turns, result.error) == (
        "done",
        "It is 3, dear.",
        2,
        "",
    )
    assert [(each.tool, each.is_error) for each in result.calls] == [("add", False)]
    assert result.usage.requests == 2
    assert result.usage.input_tokens == (14 if stream else 0)
    first, second = server.requests
    assert first["model"] == "test-model"
    assert first["messages"] == [
        {"role": "system", "content": "## SOUL.md\n\nYou are Ava."},
        {"role": "user", "content": "1 + 2?"},
    ]
    assert {each["function"]["name"] for each in first["tools"]} == {"add", "code_run"}
    assert told(second) == {"c1": "3"}
    assert [type(e) for e in events if type(e) is not TextDelta] == [CallBegan, CallEnded, Done]
    assert (events[0].arguments, events[1].output) == ({"a": 1, "b": 2}, "3")
    said = "".join(each.text for each in events if type(each) is TextDelta)
    assert said == ("It is 3, dear." if stream else "")
    assert events[-1].result == result
    json.dumps(result.to_dict())


def test_a_conversation_goes_on_only_after_its_result_and_the_soul_stays(ava, model_server):
    server = model_server({"content": "hello"})
    agent = ava()
    first = agent.run(server.options(), "one")
    (ava.folder / "SOUL.md").write_text("You are Bob.")
    agent.run(server.options(), "two", after=first)
    agent.run(server.options(), "alone")
    ava().run(server.options(), "new")
    said = [[each["content"] for each in request["messages"][1:]] for request in server.requests]
    assert said == [["one"], ["one", "hello", "two"], ["alone"], ["new"]]
    souls = [request["messages"][0]["content"] for request in server.requests]
    assert [soul[-4:-1] for soul in souls] == ["Ava", "Ava", "Ava", "Bob"]


def test_calls_of_a_turn_run_side_by_side_and_are_told_in_their_order(ava, model_server, says):
    here, there = Waits(), Waits()
    there.name = "wait_too"
    here.execute = lambda *_: (there.begun.wait(30), ToolResult("first"))[1]
    threading.Thread(target=lambda: (there.begun.wait(30), there.go_on.set()), daemon=True).start()
    both = [says.call(name, {}, f"c{name}")["tool_calls"][0] for name in ("wait", "wait_too")]
    server = model_server({"tool_calls": both}, {"content": "done"})
    result = ava(tools=[here, there]).run(server.options(), "go")
    assert [each["content"] for each in server.requests[1]["messages"][-2:]] == ["first", "waited"]
    assert result.status == "done"


def test_what_is_secret_is_in_no_message_result_event_repr_or_log(ava, model_server, says, caplog):
    class Tells:
        name, description, parameters = "tell", "Tells.", {"type": "object"}

        def execute(self, *_):
            return ToolResult(f"it is {SECRET} {'x' * 262_130}{SECRET} {says.KEY}")

    (ava.folder / "SOUL.md").write_text(f"You are Ava. {SECRET} {says.KEY}")
    calls = [
        says.call("tell", {}),
        says.call("nothing" + SECRET, {"x": SECRET, says.KEY: 1}, SECRET),
    ]
    server = model_server(*calls, {"content": f"{SECRET} {says.KEY}"}, secrets=[SECRET])
    events = []
    agent = ava(tools=[Tells()], secrets=[FixedSecrets(ours=SECRET)])
    options = server.options(stream=True, on_event=events.append)
    result = agent.run(options, f"remember {SECRET} and {says.KEY}")
    assert result.status == "done"
    broken = model_server(says.raw({"error": {"message": f"bad key {says.KEY}"}}, 401))
    refused = agent.run(broken.options(on_event=events.append), "hello")
    assert (refused.status, "401" in refused.error) == ("error", True)
    everything = repr([result, refused, events, options, agent]) + caplog.text
    everything += "".join(each.text for each in events if type(each) is TextDelta)
    assert SECRET not in everything
    assert says.KEY not in everything


@pytest.mark.parametrize(
    "value",
    [
        "correct horse staple zebra 9 quartz vixen",
        "pässwörd-Ünïcödé-ßtrörig-Zäñ9",
        "MIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAoIBAQ",
    ],
)
def test_a_secret_of_many_words_does_not_come_whole_out_of_a_stream(ava, model_server, value):
    events = []
    server = model_server({"content": f"The value is {value}, dear. " + "And so on. " * 400})
    agent = ava(secrets=[FixedSecrets(ours=value)])
    result = agent.run(server.options(stream=True, on_event=events.append), "what is it?")
    said = "".join(each.text for each in events if type(each) is TextDelta)
    assert value not in said
    assert value[-8:] not in said
    assert said.endswith("dear. " + "And so on. " * 400)
    assert result.text.startswith("The value is [REDACTED], dear.")


def test_a_weak_key_is_taken_out_of_errors_and_not_out_of_what_the_model_says(
    ava, model_server, says
):
    events = []
    server = model_server({"content": "Example: none."})
    server.secrets.clear()
    options = server.options(stream=True, api_key="x", on_event=events.append)
    assert ava().run(options, "hello").text == "Example: none."
    assert "".join(each.text for each in events if type(each) is TextDelta) == "Example: none."
    server.faults.clear()  # it has another key
    broken = model_server(says.raw({"error": {"message": "bad key none"}}, 500))
    failed = ava().run(broken.options(api_key="none", retries=1, on_event=events.append), "hello")
    broken.faults.clear()
    assert "none" not in failed.error
    assert "none" not in next(each.why for each in events if type(each) is Retrying)


def test_sources_that_can_be_read_once_guard_each_agent_that_is_made_with_them(model_server, ava):
    server = model_server({"content": "hello"}, secrets=[SECRET])
    spec = AgentSpec("m", memory=False, secrets=iter([FixedSecrets(ours=SECRET)]))
    for _ in range(2):
        with agent_from_dir(ava.folder, spec) as agent:
            assert agent.run(server.options(), f"keep {SECRET}").status == "done"


def test_what_was_given_in_place_of_sources_is_in_no_repr_nor_error(ava):
    spec = AgentSpec("m", secrets=[SECRET])
    with pytest.raises(ConfigurationError) as caught:
        agent_from_dir(ava.folder, spec)
    assert SECRET not in repr(spec) + str(caught.value)


def test_ids_that_are_struck_out_stay_different(ava, model_server):
    calls = [{"id": each, "function": {"name": "add"}} for each in (SECRET, "call_0")]
    server = model_server({"tool_calls": calls}, {"content": "done"}, secrets=[SECRET])
    agent = ava(tools=[add], secrets=[FixedSecrets(ours=SECRET)])
    assert agent.run(server.options(), "go").status == "done"
    assert len(told(server.requests[1])) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "garbage://user:hunter2@x"),
        ("HTTP_PROXY", "socks5://user:hunter2@127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nonexistent/hunter2"),
        ("OPENAI_BASE_URL", "http://user:hunter2@[::1"),
        ("OPENAI_ORG_ID", "hünter2"),
    ],
)
def test_an_environment_that_is_not_usable_is_an_error_with_a_sentence(
    ava, model_server, monkeypatch, caplog, name, value
):
    monkeypatch.setenv(name, value)
    server = model_server({"content": "hello"})
    url = None if name == "OPENAI_BASE_URL" else server.url
    result = ava().run(server.options(base_url=url), "hello")
    assert (result.status, server.requests) == ("error", [])
    assert "environment" in result.error
    assert "nter2" not in result.error
    assert caplog.text == ""


def test_a_key_comes_from_the_environment_or_the_vault(
    ava, model_server, says, monkeypatch, tmp_path
):
    server = model_server({"content": "hello"})
    for agent in (ava(), ava(workspace=tmp_path / "notes")):
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            agent.run(server.options(api_key=None), "hello")
        with pytest.raises(ConfigurationError, match="vault"):
            agent.run(server.options(api_key=vault("openai")), "hello")
    monkeypatch.setenv("OPENAI_API_KEY", says.KEY)
    assert ava().run(server.options(api_key=None), "hello").status == "done"
    monkeypatch.delenv("OPENAI_API_KEY")
    from nocturn import Workspace

    with Workspace(tmp_path / "notes") as ws:
        ws.vault.set("openai", says.KEY)
    agent = ava(workspace=tmp_path / "notes")
    result = agent.run(server.options(api_key=vault("openai")), f"my key is {says.KEY}")
    assert result.status == "done"
    assert server.requests[-1]["messages"][-1]["content"] == "my key is [REDACTED]"


def test_a_busy_server_is_asked_again_and_a_refusal_is_not(ava, model_server, says):
    events = []
    busy = [
        says.raw({}, 429, Retry_After="0"),
        says.raw(b"<html>", 503),
        says.raw(lambda h, _: h.connection.shutdown(2)),
    ]
    server = model_server(*busy, {"content": "at last"})
    agent = ava()
    result = agent.run(server.options(on_event=events.append), "hello")
    assert (result.status, result.text, result.usage.requests) == ("done", "at last", 4)
    assert [each.attempt for each in events if type(each) is Retrying] == [2, 3, 4]
    for status, requests in ((400, 1), (404, 1), (302, 1), (500, 4)):
        server = model_server(
            says.raw({"error": {"message": "no\x1b[2J"}}, status, Location="/else")
        )
        result = agent.run(server.options(), "hello")
        assert (result.status, len(server.requests)) == ("error", requests)
        assert str(status) in result.error
        assert "\x1b" not in result.error
    server = model_server(says.raw({}, 429, Retry_After="3600"))
    result = agent.run(server.options(deadline_seconds=60), "hello")
    assert (result.status, len(server.requests)) == ("error", 1)


def test_nobody_there_is_an_error(ava, model_server):
    server = model_server({"content": "hello"})
    server.close()
    result = ava().run(server.options(retries=1), "hello")
    assert (result.status, result.turns, result.usage.requests) == ("error", 0, 2)


def test_a_tool_that_hangs_ends_with_the_deadline_and_what_was_done_is_told(
    ava, model_server, says
):
    hangs = Waits()
    both = [says.call("add", {"a": 1, "b": 2}, "a"), says.call("wait", {}, "b")]
    server = model_server(
        {"content": "loaded"},
        {"tool_calls": [each["tool_calls"][0] for each in both]},
        {"content": "ok"},
    )
    agent = ava(tools=[add, hangs])
    agent.run(server.options(), "what a first run loads is not to count")
    result = agent.run(server.options(deadline_seconds=1), "go")
    assert result.status == "timeout"
    assert [(each.tool, each.is_error) for each in result.calls] == [("add", False), ("wait", True)]
    assert agent.run(server.options(), "on", after=result).status == "done"
    assert told(server.requests[-1])["a"] == "3"
    hangs.go_on.set()


@pytest.mark.parametrize("where", ["model", "tool"])
def test_cancelling_from_another_thread_interrupts(ava, model_server, says, where):
    hangs = Waits()

    def stall(_, server):
        hangs.begun.set()
        server.release.wait(30)

    server = model_server(says.raw(stall) if where == "model" else says.call("wait", {}))
    agent = ava(tools=[hangs])
    threading.Thread(target=lambda: (hangs.begun.wait(30), agent.cancel()), daemon=True).start()
    assert agent.run(server.options(), "go").status == "interrupted"
    hangs.go_on.set()


@pytest.mark.skipif(sys.platform == "win32", reason="a thread gets no signal there")
def test_ctrl_c_that_comes_in_the_moment_before_a_wait_interrupts(ava, model_server, says):
    hangs = Waits()

    class Interrupts(Waits):
        def execute(self, *_):  # in another thread, so that it wakes nobody who waits
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            return hangs.execute()

    server = model_server(says.call("wait", {}))
    with pytest.raises(RunInterrupted) as stop:
        ava(tools=[Interrupts()]).run(server.options(deadline_seconds=20), "go")
    assert stop.value.result.status == "interrupted"
    hangs.go_on.set()


def test_it_runs_in_an_event_loop_and_ends_with_its_task(ava, model_server, says):
    hangs = Waits()
    server = model_server({"content": "hello"}, says.call("wait", {}))
    agent = ava(tools=[hangs])

    async def both():
        first = await agent.run_async(server.options(), "go")
        second = asyncio.ensure_future(agent.run_async(server.options(), "go"))
        await asyncio.to_thread(hangs.begun.wait, 30)
        with pytest.raises(ConfigurationError, match="at work"):
            await agent.run_async(server.options(), "me too")
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        return first

    assert asyncio.run(both()).text == "hello"
    hangs.go_on.set()


def test_a_task_that_is_cancelled_while_its_run_begins_ends_the_run(
    ava, model_server, says, monkeypatch
):
    hangs, here, go_on = Waits(), threading.Event(), threading.Event()
    server = model_server(says.call("wait", {}))
    agent = ava(tools=[hangs])
    begun = agent._begun

    def slow(*given):
        here.set()
        assert go_on.wait(30)
        return begun(*given)

    monkeypatch.setattr(agent, "_begun", slow)

    async def cancelled():
        options = server.options(deadline_seconds=20)
        first = asyncio.ensure_future(agent.run_async(options, "go"))
        await asyncio.to_thread(here.wait, 30)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go_on.set()

    asyncio.run(cancelled())
    assert agent._task.wait().status == "interrupted"
    hangs.go_on.set()


def test_an_open_question_is_pending_until_it_is_answered(ava, model_server, says):
    sent, events = [], []
    calls = [says.call("send_mail", {"to": to}, to)["tool_calls"][0] for to in ("lina", "bo", "cy")]
    server = model_server({"tool_calls": calls}, {"content": "sent"})
    agent = ava(tools=[mail(sent)], mode="guarded")
    result = agent.run(server.options(on_event=events.append), "mail them")
    asked = {}
    for answer in ("once", "no", "once"):
        assert result.status == "pending"
        assert [each["role"] for each in result.messages] == ["user"]
        assert Asked(result.question) in events
        to = result.question.effects[0].target
        assert to not in asked
        assert {*sent} <= {one for one, yes in asked.items() if yes == "once"}
        asked[to] = answer
        result = agent.resume(answer)
    assert (result.status, len(server.requests)) == ("done", 2)
    answers = told(server.requests[1])
    for to, answer in asked.items():
        assert answers[to].startswith("sent" if answer == "once" else "GATE_DENIED")
    with pytest.raises(ConfigurationError, match="no question"):
        agent.resume("once")


def test_cancelling_an_open_question_is_a_no_and_an_approver_is_asked_in_its_place(
    ava, model_server, says
):
    sent = []
    server = model_server(says.call("send_mail", {"to": "lina"}))
    agent = ava(tools=[mail(sent)], mode="guarded")
    assert agent.run(server.options(), "mail").status == "pending"
    agent.cancel()
    stopped = agent._task.wait()
    assert (stopped.status, stopped.question) == ("interrupted", None)
    for mode, approver, outcome in (
        ("guarded", lambda _: "no", "declined"),
        ("strict", lambda _: True, "unattended"),
        ("watched", lambda _: True, None),
    ):
        server = model_server(says.call("send_mail", {"to": "lina"}), {"content": "well"})
        agent = ava(tools=[mail(sent)], mode=mode, approver=approver)
        assert agent.run(server.options(), "mail").status == "done"
        assert sent == ([] if outcome else ["lina"])


def test_what_looks_on_changes_nothing_when_it_breaks(ava, model_server, says, caplog):
    server = model_server(says.call("add", {"a": 1, "b": 2}), {"content": "3"})
    result = ava(tools=[add]).run(server.options(on_event=lambda _: 1 / 0), "1 + 2?")
    assert result.status == "done"
    assert "ZeroDivisionError" in caplog.text

    def leaves(_):
        raise SystemExit(3)

    server = model_server(says.call("add", {"a": 1, "b": 2}), {"content": "3"})
    result = ava(tools=[add]).run(server.options(on_event=leaves, deadline_seconds=20), "1 + 2?")
    assert (result.status, result.calls[0].is_error) == ("done", False)


def test_a_yes_for_always_is_not_on_offer_where_it_cannot_be_kept(ava, model_server, says):
    server = model_server(says.call("send_mail", {"to": "lina"}))
    result = ava(tools=[mail([])], mode="guarded", name="ava").run(server.options(), "mail")
    assert {each.value for each in result.question.options} <= {"once", "session", "widen"}


def test_a_conversation_from_elsewhere_is_redacted_and_one_that_is_none_is_refused(
    ava, model_server, says
):
    server = model_server({"content": "hello"})
    parts = {"role": "user", "content": [{"type": "text", "text": f"the key {says.KEY}"}]}
    after = TaskResult("done", messages=(parts,))
    assert ava().run(server.options(), "hello", after=after).status == "done"
    assert server.requests[0]["messages"][1]["content"][0]["text"] == "the key [REDACTED]"
    server.faults.clear()  # which takes texts alone
    for wrong in ("hello", {}, 7):
        with pytest.raises(ConfigurationError, match="after"):
            ava().run(server.options(), "hello", after=wrong)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "ftp://x"),
        ("base_url", "http://user:secret@x"),
        ("base_url", 7),
        ("api_key", "sk-secret\n"),
        ("api_key", ""),
        ("api_key", b"secret"),
        ("max_turns", 0),
        ("max_turns", True),
        ("deadline_seconds", float("nan")),
        ("deadline_seconds", 0),
        ("retries", -1),
        ("stream", 1),
        ("on_event", "print"),
    ],
)
def test_an_option_that_is_wrong_is_named_and_not_told(field, value):
    with pytest.raises(ConfigurationError, match=field) as caught:
        RuntimeOptions(**{field: value})
    assert "secret" not in str(caught.value)


def test_a_spec_a_folder_or_a_prompt_that_is_wrong_is_refused(ava, model_server, tmp_path):
    for spec in ({"model": ""}, {"model": "m", "mode": "free"}, {"model": "m", "tools": 7}):
        with pytest.raises(ConfigurationError):
            AgentSpec(**spec)
    with pytest.raises(ConfigurationError):
        agent_from_dir(tmp_path / "nowhere", AgentSpec("m"))
    with pytest.raises(ConfigurationError):
        ava(tools=[add, add])
    agent = ava()
    for options, prompt in ((model_server({}).options(), " "), ({}, "hello")):
        with pytest.raises(ConfigurationError):
            agent.run(options, prompt)
    agent.close()
    with pytest.raises(ConfigurationError, match="closed"):
        agent.run(model_server({}).options(), "hello")

"""What a library user sees first: workspaces, runs, tools of one's own, notes from Python."""

import asyncio
import gc
import os
import threading
import weakref
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict

import nocturn
from nocturn import (
    ConfigurationError,
    EnvironmentSecrets,
    Limits,
    NocturnError,
    RunFailed,
    Workspace,
    tool,
)
from nocturn.testing import FixedSecrets, RecordingApprover
from nocturn.tools import BUILT_IN


def test_the_first_example_works(tmp_path):
    source = "nocturn.memory.write('people/lina.md', 'daughter, 7 years old', 'Likes dinosaurs.')"
    with Workspace(tmp_path / "notes") as ws:
        result = ws.run(source, filename="remember.js", mode="watched")
        result.raise_for_error()
        assert ws.memory.catalog() == "people/lina.md — daughter, 7 years old"


def test_everything_that_is_exported_is_there():
    for name in nocturn.__all__:
        assert getattr(nocturn, name) is not None
    with pytest.raises(AttributeError):
        _ = nocturn.no_such_name


def test_making_a_workspace_and_reading_create_nothing(tmp_path):
    with Workspace(tmp_path / "notes") as ws:
        assert ws.memory.list() == {"notes": [], "cursor": None}
        assert ws.memory.catalog() == ""
        assert "memory_write" in ws.tools.names()
        assert ws.run("nocturn.now().epochMs > 0").value is True
    assert not (tmp_path / "notes").exists()


# ---- tools of one's own ------------------------------------------------------------------------


def test_a_typed_function_is_a_tool(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def weather(
        city: Annotated[str, "a city's name"], unit: Literal["C", "F"] = "C", days: int = 1
    ) -> dict[str, object]:
        """The weather of a city."""
        return {"city": city, "unit": unit, "days": days}

    ws = nocturn_workspace(tools=[weather])
    made = ws.tools.get("weather")
    assert made.description == "The weather of a city."
    schema = made.schema()
    assert schema["properties"]["city"]["description"] == "a city's name"
    assert schema["required"] == ["city"]
    assert schema["additionalProperties"] is False
    call = "nocturn.call('weather', {args})".replace("{args}", "%s")
    assert ws.run(call % "{city: 'Rome'}").value == {"city": "Rome", "unit": "C", "days": 1}
    assert ws.run(call % "{city: 'Rome', unit: 'F'}").value["unit"] == "F"
    for arguments in ("{}", "{city: 1}", "{city: 'x', unit: 'K'}", "{city: 'x', days: '2'}"):
        assert ws.run(call % arguments).error.code == "BAD_ARGUMENTS"


def test_an_async_function_is_a_tool_from_a_guest_from_python_and_inside_a_loop(
    nocturn_workspace,
):
    @tool(axis="read", effects="ungated")
    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text + "!"

    ws = nocturn_workspace(tools=[later])

    async def inside():
        return ws.call("later", {"text": "c"}), await ws.run_async(
            "nocturn.call('later', {text: 'd'})"
        )

    assert ws.run("nocturn.call('later', {text: 'a'})").value == "a!"
    assert ws.call("later", {"text": "b"}) == "b!"
    called, ran = asyncio.run(inside())
    assert (called, ran.value) == ("c!", "d!")


class Place(BaseModel):
    model_config = ConfigDict(extra="allow")  # the road is strict whatever the model says

    x: int
    y: int = 0


def test_a_pydantic_model_and_a_function_are_a_tool(nocturn_workspace):
    @tool(axis="read", effects="ungated", arguments=Place, name="place-it")
    def place(x: int, y: int) -> list[int]:
        return [x, y]

    ws = nocturn_workspace(tools=[place])
    assert ws.run("nocturn.call('place-it', {x: 1})").value == [1, 0]
    assert ws.run("nocturn.call('place-it', {x: 1, y: 2})").value == [1, 2]
    for arguments in ("{x: '1'}", "{x: 1, z: 3}", "{y: 1}", "{x: 1.5}"):
        error = ws.run(f"nocturn.call('place-it', {arguments})").error
        assert error.code == "BAD_ARGUMENTS", arguments


def test_a_tool_that_writes_gets_a_clearance_for_exactly_its_call(nocturn_workspace):
    got = []

    @tool(axis="write", effects=[("mail", "send", "to"), ("mail", "log", lambda a: a["to"] + "!")])
    def send_mail(to: str, text: str, *, clearance: object) -> str:
        got.append((to, text, clearance))
        return "sent"

    person = RecordingApprover()
    ws = nocturn_workspace(tools=[send_mail], approver=person)
    result = ws.run("nocturn.call('send_mail', {to: 'lina', text: 'hi'})", mode="watched")
    assert result.value == "sent"
    ((to, text, clearance),) = got
    assert (to, text) == ("lina", "hi")
    assert [(e.verb, e.target) for e in clearance.effects] == [("send", "lina"), ("log", "lina!")]
    assert clearance.asked
    # What the person was shown is the whole of the arguments.
    assert '"text": "hi"' in person.questions[0].preview.after
    error = ws.run("nocturn.call('send_mail', {to: 'a', text: 'b', clearance: 1})").error
    assert error.code == "BAD_ARGUMENTS"


def test_a_tool_that_is_refused_does_not_run(nocturn_workspace):
    ran = []

    @tool(axis="write", effects=[("mail", "send", "to")])
    def send_mail(to: str) -> None:
        ran.append(to)

    person = RecordingApprover(answer=False)
    ws = nocturn_workspace(tools=[send_mail], approver=person)
    result = ws.run("nocturn.call('send_mail', {to: 'lina'})", mode="watched")
    assert result.error.code == "GATE_DENIED"
    assert [q.effects[0].target for q in person.questions] == ["lina"]
    assert ran == []


def test_a_duplicate_name_raises(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def memory_read(path: str) -> str:
        return path

    @tool(axis="read", effects="ungated", name="mine")
    def one() -> None: ...

    @tool(axis="read", effects="ungated", name="mine")
    def two() -> None: ...

    for tools in ([memory_read], [one, two], [one, one]):
        with pytest.raises(ConfigurationError):
            nocturn_workspace(tools=tools)


def test_what_is_no_tool_is_refused(nocturn_workspace):
    with pytest.raises(ConfigurationError):
        nocturn_workspace(tools=[print])


def test_a_cage_is_a_set_of_names(nocturn_workspace):
    ws = nocturn_workspace()
    assert ws.run("nocturn.now().timezone.length > 0", tools=("time_now",)).value is True
    assert ws.run("nocturn.memory.list()", tools={"time_now"}).error.code == "UNKNOWN_TOOL"
    with pytest.raises(ConfigurationError):
        ws.run("1", tools=["time_now", "no_such_tool"])


def test_what_a_tool_returns_is_redacted(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def tell() -> dict[str, object]:
        return {"a": ["it is hunter2-hunter2"], "hunter2-hunter2": 1}

    ws = nocturn_workspace(tools=[tell], secrets=[FixedSecrets(pw="hunter2-hunter2")])
    wanted = {"a": ["it is [REDACTED]"], "[REDACTED]": 1}
    assert ws.run("nocturn.call('tell')").value == wanted
    assert ws.call("tell", {}) == wanted


# ---- runs --------------------------------------------------------------------------------------


def test_calls_and_lines_are_told_as_they_come(ws):
    told = []
    result = ws.run(
        "console.log('one'); nocturn.now(); console.warn('two');try { nocturn.call('x') } catch {}",
        on_call=lambda call: told.append((call.tool, call.code)),
        on_console=lambda line: told.append((line.level, line.text)),
    )
    assert told == [("log", "one"), ("time_now", None), ("warn", "two"), ("x", "UNKNOWN_TOOL")]
    assert [call.tool for call in result.calls] == ["time_now", "x"]


def test_a_listener_that_breaks_is_the_callers_own_error_and_the_next_run_works(ws):
    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ws.run("console.log('x')", on_console=broken)
    assert ws.run("1").value == 1


def test_run_async_takes_what_run_takes(ws):
    async def both():
        return await asyncio.gather(
            ws.run_async("nocturn.args", args=["a"], filename="x.js"),
            ws.run_async("throw 1"),
        )

    one, two = asyncio.run(both())
    assert one.value == ["a"]
    assert two.status == "guest_error"
    with pytest.raises((TypeError, ConfigurationError)):
        asyncio.run(ws.run_async("1", no_such_option=1))


def test_the_event_loop_goes_on_while_a_script_runs(nocturn_workspace):
    turned = threading.Event()

    @tool(axis="read", effects="ungated")
    def wait_for_the_loop() -> bool:
        return turned.wait(10)

    ws = nocturn_workspace(tools=[wait_for_the_loop])

    async def main():
        run = asyncio.create_task(ws.run_async("nocturn.call('wait_for_the_loop')"))
        await asyncio.sleep(0)
        turned.set()
        return (await run).value

    assert asyncio.run(main()) is True


def test_cancelling_the_task_ends_the_run(nocturn_workspace):
    ws = nocturn_workspace(limits=Limits(wall_seconds=60, cpu_seconds=60))

    async def main():
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(
            ws.run_async(
                "console.log('begun'); for (;;);",
                on_console=lambda _: loop.call_soon_threadsafe(begun.set),
            )
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ws.run("1").value == 1


def test_a_workspaces_limits_are_the_default_of_its_runs(nocturn_workspace):
    ws = nocturn_workspace(limits=Limits(value_bytes=10))
    assert ws.run("'x'.repeat(20)").status == "output_limit"
    assert ws.run("'x'.repeat(20)", limits=Limits()).ok


def test_raise_for_error_carries_the_code(ws):
    with pytest.raises(RunFailed) as failed:
        ws.run("nocturn.memory.read('no.md')").raise_for_error()
    assert failed.value.code == "NOT_FOUND"
    assert failed.value.result.calls[0].code == "NOT_FOUND"


# ---- secrets -----------------------------------------------------------------------------------


def test_secrets_come_from_the_environment(nocturn_workspace, monkeypatch):
    monkeypatch.setenv("HOUSE_KEY", "a-key-to-the-house")
    ws = nocturn_workspace(secrets=[EnvironmentSecrets("HOUSE_KEY")])
    source = "nocturn.memory.write('a.md', 's', 'a-key-to-the-house')"
    assert ws.run(source, mode="watched").error.code == "LEAK_BLOCKED"
    monkeypatch.delenv("HOUSE_KEY")
    with pytest.raises(ConfigurationError):
        EnvironmentSecrets("HOUSE_KEY")


class Unreadable:
    def secrets(self):
        raise ConfigurationError("the vault is locked")


def test_where_secrets_cannot_be_read_nothing_runs(nocturn_workspace):
    ws = nocturn_workspace(secrets=[Unreadable()])
    for call in (
        lambda: ws.run("1"),
        lambda: ws.memory.write("a.md", "s", "c"),
        lambda: ws.memory.read("a.md"),
        lambda: ws.call("time_now", {}),
    ):
        with pytest.raises(ConfigurationError):
            call()
    assert not ws.path.exists()


# ---- workspaces that are not usable ------------------------------------------------------------


def test_an_approver_that_breaks_is_in_the_log_without_its_secrets(nocturn_workspace, caplog):
    def broken(_question):
        raise ValueError("no key " + "hunter2hunter2")

    ws = nocturn_workspace(approver=broken, secrets=[FixedSecrets(key="hunter2hunter2")])
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("a.md", "s", "c", mode="guarded")
    assert refused.value.code == "INTERNAL"
    assert "ValueError: no key [REDACTED]" in caplog.text


@pytest.mark.parametrize(
    "options",
    [
        {"approver": "yes"},
        {"secrets": "hunter2hunter2"},
        {"secrets": ["hunter2hunter2"]},
        {"secrets": FixedSecrets(key="hunter2hunter2")},
        {"limits": {"wall_seconds": 1}},
        {"path": ""},
        {"path": "a\0b"},
    ],
    ids=["approver", "value", "values", "source", "limits", "no path", "nul"],
)
def test_what_a_workspace_cannot_use_is_said_at_once_and_not_echoed(tmp_path, options):
    with pytest.raises(ConfigurationError) as refused:
        Workspace(**{"path": tmp_path, **options})
    assert "hunter2hunter2" not in str(refused.value)


def test_a_folder_that_is_gone_is_no_place_for_a_relative_workspace(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(ConfigurationError):
        Workspace("notes")
    assert Workspace(tmp_path / "notes").path == tmp_path / "notes"


def test_a_path_given_as_bytes_is_a_path(tmp_path):
    with Workspace(os.fsencode(tmp_path / "notes")) as ws:
        assert ws.path == tmp_path / "notes"


def test_a_script_is_text_and_its_name_may_be_a_path(ws, tmp_path):
    for source in (tmp_path / "s.js", None, 5):
        with pytest.raises(ConfigurationError):
            ws.run(source)
    with pytest.raises(ConfigurationError):
        ws.run("1", limits={"wall_seconds": 1})
    result = ws.run("throw new Error('x')", filename=tmp_path / "s.js")
    assert result.to_dict()["error"]["file"] == str(tmp_path / "s.js")
    result.to_json()


def test_the_thread_that_keeps_workers_ready_may_outlive_the_workspace(tmp_path):
    ws = Workspace(tmp_path / "notes", limits=Limits(calls=7))
    pool, gone = ws._pool, weakref.ref(ws)
    assert ws.run("1").value == 1
    del ws
    gc.collect()
    assert gone() is None
    assert pool._limits() == Limits(calls=7)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may look everywhere")
def test_a_policy_file_that_cannot_be_looked_at_refuses_as_a_broken_one_does(nocturn_workspace):
    @tool(axis="write", effects=[("list", "add", "what")])
    def add(what: str) -> str:
        return what

    ws = nocturn_workspace(tools=[add], approver=RecordingApprover(answer=True))
    ws.path.mkdir(mode=0o000)
    try:
        with pytest.raises(NocturnError) as refused:
            ws.call("add", {"what": "milk"})
    finally:
        ws.path.chmod(0o700)
    assert refused.value.code == "GATE_DENIED"
    assert refused.value.detail == {"reason": "policy", "configuration": "policy.toml"}


def test_a_closed_workspace_does_nothing_any_more(nocturn_workspace):
    ws = nocturn_workspace()
    ws.close()
    ws.close()
    for call in (lambda: ws.run("1"), lambda: ws.memory.write("a.md", "s", "c")):
        with pytest.raises(ConfigurationError):
            call()
    with pytest.raises(ConfigurationError):
        asyncio.run(ws.run_async("1"))


def test_a_workspace_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigurationError):
        Workspace(tmp_path / "file")


@pytest.mark.parametrize("options", [{"isolation": "none"}, {"isolation": ""}])
def test_an_option_that_there_is_not_is_refused(nocturn_workspace, options):
    with pytest.raises(ConfigurationError):
        nocturn_workspace(**options)


def test_a_workspace_that_cannot_be_written_is_a_storage_error(ws):
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    ws.path.mkdir(mode=0o500)
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("a.md", "s", "c")
    assert refused.value.code == "STORAGE"
    assert list(ws.path.iterdir()) == []
    assert ws.memory.list()["notes"] == []


def test_a_file_where_a_folder_should_be_is_a_storage_error(ws):
    ws.path.mkdir()
    (ws.path / "memory").write_text("x")
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("a.md", "s", "c")
    assert refused.value.code in ("STORAGE", "NOT_A_NOTE")
    assert str(ws.path) not in str(refused.value)
    assert (ws.path / "memory").read_text() == "x"


def test_a_broken_key_is_said_and_left_as_it_is(ws, tmp_path):
    ws.memory.write("a.md", "s", "c")
    ws.memory.stat("a.md")
    key = tmp_path / "data/keys/local.key"
    key.write_text("short")
    fresh = Workspace(ws.path)
    with pytest.raises(NocturnError) as refused:
        fresh.memory.stat("a.md")
    assert "configuration" in refused.value.detail
    assert fresh.run("nocturn.memory.stat('a.md')").error.code == "STORAGE"
    assert key.read_text() == "short"


@pytest.mark.parametrize("name", ["policy.toml", "grants.json"])
def test_a_broken_file_of_ours_refuses_gated_calls_and_is_left_as_it_is(ws, name):
    ws.path.mkdir()
    (ws.path / name).write_bytes(b"\xff broken")
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("a.md", "s", "c")
    assert refused.value.code == "GATE_DENIED"
    assert refused.value.detail["reason"] == "policy"
    assert (ws.path / name).read_bytes() == b"\xff broken"
    assert not (ws.path / "memory").exists()


# ---- calls from Python -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [{"path": object()}, {"path": {1, 2}}, {1: "x"}, [], None, {"path": "\ud800.md"}]
)
def test_arguments_that_are_no_json_are_bad_arguments(ws, arguments):
    with pytest.raises(NocturnError) as refused:
        ws.call("memory_read", arguments)
    assert refused.value.code == "BAD_ARGUMENTS"


def test_arguments_that_are_nested_too_deep_are_refused(ws):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NocturnError) as refused:
        ws.call("memory_read", {"path": deep})
    assert refused.value.code == "BAD_ARGUMENTS"
    cycle = {}
    cycle["path"] = cycle
    with pytest.raises(NocturnError) as refused:
        ws.call("memory_read", cycle)
    assert refused.value.code == "BAD_ARGUMENTS"


def test_a_mode_that_there_is_not_is_refused(ws):
    with pytest.raises(ConfigurationError):
        ws.memory.read("a.md", mode="loose")
    with pytest.raises(ConfigurationError):
        ws.memory.read("a.md", agent="not a name")


def test_a_tool_made_inside_a_workspaces_run_can_use_the_workspace(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def count() -> int:
        return len(ws.memory.list()["notes"])

    ws = nocturn_workspace(tools=[count])
    ws.memory.write("a.md", "s", "c")
    assert ws.run("nocturn.call('count')").value == 1


def test_the_names_that_come_with_nocturn_are_those_that_are_kept_free(ws):
    assert ws.tools.names() == BUILT_IN

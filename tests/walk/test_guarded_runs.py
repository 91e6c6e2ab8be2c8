"""Runs that nobody looks on at: what asks waits in the inbox, and is answered from elsewhere."""

from __future__ import annotations

import logging
import queue
import threading

import pytest

from nocturn import ConfigurationError, NocturnError
from nocturn.guard.approver import CallbackApprover
from nocturn.testing import RecordingApprover

WRITE = "nocturn.memory.write('people/lina.md', 'a daughter', 'Likes cats.')"


@pytest.fixture
def answering(ws):
    """Answers the questions of a workspace, in another thread and as another object would."""
    stop = threading.Event()
    threads = []

    def begin(*answers, inbox=None):
        inbox = inbox or ws.inbox
        asked = []

        def work():
            left = list(answers)
            while left and not stop.wait(0.01):
                for each in inbox.waiting():
                    asked.append(each)
                    inbox.answer(each.id, left.pop(0), "python")

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return asked

    yield begin
    stop.set()
    for each in threads:
        each.join()


@pytest.fixture
def put():
    """The ids of questions that are put from now on, each as it is told of."""
    ids = queue.SimpleQueue()

    class Handler(logging.Handler):
        def emit(self, record):
            if "approvals show" in (message := record.getMessage()):
                ids.put(message.split()[-1])

    handler = Handler()
    logging.getLogger("nocturn").addHandler(handler)
    yield lambda: ids.get(timeout=60)
    logging.getLogger("nocturn").removeHandler(handler)


def denied(result):
    assert result.status == "guest_error", result
    assert result.error.code == "GATE_DENIED", result.error
    return result.error.detail["reason"]


def write(path):
    return f"nocturn.memory.write({path!r}, 's', 'c');"


def attempt(path):
    return f"try {{ {write(path)} }} catch (e) {{ reasons.push(e.detail.reason) }};"


def files(ws):
    return sorted(each.name for each in (ws.path / "memory").rglob("*.md"))


def test_a_guarded_run_waits_in_the_inbox_and_goes_on(ws, answering):
    asked = answering("once")
    result = ws.run(WRITE, mode="guarded", agent="bob", filename="remember.js")
    assert result.ok, result.error
    assert result.calls[0].ruling == "once"
    assert result.usage.waited_ms > 0
    (question,) = (each.question for each in asked)
    assert (question["agent"], question["script"], question["mode"]) == (
        "bob",
        "remember.js",
        "guarded",
    )
    assert question["effects"] == [{"kind": "memory", "verb": "write", "target": "people/lina.md"}]
    assert "Likes cats." in question["preview"]["after"]
    assert [each["value"] for each in question["options"]] == ["once", "session", "always", "widen"]


def test_the_approver_of_a_workspace_is_asked_in_place_of_the_inbox(nocturn_workspace):
    person = RecordingApprover()
    ws = nocturn_workspace(approver=person)
    assert ws.run(WRITE, mode="guarded").ok
    assert len(person.questions) == 1
    assert not (ws.path / ".nocturn/inbox.db").exists()


def test_a_no_sticks_and_is_told_apart_from_nobodys_answer(nocturn_workspace, answering):
    ws = nocturn_workspace(ask_seconds=0.5)
    asked = answering(None, inbox=ws.inbox)
    source = "let reasons = [];" + attempt("a.md") * 2 + attempt("b.md") * 2 + "reasons"
    result = ws.run(source, mode="guarded")
    assert result.value == ["declined", "declined", "timeout", "timeout"]
    assert len(asked) == 1
    assert not (ws.path / "memory").exists()
    assert ws.inbox.get(asked[0].id).taken


def test_an_always_of_the_inbox_outlasts_the_run(ws, answering):
    answering("always")
    assert ws.run(WRITE, mode="guarded", agent="bob").ok
    assert ws.run(WRITE, agent="bob").calls[0].ruling == "grant"


def test_the_eleventh_question_of_a_run_is_not_put(ws, answering):
    asked = answering(*["once"] * 12)
    source = "let reasons = [];" + "".join(attempt(f"n{n}.md") for n in range(12)) + "reasons"
    assert ws.run(source, mode="guarded").value == ["unattended"] * 2
    assert len(asked) == 10


def test_runs_of_one_workspace_wait_side_by_side(ws, put):
    ws.run("nocturn.memory.list()")  # what a first call loads is not to be in the way
    runs = [
        threading.Thread(target=ws.run, args=(write(f"n{n}.md"),), kwargs={"mode": "guarded"})
        for n in range(3)
    ]
    for run in runs:
        run.start()
    for each in [ws.inbox.get(put()) for _ in runs]:
        allowed = each.question["effects"][0]["target"] != "n1.md"
        ws.inbox.answer(each.id, "once" if allowed else None, "python")
    for run in runs:
        run.join()
    assert files(ws) == ["n0.md", "n2.md"]


def test_a_question_of_a_run_that_ends_is_withdrawn_and_its_thread_ends(ws, put):
    run = threading.Thread(target=ws.run, args=(WRITE,), kwargs={"mode": "guarded"})
    run.start()
    identity = put()
    ws.close()
    run.join()
    for thread in threading.enumerate():
        if thread.name == "nocturn-question":
            thread.join()
    with pytest.raises(NocturnError) as late:
        ws.inbox.answer(identity, "once", "python")
    assert (late.value.code, late.value.detail["state"]) == ("CONFLICT", "withdrawn")
    assert not (ws.path / "memory").exists()


def test_a_foreign_inbox_refuses_the_call_and_is_left_as_it_is(ws):
    (ws.path / ".nocturn").mkdir(parents=True)
    (ws.path / ".nocturn/inbox.db").write_text("theirs")
    result = ws.run(WRITE, mode="guarded")
    assert (result.error.code, "configuration" in result.error.detail) == ("STORAGE", True)
    assert (ws.path / ".nocturn/inbox.db").read_text() == "theirs"
    assert not (ws.path / "memory").exists()


def test_strict_and_watched_make_no_inbox(ws):
    assert denied(ws.run(WRITE)) == "unattended"
    assert ws.run(WRITE, mode="watched").ok
    assert not (ws.path / ".nocturn/inbox.db").exists()


def test_a_call_from_python_may_be_guarded_too(ws, answering):
    answering("once", None)
    assert ws.memory.write("a.md", "s", "c", mode="guarded")["bytesWritten"]
    with pytest.raises(NocturnError) as refused:
        ws.memory.write("b.md", "s", "c", mode="guarded")
    assert refused.value.detail["reason"] == "declined"


def test_a_secret_that_is_kept_after_it_was_asked_about_is_not_shown(ws, put):
    value = "gK3f9Zq-77aPLm22xW"
    run = threading.Thread(
        target=ws.run,
        args=(f"nocturn.memory.write('a.md', 's', '{value}')",),
        kwargs={"mode": "guarded"},
    )
    run.start()
    assert value in ws.inbox.get(put()).question["preview"]["after"]
    ws.vault.set("TOKEN", value)
    (later,) = ws.inbox.waiting()
    assert value not in repr(later)
    ws.inbox.answer(later.id, None, "python")
    run.join()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "5", True])
def test_a_time_that_cannot_be_waited_is_refused(tmp_path, seconds):
    from nocturn import Workspace

    with pytest.raises(ConfigurationError):
        Workspace(tmp_path / "ws", ask_seconds=seconds)


def test_a_guarded_run_that_asks_nothing_loads_no_database(fresh_python):
    program = (
        "import sys; from nocturn import Workspace\n"
        "with Workspace(sys.argv[1]) as ws:\n"
        "    assert ws.run('nocturn.now()', mode='guarded', agent='bob').ok\n"
        "print([name for name in ('sqlite3', 'apprise', 'urllib.request') if name in sys.modules])"
    )
    assert fresh_python(program) == "[]\n"


@pytest.mark.parametrize("tool", ["memory_write", "memory_read", "memory_remove", "memory_stat"])
@pytest.mark.parametrize("path", ["../.nocturn/inbox.db", "../.nocturn/asking/x.md"])
def test_no_tool_reaches_the_inbox(nocturn_workspace, tool, path):
    ws = nocturn_workspace(approver=CallbackApprover(lambda _: True))
    arguments = {"path": path, "summary": "s", "content": "c"}
    if tool != "memory_write":
        arguments = {"path": path}
    with pytest.raises(NocturnError) as refused:
        ws.call(tool, arguments)
    assert refused.value.code in ("PATH_ESCAPE", "BAD_ARGUMENTS")
    assert not any("inbox" in each.name or "approv" in each.name for each in ws.tools)

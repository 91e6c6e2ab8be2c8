"""A worker that sends what it likes: native code in a broken QuickJS has its end of the wire."""

import contextlib
import inspect
import json
import os
import socket
import sys
import threading

import pytest

from nocturn import Limits, tool
from nocturn.errors import CODES, IsolationError
from nocturn.host.crew import Crew
from nocturn.host.execution import Execution
from nocturn.host.program import Program
from nocturn.host.result import STATUSES
from nocturn.wire.frames import Channel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the wire is a socket pair")

LIMITS = Limits(wall_seconds=5)
READY = {"type": "ready", "level": "full", "steps": {"seccomp": "on"}}
HUGE = "x" * 6_000_000


def framed(frame):
    payload = frame if isinstance(frame, bytes) else json.dumps(frame).encode()
    return len(payload).to_bytes(4, "big") + payload


class Impostor:
    """Stands in for a worker and its pool: its life is a function that has the worker's socket."""

    pid = 0

    def __init__(self, life, limits):
        self._ours, self._theirs = socket.socketpair()
        self.channel = Channel(self._ours.fileno(), self._ours.fileno(), limits.frame_bytes)
        self._thread = threading.Thread(target=self._live, args=(life,))
        self.closed = threading.Event()
        self.crew = Crew()

    def _live(self, life):
        with contextlib.suppress(OSError):  # killed
            life(self._theirs)
            self._theirs.shutdown(socket.SHUT_WR)

    def take(self, _limits, _ticket):
        self._thread.start()
        return self

    def give_back(self, worker):
        worker.kill()

    def kill(self):
        self._theirs.shutdown(socket.SHUT_RDWR)

    def reap(self, _worker):
        return 9

    def cpu_seconds(self):
        return 0.0

    def close(self):
        self._ours.close()
        self.closed.set()

    def gone(self):
        self.crew.close()
        self._thread.join(10)
        self._theirs.close()
        return self.closed.wait(10) and not self._thread.is_alive()


@pytest.fixture
def against():
    """Runs a life, or what is sent after `ready` and the start; the host must be whole after it."""

    def run(life, limits=LIMITS, dispatch=lambda call: {"tool": call.tool}, **options):
        def send(wire):
            wire.sendall(framed(READY))
            assert wire.recv(65_536)
            for frame in life:
                wire.sendall(frame if isinstance(frame, bytes) else framed(frame))
            while wire.recv(65_536):
                pass

        impostor = Impostor(life if callable(life) else send, limits)
        execution = Execution(Program("1", "x.js"), (), limits, "full", impostor, **options)

        def answer(call):
            call.reply = json.dumps(dispatch(call))

        try:
            result = execution.run(answer)
        finally:
            assert impostor.gone()  # both threads are done with the socket, and it is closed
        assert result.status in STATUSES
        assert (result.error is None) == (result.status == "ok")
        assert result.error is None or result.error.code in (None, *CODES)
        assert json.loads(result.to_json()) is not None
        return result

    return run


def done(**fields):
    return {"type": "done", "status": "ok", "value": 7, "heap_bytes": 1, **fields}


def test_an_impostor_that_behaves_is_believed(against):
    call = {"type": "call", "id": 1, "tool": "t", "args": {}}
    line = {"type": "console", "level": "warn", "text": "hi"}
    result = against([line, call, done()])
    assert (result.status, result.value) == ("ok", 7)
    assert [each.text for each in result.console] == ["hi"]
    assert [each.tool for each in result.calls] == ["t"]


@pytest.mark.parametrize(
    "frames",
    [
        [b""],
        [b"\0"],
        [b"\0\0\0"],
        [b"\0\0\0\0"],
        [b"\xff\xff\xff\xff"],
        [b"\x80\0\0\0rest"],
        [(Limits().frame_bytes + 1).to_bytes(4, "big") + b"x"],
        [b"\0\0\0\x05abc"],
        [b"{" + framed({"type": "done"})],
        [framed(b"")],
        [framed(b"nonsense")],
        [framed(b"null")],
        [framed(b"[1]")],
        [framed(b'"done"')],
        [framed(b"\xff\xfe{}")],
        [framed(b'{"type":"done","status":"ok","value":"\xed\xa0\x80"}')],
        [framed('{"type":"done","status":"ok"}'.encode("utf-16"))],
        [framed('{"type":"done","status":"ok"}'.encode("utf-16-le"))],
        [framed('{"type":"done","status":"ok"}'.encode("utf-32"))],
        [framed(b'\xef\xbb\xbf{"type":"done","status":"ok"}')],
        [framed(b"[" * 60_000)],
        [framed(b'{"a":' * 60_000)],
        [framed(b'{"type":"done","status":"ok","value":' + b"[" * 60_000 + b"]" * 60_000 + b"}")],
        [framed(('{"x":["\u2200",' + "[" * 2_000 + "]" * 2_000 + "]}").encode("utf-16-le"))],
        [framed(b'{"type":"done","status":"ok","value":' + b"9" * 5_000 + b"}")],
        [framed(b'{"type":"done","status":"ok"')],
        [{}],
        [{"type": None}],
        [{"type": []}],
        [{"type": {}}],
        [{"type": "replies"}],
        [{"type": "DONE", "status": "ok"}],
        [{"value": 1}],
        [{"error": {"code": "LIMIT"}}],
        [READY],
        [{"type": "refused", "reason": "late"}],
        [{"type": "done"}],
        [{"type": "done", "status": None}],
        [{"type": "done", "status": []}],
        [{"type": "done", "status": {}}],
        [{"type": "done", "status": 1}],
        [{"type": "done", "status": "time_limit"}],
        [{"type": "done", "status": "cancelled"}],
        [{"type": "done", "status": "worker_died"}],
        [{"type": "console"}],
        [{"type": "console", "level": "log"}],
        [{"type": "console", "text": "x"}],
        [{"type": "console", "level": [], "text": "x"}],
        [{"type": "console", "level": {}, "text": "x"}],
        [{"type": "console", "level": "root", "text": "x"}],
        [{"type": "console", "level": "log", "text": ["x"]}],
        [{"type": "console", "level": "log", "text": None}],
    ],
)
def test_a_broken_protocol_ends_the_run_as_worker_died(against, frames):
    def life(wire):
        wire.sendall(framed(READY))
        wire.recv(65_536)
        for frame in frames:
            wire.sendall(frame if isinstance(frame, bytes) else framed(frame))

    result = against(life)
    assert result.status == "worker_died"
    assert result.value is None


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\xff\xff\xff\xff",
        framed(b"nonsense"),
        framed({}),
        framed({"type": "ready"}),
        framed({"type": "ready", "level": "full"}),
        framed({"type": "ready", "level": [], "steps": {}}),
        framed({"type": "ready", "level": "full", "steps": []}),
        framed({"type": "ready", "level": "full", "steps": "on"}),
        framed({"type": "done", "status": "ok", "value": 1}),
        framed({"type": "call", "tool": "t", "args": {}}),
    ],
)
def test_a_worker_that_is_not_ready_gets_no_guest(against, first):
    got = []

    def life(wire):
        wire.sendall(first)
        wire.shutdown(socket.SHUT_WR)
        got.append(wire.recv(65_536))

    assert against(life).status == "worker_died"
    assert got == [b""]


def test_a_worker_that_refuses_or_has_less_raises(against):
    for frame in ({"type": "refused", "reason": "no"}, {**READY, "level": "rlimits-only"}):
        got = []

        def life(wire, frame=frame, got=got):
            wire.sendall(framed(frame))
            got.append(wire.recv(65_536))

        with pytest.raises(IsolationError):
            against(life)
        assert got == [b""]


def never_ready(wire):
    wire.recv(1)


def silent_after_ready(wire):
    wire.sendall(framed(READY))
    while wire.recv(65_536):
        pass


def stalls_in_a_header(wire):
    wire.sendall(framed(READY) + b"\0\0")
    while wire.recv(65_536):
        pass


def stalls_in_a_frame(wire):
    wire.sendall(framed(READY) + b"\0\0\xff\xff{")
    while wire.recv(65_536):
        pass


def one_byte_at_a_time(wire):
    wire.sendall(framed(READY) + b"\0\x10\0\0")
    while True:
        wire.send(b" ")


def waits_without_reading(wire):
    wire.sendall(framed(READY))
    call = framed({"type": "call", "tool": "big", "args": {}})
    while True:
        wire.sendall(call)  # the replies fill the socket, then the host waits too


@pytest.mark.parametrize(
    "life",
    [
        never_ready,
        silent_after_ready,
        stalls_in_a_header,
        stalls_in_a_frame,
        one_byte_at_a_time,
        waits_without_reading,
    ],
)
def test_a_worker_that_stalls_is_ended_at_the_deadline(against, life):
    result = against(life, Limits(wall_seconds=0.2), dispatch=lambda _: "x" * 500_000)
    assert result.status == "time_limit"


@pytest.mark.parametrize(
    "tool", [None, 1, [], {}, True, "", "\ud800", "a\0b", "../x", HUGE, "__proto__"]
)
def test_a_call_with_any_tool_is_a_call_with_a_text(against, tool):
    result = against([{"type": "call", "tool": tool, "args": {}}, done()])
    assert result.status == "ok"
    assert isinstance(result.calls[0].tool, str)
    assert len(result.calls[0].tool) <= 4096


@pytest.mark.parametrize(
    "fields",
    [
        {"size": None},
        {"size": "1"},
        {"size": -1},
        {"size": 2**70},
        {"size": 1.5},
        {"size": True},
        {"size": []},
        {"unsendable": None},
        {"unsendable": 5},
        {"unsendable": []},
        {"unsendable": "\ud800" * 100_000},
        {"args": {"a": HUGE}},
        {"args": HUGE},
        {"args": None},
        {"args": [1]},
        {"args": 10**4000},
        {"args": float("nan")},
        {"args": {"\ud800": "\ud800"}},
        {"args": {"a": {}}, "size": 5, "unsendable": "x", "type2": 1},
    ],
)
def test_wrong_fields_of_a_call_reach_the_dispatcher_in_their_types(against, fields):
    seen = []

    def dispatch(call):
        seen.append((type(call.size_bytes), call.size_bytes >= 0, type(call.problem)))

    result = against([{"type": "call", "tool": "t", **fields}, done()], dispatch=dispatch)
    assert result.status == "ok"
    assert seen[0][:2] == (int, True)
    assert seen[0][2] in (str, type(None))


@pytest.mark.parametrize("value", [None, 0, -1, 2**70, 1.5, True, "9", [], {}, 10**4000])
def test_what_it_says_of_its_heap_and_of_sizes_is_a_whole_number_or_nothing(against, value):
    result = against([done(heap_bytes=value, steps=value, size=value)])
    assert result.status == "ok"
    assert type(result.usage.heap_bytes) in (int, type(None))
    over = against([{"type": "done", "status": "output_limit", "size": value}])
    assert over.status == "output_limit"


@pytest.mark.parametrize(
    "error",
    [
        None,
        5,
        "text",
        [],
        {},
        {"name": None, "message": None, "stack": None, "code": None, "detail": None},
        {"name": [], "message": {}, "stack": 5, "code": [], "detail": "x"},
        {"name": "\ud800", "message": "\udfff\0\x1b[2J", "stack": "\ud800", "code": "\ud800"},
        {"name": HUGE},
        {"message": HUGE},
        {"stack": HUGE},
        {"detail": {"a": HUGE}},
        {"code": HUGE},
        {"stack": "at f (<input>:99999999999999999999:1)\n" * 9_000},
        {"stack": "at (<input>:1001:99999999999)\n    at <input>:-1:0\nat <input>:1001:1"},
        {"stack": "at " + " (" * 4_000 + "<input>:1001:x"},
        {"stack": "\u0661at <input>:\u0661\u0660\u0660\u0661:\u0661"},
        {"code": "MADE_UP", "name": "NocturnError"},
        {"code": "GATE_DENIED", "name": "NocturnError", "detail": {"reason": {"x": []}}},
        {"code": {"toString": 1}, "detail": []},
        {"code": "ok"},
    ],
)
@pytest.mark.parametrize("status", ["guest_error", "memory_limit", "never_settles"])
def test_any_error_frame_becomes_a_capped_error(against, status, error):
    result = against([{"type": "done", "status": status, "error": error}])
    assert result.status == status
    assert len(result.error.message) <= 10_000
    assert len(result.error.stack) <= 100_000
    assert len(result.to_json()) < 300_000


def test_an_error_frame_without_an_error_is_one_all_the_same(against):
    for status in ("guest_error", "memory_limit", "never_settles", "output_limit"):
        result = against([{"type": "done", "status": status}])
        assert result.status == status
        assert isinstance(result.error.message, str)


def test_a_value_may_be_deep_and_odd_and_is_still_plain(against):
    deep = json.loads("[" * 290 + "]" * 290)
    result = against([done(value=deep)])
    assert result.to_dict()["value"] == deep
    assert against([done(value={"\ud800": 10**4000})]).value == {"\ud800": 10**4000}
    assert against([done(value=HUGE)]).status == "output_limit"
    assert against([done(status="never_settles", value=5)]).value is None


def test_after_done_nothing_counts(against):
    seen = []
    call = {"type": "call", "tool": "late", "args": {}}
    result = against(
        [b"".join(framed(each) for each in (done(), done(value=8), call, call, {"type": 1}))],
        dispatch=seen.append,
    )
    assert (result.status, result.value) == ("ok", 7)
    assert (seen, result.calls) == ([], ())


def test_console_lines_are_held_to_the_limit_empty_ones_too(against):
    limits = Limits(wall_seconds=5, console_bytes=1_000)
    line = framed({"type": "console", "level": "log", "text": ""})
    result = against([line * 5_000], limits)
    assert result.status == "output_limit"
    assert len(result.console) == 1_000
    odd = against([{"type": "console", "level": "log", "text": "\ud800" * 2_000}], limits)
    assert odd.status == "output_limit"
    huge = against([{"type": "console", "level": "log", "text": "\u3042" * 6_000}], limits)
    assert len(huge.console[0].text.encode()) <= 1_000


def test_what_a_call_carried_is_let_go_when_it_has_ended(against):
    kept = []

    def dispatch(call):
        assert call.arguments is not None
        kept.append(call)

    call = framed({"type": "call", "tool": "t", "args": {"a": "x" * 100_000}})
    assert against([call * 20, done()], dispatch=dispatch).status == "ok"
    assert [each.arguments for each in kept] == [None] * 20


def test_a_call_that_has_not_begun_at_the_deadline_never_begins(against):
    begun = []
    stop = threading.Event()

    def slow(call):
        begun.append(call.tool)
        stop.wait(10)

    def life(wire):
        wire.sendall(framed(READY))
        wire.sendall(framed({"type": "call", "tool": "t", "args": {}}) * 50)
        while wire.recv(65_536):
            pass
        stop.set()  # it has been killed: now the tool returns, and 49 calls are still in the socket

    result = against(life, Limits(wall_seconds=0.2), dispatch=slow)
    assert result.status == "time_limit"
    assert begun == ["t"]


def test_calls_still_in_the_socket_of_a_killed_worker_begin_neither():
    begun, told, printed, execution = [], [], [], []

    def on_console(_):
        printed.append(1)
        execution[0].cancel()

    def life(wire):
        wire.sendall(framed(READY))
        line = framed({"type": "console", "level": "log", "text": "x"})
        wire.sendall(line + framed({"type": "call", "tool": "t", "args": {}}) * 50)
        while wire.recv(65_536):
            pass

    impostor = Impostor(life, LIMITS)
    execution.append(
        Execution(Program("1", "x.js"), (), LIMITS, "full", impostor, told.append, on_console)
    )
    result = execution[0].run(begun.append)
    assert impostor.gone()
    assert result.status == "cancelled"
    assert (printed, begun, told) == ([1], [], [])


def test_who_waited_for_a_worker_has_used_no_time_up():
    limits = Limits(wall_seconds=0.2)
    watched = threading.Event()

    def life(wire):
        watched.wait(10)  # until the run's clock has been looked at
        wire.sendall(framed(READY) + framed(done()))

    class Busy(Impostor):
        def take(self, limits, ticket):
            watched.wait(0.3)  # longer than the run's wall clock
            return super().take(limits, ticket)

        def cpu_seconds(self):
            watched.set()
            return 0.0

    impostor = Busy(life, limits)
    result = Execution(Program("1", "x.js"), (), limits, "full", impostor).run(lambda _: None)
    assert impostor.gone()
    assert result.status == "ok"


def test_an_error_with_a_detail_over_the_limit_is_sent_without_it(against):
    from nocturn.errors import NocturnError

    replies = []

    def refuse(_):
        raise NocturnError("LIMIT", "no more", detail={"t": "x" * 2_000_000})

    def life(wire):
        wire.sendall(framed(READY))
        wire.recv(65_536)
        wire.sendall(framed({"type": "call", "tool": "t", "args": {}}))
        replies.append(json.loads(wire.recv(65_536)[4:]))
        wire.sendall(framed(done()))

    assert against(life, dispatch=refuse).status == "ok"
    assert replies[0]["error"]["message"] == "no more"
    assert replies[0]["error"]["detail"] == {}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a.md", "summary": "s", "content": "c", "\ud800": 1},
        {"path": "\ud800.md"},
        {"path": "../../etc/passwd"},
        {"path": ["a.md"]},
        {"path": {"$ref": "x"}},
        {"path": None},
        {"path": 10**4000},
        {"path": float("nan"), "summary": float("inf")},
        json.loads("[" * 290 + "]" * 290),
        {"path": json.loads('{"a":' * 280 + "1" + "}" * 280)},
        {"path": "a.md", "summary": "\x00\x1b[31m", "content": "c"},
        {"__class__": "x", "clearance": {}, "preview": {}},
        {"path": "a.md", "summary": "s", "content": "c", "clearance": {"effects": []}},
        "text",
        None,
    ],
)
def test_the_whole_road_refuses_what_no_prelude_would_send(nocturn_workspace, against, arguments):
    @tool(axis="read", effects="ungated")
    def give() -> int:
        return 1

    ws = nocturn_workspace(tools=[give])
    bound = inspect.signature(ws.run).bind("1", mode="watched")
    bound.apply_defaults()
    _, dispatch = ws._prepare(**bound.arguments)
    names = (
        "memory_write",
        "memory_read",
        "memory_list",
        "memory_search",
        "memory_remove",
        "time_now",
        "give",
        "\ud800",
    )
    calls = [{"type": "call", "tool": name, "args": arguments} for name in names]
    result = against([*calls, done()], dispatch=dispatch)
    assert result.status == "ok"
    assert len(result.calls) == len(names)
    assert all(call.code is not None and call.code in CODES for call in result.calls)
    assert not (ws.path / "memory").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are told by /proc")
def test_no_descriptor_and_no_thread_is_left(against):
    against([done()])
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        against([done()])
        against([b"\xff\xff\xff\xff"])
        against(stalls_in_a_frame, Limits(wall_seconds=0.02))
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert threading.active_count() <= threads

"""Attack: a worker that has been taken over, and calls in flight with what numbers it likes."""

import contextlib
import json
import os
import socket
import threading

import pytest

from nocturn import Limits
from nocturn.host.crew import Crew
from nocturn.host.execution import Execution
from nocturn.host.program import Program
from nocturn.wire.frames import Channel

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the wire is a socket pair")

SECONDS = 20
READY = {"type": "ready", "level": "full", "steps": {"seccomp": "on"}}
DONE = {"type": "done", "status": "ok", "value": 7}


def framed(frame):
    payload = json.dumps(frame).encode()
    return len(payload).to_bytes(4, "big") + payload


def call(number, tool="t"):
    return {"type": "call", "id": number, "tool": tool, "args": {}}


class Impostor:
    """Stands in for a worker and its pool: what it does with its socket is a function."""

    def __init__(self, life, limits):
        self.ours, self.theirs = socket.socketpair()
        self.channel = Channel(self.ours.fileno(), self.ours.fileno(), limits.frame_bytes)
        self.crew, self.closed = Crew(), threading.Event()
        self._thread = threading.Thread(target=self._live, args=(life,))

    def _live(self, life):
        with contextlib.suppress(OSError):  # killed
            self.theirs.sendall(framed(READY))
            life(self.theirs)

    def take(self, _limits, _ticket):
        self._thread.start()
        return self

    def give_back(self, _worker):
        self.theirs.shutdown(socket.SHUT_RDWR)

    def reap(self, _worker):
        return 9

    def cpu_seconds(self):
        return 0.0

    def gone(self):
        self.crew.close()
        self._thread.join(SECONDS)
        self.theirs.close()
        return self.closed.wait(SECONDS)

    def close(self):
        self.ours.close()
        self.closed.set()


@pytest.fixture
def against():
    """Runs a life; whatever it was, every thread lets go of the socket once tools are let go."""
    go = threading.Event()
    met = []

    def run(life, limits=None, dispatch=lambda _: None):
        limits = limits or Limits(wall_seconds=SECONDS, calls_in_flight=4)
        impostor = Impostor(life, limits)
        met.append(impostor)
        return Execution(Program("1", "x.js"), (), limits, "full", impostor).run(dispatch)

    run.go = go
    yield run
    go.set()
    for impostor in met:
        assert impostor.gone()


def sending(*frames):
    def life(wire):
        wire.sendall(b"".join(map(framed, frames)))
        while wire.recv(65_536):
            pass

    return life


@pytest.mark.parametrize(
    "number", [None, 0, -1, 2**53, 2**70, 1.0, 1.5, True, "1", [], {}, float("nan"), 10**4000]
)
def test_a_number_that_is_none_ends_the_run_and_nothing_is_called(against, number):
    called = []
    result = against(sending(call(number), DONE), dispatch=called.append)
    assert (result.status, result.calls, called) == ("worker_died", (), [])


@pytest.mark.parametrize(
    "frames",
    [
        [call(1), call(1)],
        [call(n) for n in range(1, 6)],
        [*(call(n) for n in range(1, 5)), {"type": "call", "tool": "t", "args": {}}],
    ],
    ids=["the same number twice", "one too many", "one too many that is waited for"],
)
def test_what_the_prelude_would_hold_back_ends_the_run(against, frames):
    result = against(sending(*frames, DONE), dispatch=lambda _: against.go.wait(SECONDS))
    assert result.status == "worker_died"
    assert {each.code for each in result.calls} == {"CANCELLED"}
    assert len(result.calls) == min(len(frames) - 1, 4)


def test_a_number_may_come_again_once_its_call_is_over(against):
    replies = []

    def life(wire):
        with wire.makefile("rb") as stream:
            stream.read(int.from_bytes(stream.read(4), "big"))  # the start
            for _ in range(100):
                wire.sendall(framed(call(9)))
                replies.append(stream.read(int.from_bytes(stream.read(4), "big")))
        wire.sendall(framed(DONE))

    assert against(life).usage.calls == 100
    assert [json.loads(each) for each in replies] == [{"id": 9, "value": None}] * 100


def test_a_worker_that_reads_no_reply_blocks_no_deadline_and_no_other_run(against):
    def dispatch(each):
        each.reply = json.dumps("x" * 500_000)  # more than the socket takes

    limits = Limits(wall_seconds=0.2, calls_in_flight=4)
    silent = threading.Event()

    def life(wire):
        wire.sendall(b"".join(framed(call(n)) for n in range(1, 5)))
        silent.wait(SECONDS)

    assert against(life, limits, dispatch).status == "time_limit"
    silent.set()


def test_the_end_is_told_while_calls_are_at_work_and_nothing_of_theirs_is_sent_on(against):
    result = against(sending(call(1), call(2), DONE), dispatch=lambda _: against.go.wait(SECONDS))
    assert (result.status, result.value) == ("ok", 7)
    assert [each.code for each in result.calls] == ["CANCELLED", "CANCELLED"]


def test_a_fault_of_ours_in_a_call_in_flight_is_raised_to_who_runs_it(against):
    def dispatch(_):
        raise RuntimeError("ours")

    with pytest.raises(RuntimeError, match="ours"):
        against(sending(call(1)), dispatch=dispatch)


@pytest.mark.parametrize(
    "more",
    [
        {"unhandled": None},
        {"unhandled": 5},
        {"unhandled": [None, 5, "x", [], {"name": []}, {"cause": {"cause": 5}, "errors": 7}]},
        {"unhandled": [{"errors": [{}] * 1_000}] * 1_000},
        {"lead": -1},
        {"lead": 10**4000},
        {"lead": "x"},
    ],
)
def test_what_it_tells_of_rejections_is_made_into_errors_of_ours(against, more):
    result = against(sending({**DONE, **more}))
    assert result.status == "ok"
    assert len(result.unhandled_rejections) <= 16
    assert len(result.to_json()) < 200_000


def test_errors_within_errors_are_bounded_however_deep_and_many(against):
    deep = {"name": "E"}
    for _ in range(90):
        deep = {"cause": deep, "errors": [deep, 1]} if _ < 3 else {"cause": deep}
    for error in (deep, {"errors": [{"errors": [{}] * 500}] * 500}):
        result = against(sending({**DONE, "status": "guest_error", "error": error}))
        assert result.status == "guest_error"
        assert result.to_json().count('"name"') <= 16

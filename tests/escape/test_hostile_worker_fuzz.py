"""Random frames into the host's side of a run: it ends in a status, and nothing is raised."""

import json
import os
import tempfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nocturn import Limits
from nocturn.errors import CODES, IsolationError, NocturnError
from nocturn.host.exchange import Exchange
from nocturn.host.location import Locator
from nocturn.host.program import Program
from nocturn.host.result import STATUSES, RunResult
from nocturn.wire.frames import Channel

LIMITS = Limits(value_bytes=200, call_bytes=200, console_bytes=200, calls=3)
READY = {"type": "ready", "level": "full", "steps": {"seccomp": "on"}}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**300), 10**300)
    | st.floats()
    | st.text(st.characters(), max_size=300)
    | st.sampled_from(["ok", "log", "guest_error", "memory_limit", "output_limit", "t", *CODES])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)
KINDS = ("call", "console", "done", "ready", "refused")
FIELDS = (
    "id tool args size unsendable level text status value error heap_bytes steps reason".split()  # noqa: SIM905
)
errors = st.dictionaries(
    st.sampled_from(["name", "message", "stack", "code", "tool", "detail"]), values
)
frames = st.builds(
    lambda kind, fields, extra: {**fields, **extra, "type": kind},
    st.sampled_from(KINDS) | values,
    st.dictionaries(st.sampled_from(FIELDS), values, max_size=6),
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["ok", "guest_error", "memory_limit", "never_settles"]),
            "level": st.sampled_from(["log", "warn", "full", "none"]),
            "text": st.text(max_size=80),
            "error": errors,
            "steps": st.dictionaries(st.text(max_size=5), values, max_size=2),
        },
    ),
)
payloads = frames.map(lambda frame: json.dumps(frame).encode()) | st.binary(max_size=60)


PROGRAM = Program("1", "x.js")


def at_once(work):
    work()


def conversation(sent, dispatch):
    """Reads bytes as a worker's; returns the ending and the exchange, whose replies go nowhere."""
    with tempfile.TemporaryFile() as file, open(os.devnull, "wb") as nowhere:
        file.write(sent)
        file.seek(0)
        channel = Channel(file.fileno(), nowhere.fileno(), LIMITS.frame_bytes)

        def answer(call):
            call.reply = json.dumps(dispatch(call))

        exchange = Exchange(channel, answer, LIMITS, at_once, lambda _: None, lambda _: None)
        ending = exchange.prepare("best-effort") or exchange.answer(PROGRAM, [])
        return ending, exchange


def framed(payload):
    return len(payload).to_bytes(4, "big") + payload


def refusing(call):
    if call.tool:
        raise NocturnError("LIMIT", "no", detail={"seen": call.arguments})
    return {"size": call.size_bytes, "problem": call.problem}


def hold(ending, exchange):
    assert ending.status in STATUSES
    assert len(exchange.calls) <= LIMITS.calls + 1
    assert all(call.arguments is None for call in exchange.calls)
    assert sum(len(line.text.encode("utf-8", "surrogatepass")) for line in exchange.console) <= 200
    error = None if ending.status == "ok" else Locator(PROGRAM, ending.lead).locate(ending.error)
    assert error is None or error.code in (None, *CODES)
    result = RunResult(ending.status, ending.value, tuple(exchange.console), error=error)
    assert result.to_json().isascii()


@settings(max_examples=150, deadline=None)
@given(st.lists(payloads, max_size=6))
@example([json.dumps({"type": "done", "status": []}).encode()])
@example([json.dumps({"type": "console", "level": [], "text": ""}).encode()])
@example([json.dumps({"type": "done", "status": "guest_error", "error": {"code": []}}).encode()])
def test_random_frames_after_ready_end_in_a_status_and_raise_nothing(sent):
    ready = json.dumps(READY).encode()
    hold(*conversation(b"".join(framed(each) for each in (ready, *sent)), refusing))


@settings(max_examples=100, deadline=None)
@given(st.lists(payloads, max_size=3))
def test_random_frames_from_the_first_on_end_in_a_status_or_in_too_little_isolation(sent):
    try:
        ending, exchange = conversation(b"".join(framed(each) for each in sent), refusing)
    except IsolationError:
        return
    hold(ending, exchange)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_end_in_a_status_and_raise_nothing(data):
    hold(*conversation(framed(json.dumps(READY).encode()) + data, refusing))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_conversation_cut_or_changed_anywhere_ends_in_a_status(data):
    whole = framed(json.dumps(READY).encode()) + b"".join(
        framed(json.dumps(frame).encode())
        for frame in (
            {"type": "console", "level": "log", "text": "x"},
            {"type": "call", "id": 1, "tool": "t", "args": {"a": [1, {"b": None}]}},
            {"type": "done", "status": "ok", "value": {"a": [1.5, "x"]}, "heap_bytes": 1},
        )
    )
    first = len(framed(json.dumps(READY).encode()))
    at = data.draw(st.integers(first, len(whole) - 1))
    change = data.draw(st.binary(max_size=3))
    skip = data.draw(st.integers(0, 3))
    hold(*conversation(whole[:at] + change + whole[at + skip :], refusing))


@settings(max_examples=150, deadline=None)
@given(errors | st.none())
def test_any_error_that_a_worker_tells_becomes_one_of_ours(told):
    error = Locator(Program("one\ntwo\n", "x.js"), 0).locate(told)
    assert error.code in (None, *CODES)
    assert isinstance(error.name, str)
    assert isinstance(error.message, str)
    assert error.detail is None or isinstance(error.detail, dict)


@pytest.mark.parametrize("depth", [250, 290, 295, 299, 300, 301, 5_000, 60_000])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_nesting_of_any_depth_in_any_encoding_ends_in_a_status(depth, encoding):
    for value in ("[" * depth + "]" * depth, '["\u2200",' + "[" * depth + "]" * depth + "]"):
        text = '{"type":"done","status":"ok","value":' + value + "}"
        for change in (text, text.replace("done", "call").replace("value", "args")):
            sent = framed(json.dumps(READY).encode()) + framed(change.encode(encoding))
            hold(*conversation(sent, refusing))

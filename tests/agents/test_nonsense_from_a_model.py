"""A model, or whoever sits at its address, answers anything: each ends in a clear status."""

import gzip
import json
import threading

import pytest

from nocturn import tool
from nocturn.agents.agent import agent_from_dir
from nocturn.agents.calling import CALLS_MADE
from nocturn.agents.endpoint import ANSWER_BYTES
from nocturn.agents.pieces import Gathering
from nocturn.agents.reply import ModelError, parsed, reply_of
from nocturn.agents.spec import AgentSpec

MEGABYTE = b"x" * 1_048_576


@pytest.fixture
def agent(tmp_path, caplog):
    """An agent with one tool; no thread of a run is left behind, and nothing broke in here."""

    @tool(axis="read", effects="ungated")
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    with agent_from_dir(tmp_path, AgentSpec("m", tools=[add], memory=False)) as made:
        yield made
    for thread in threading.enumerate():
        if thread.name in ("nocturn-agent", "nocturn-tool"):
            thread.join(30)
            assert not thread.is_alive()
    assert "Traceback" not in caplog.text


def chunked(*chunks, kind="application/json", status=200, wait=None):
    """Sends chunks, the last one again and again where it is to wait for nobody to read on."""

    def answer(handler, server):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for chunk in chunks:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if wait is not None and server.release.wait(wait):
                return
        handler.wfile.write(b"0\r\n\r\n")

    return answer


def events(*told, done=True):
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in told]
    return b"".join(b"data: %s\n\n" % each for each in [*lines, *[b"[DONE]"] * done])


def delta(**said):
    return {"choices": [{"delta": said}]}


def whole(message, **choice):
    return {"choices": [{"message": message, **choice}]}


MANY = [
    {"id": f"c{at}", "function": {"name": "add", "arguments": '{"a":1,"b":2}'}} for at in range(129)
]
NO_ANSWERS = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"\xff\xfe",
    b"<html><body>Welcome to nginx</body></html>",
    b'{"choices": [{"message": {"content": "cut o',
    b"[" * 100_000,
    b"1" * 5_000,
    {},
    {"error": {"message": "you are out of tokens"}},
    {"error": 7},
    {"choices": None},
    {"choices": {}},
    {"choices": []},
    {"choices": [None]},
    {"choices": [{}]},
    {"choices": [{"message": "hello"}]},
    whole({}),
    whole({"content": None}),
    whole({"content": 7}),
    whole({"content": [7]}),
    whole({"content": [{"type": "image"}]}),
    whole({"tool_calls": {}}),
    whole({"tool_calls": [7]}),
    whole({"tool_calls": MANY}),
]
NO_STREAMS = [
    b"",
    b": hello\n\n",
    b"data: {\n\n",
    b"data\n\n\n",
    events(b"null"),
    events(b"<html>"),
    events({"error": {"message": "overloaded"}}),
    events({"choices": 7}),
    events({"choices": [7]}),
    events(delta(content=7)),
    events(delta(tool_calls=7)),
    events(delta(tool_calls=[7])),
    events(delta(tool_calls=[{"index": 0, "function": {"arguments": 7}}])),
    events(delta(tool_calls=[{"index": at} for at in range(129)])),
    events(delta(content="half a sen"), done=False),
    events(delta(role="assistant")),
]


def streamed(body):
    gathering = Gathering(len)
    gathering.feed(body)
    return gathering.body()


def test_an_answer_that_is_none_is_an_error_with_a_sentence(agent, model_server, says):
    for body in NO_ANSWERS:
        with pytest.raises(ModelError) as caught:
            reply_of(parsed(body) if isinstance(body, bytes) else body)
        assert 10 < len(caught.value.message.rstrip(": ")) == len(caught.value.message) < 600, body
    for body in NO_STREAMS:
        with pytest.raises(ModelError) as caught:
            reply_of(streamed(body))
        assert 10 < len(caught.value.message.rstrip(": ")) == len(caught.value.message) < 600, body
    events_of = {"kind": "text/event-stream; charset=utf-8"}
    for answer in (
        *(says.raw(NO_ANSWERS[at]) for at in (0, 5, 7, 14)),
        *(says.raw(NO_STREAMS[at], **events_of) for at in (0, 5, 6, 14)),
    ):
        server = model_server(answer)
        result = agent.run(server.options(retries=0, stream=True), "hello")
        assert (result.status, result.turns, len(server.requests)) == ("error", 0, 1)
        assert result.error


def test_an_answer_that_is_bare_or_odd_is_taken(agent, model_server, says):
    typed = [{"type": "text", "text": "he"}, {"type": "image"}, {"type": "text", "text": "llo"}]
    streamed = events(
        delta(content="he"),
        {"choices": []},
        delta(content="llo"),
        {"usage": {"prompt_tokens": "x"}},
    )
    cut_anywhere = [bytes([each]) for each in streamed.replace(b"\n", b"\r\n")]
    for answer in (
        says.raw(whole({"content": "hello"})),
        says.raw(
            whole({"content": typed, "role": 7, "tool_calls": []}, finish_reason=[7], index="x")
        ),
        says.raw(whole({"refusal": "hello"}) | {"usage": {"prompt_tokens": -1}}),
        says.raw(chunked(*cut_anywhere, kind="text/event-stream")),
        says.raw(
            events(delta(content="hello")) + b"data: after the end\n\n", kind="text/event-stream"
        ),
    ):
        result = agent.run(model_server(answer).options(stream=True), "hello")
        assert (result.status, result.text) == ("done", "hello")
        assert result.usage.input_tokens == 0


def test_a_call_that_is_none_is_told_to_the_model_which_goes_on(agent, model_server):
    odd = [
        ({"function": {"name": "add", "arguments": "{not json"}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": "[1]"}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": '{"a": NaN, "b": 1}'}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": '{"a": 1e999, "b": 1}'}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": "[" * 5_000}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": 7}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add"}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "add", "arguments": '{"a": "\ud800", "b": 1}'}}, "BAD_ARGUMENTS"),
        ({"function": {"name": "no\x1b\ud800such" * 99}}, "UNKNOWN_TOOL"),
        ({"function": {"name": 7}}, "UNKNOWN_TOOL"),
        ({"function": 7}, "UNKNOWN_TOOL"),
        ({}, "UNKNOWN_TOOL"),
        ({"id": "x" * 1_000, "function": {"name": "add", "arguments": {"a": 1, "b": 2}}}, "3"),
        ({"id": 7, "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}, "3"),
        ({"id": "c", "function": {"name": "add", "arguments": '{"a": 1, "b": 3}'}}, "4"),
        ({"id": "c", "function": {"name": "add", "arguments": '{"a": 1, "b": 4}'}}, "5"),
    ]
    calls = [call for call, _ in odd]
    server = model_server({"tool_calls": calls + MANY[:30]}, {"content": "sorry"})
    result = agent.run(server.options(), "hello")
    assert (result.status, len(result.calls)) == ("done", len(calls) + 30)
    answers = [each["content"] for each in server.requests[1]["messages"] if each["role"] == "tool"]
    for answer, (call, expected) in zip(answers, odd, strict=False):
        assert answer.startswith(expected), call
    assert "Infinity" not in str(server.requests[1])  # no JSON, which a stricter server refuses
    assert [each[:5] for each in answers[CALLS_MADE:]] == ["LIMIT"] * (len(answers) - CALLS_MADE)
    assert "\x1b" not in str(answers)


def test_calls_in_fragments_are_put_together(agent, model_server, says):
    fragments = [
        {"index": 1, "id": "b", "function": {"name": "add", "arguments": '{"a":'}},
        {"index": 0, "id": "a", "function": {"name": "add", "arguments": ""}},
        {"index": 1, "function": {"arguments": '1,"b":1}'}},
        {"index": 0, "id": "", "function": {"name": None, "arguments": '{"a":2,"b":2}'}},
        {"id": "c", "function": {"name": "add", "arguments": '{"a":3,'}},
        {"function": {"arguments": '"b":3}'}},
        {"index": -1, "id": "d", "function": {"name": "add", "arguments": '{"a":4,"b":4}'}},
    ]
    streamed = events(*(delta(tool_calls=[each]) for each in fragments))
    server = model_server(says.raw(streamed, kind="text/event-stream"), {"content": "done"})
    assert agent.run(server.options(stream=True), "hello").status == "done"
    told = {
        each["tool_call_id"]: each["content"]
        for each in server.requests[1]["messages"]
        if each["role"] == "tool"
    }
    assert told == {"b": "2", "a": "4", "c": "6", "d": "8"}


def test_calls_without_end_end_with_the_turns_and_so_does_a_model_that_stops_short(
    agent, model_server, says
):
    server = model_server(says.call("add", {"a": 1, "b": 2}))
    result = agent.run(server.options(max_turns=3), "hello")
    assert (result.status, result.turns, len(result.calls)) == ("incomplete", 3, 3)
    assert "3" in result.error
    for why in ("length", "content_filter"):
        cut = whole({**says.call("add", '{"a": 1, "b'), "content": "I will"}, finish_reason=why)
        server = model_server(says.raw(cut))
        result = agent.run(server.options(), "hello")
        assert (result.status, result.text, result.calls) == ("incomplete", "I will", ())


def test_an_answer_of_forty_megabytes_is_cut_off_while_it_is_read(agent, model_server, says):
    bomb = gzip.compress(MEGABYTE * 8)
    for answer in (
        chunked(*[MEGABYTE] * 40),
        chunked(b"data: ", *[MEGABYTE] * 40, kind="text/event-stream"),
    ):
        result = agent.run(model_server(says.raw(answer)).options(stream=True), "hello")
        assert (result.status, f"{ANSWER_BYTES:,}" in result.error) == ("error", True)
    for answer in (
        says.raw(bomb, Content_Encoding="gzip"),
        says.raw(chunked(*[MEGABYTE] * 40, status=400)),
    ):
        server = model_server(answer)
        assert agent.run(server.options(), "hello").status == "error"
        assert len(server.requests) == 1


def test_a_word_without_end_is_told_in_time_that_grows_with_it(agent, model_server, says):
    told = []
    answer = events(delta(content="x" * 1_000_000 + " "))  # it took 43 s to find where it ends
    server = model_server(says.raw(answer, kind="text/event-stream"))
    result = agent.run(server.options(stream=True, on_event=told.append), "hello")
    assert (result.status, len(told[0].text)) == ("done", 1_000_000 + 1)


def test_a_stall_or_a_slow_drip_ends_with_the_deadline(agent, model_server, says):
    word = events(delta(content="and "), done=False)
    for answer in (
        lambda _, server: server.release.wait(30),
        chunked(b" ", wait=30),
        chunked(*[b" "] * 1_000, wait=0.03),
        chunked(*[word] * 1_000, kind="text/event-stream", wait=0.03),
        chunked(*[b" "] * 1_000, status=503, wait=0.03),
    ):
        server = model_server(says.raw(answer))
        result = agent.run(server.options(deadline_seconds=0.3, stream=True), "hello")
        assert result.status == "timeout"


def test_a_connection_that_breaks_is_tried_again_and_a_second_voice_is_not_heard(
    agent, model_server, says
):
    def breaks(handler, _):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
        handler.connection.shutdown(2)

    told = []
    half = says.raw(events(delta(content="half a"), done=False), kind="text/event-stream")
    server = model_server(says.raw(breaks), half, {"content": "whole"})
    result = agent.run(server.options(stream=True, on_event=told.append), "hello")
    assert (result.status, result.text, len(server.requests)) == ("done", "whole", 3)
    assert [type(each).__name__ for each in told] == [
        *("Retrying", "TextDelta", "Retrying"),
        *("TextDelta", "Done"),
    ]

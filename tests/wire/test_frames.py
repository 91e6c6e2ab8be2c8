"""The host's frame reader is fed by an attacker."""

import contextlib
import os
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.wire import codec
from nocturn.wire.frames import Channel, WireError


def channel_over(data, frame_bytes=1000):
    """A channel that reads exactly `data`, then the end."""
    read_fd, write_fd = os.pipe()
    feeder = threading.Thread(target=lambda: (os.write(write_fd, data), os.close(write_fd)))
    feeder.start()
    feeder.join()
    return Channel(read_fd, read_fd, frame_bytes), read_fd


@given(st.lists(st.binary(max_size=300), max_size=8))
def test_frames_come_back_as_they_were_written_and_then_the_end(payloads):
    data = b"".join(len(p).to_bytes(4, "big") + p for p in payloads)
    channel, fd = channel_over(data)
    assert [channel.read() for _ in payloads] == payloads
    assert channel.read() is None
    os.close(fd)


@given(st.binary(max_size=400))
def test_any_bytes_are_frames_or_an_end_or_a_wire_error_and_nothing_else(data):
    channel, fd = channel_over(data)
    try:
        while (payload := channel.read()) is not None:
            with contextlib.suppress(WireError):
                assert isinstance(codec.decode(payload), dict)
    except WireError:
        pass
    os.close(fd)


def test_a_frame_of_four_gigabytes_is_refused_from_its_header():
    channel, fd = channel_over(b"\xff\xff\xff\xff")
    with pytest.raises(WireError):
        channel.read()
    os.close(fd)


def test_a_frame_at_the_limit_passes_and_one_byte_more_does_not():
    channel, fd = channel_over((1000).to_bytes(4, "big") + b"x" * 1000)
    assert channel.read() == b"x" * 1000
    os.close(fd)
    channel, fd = channel_over((1001).to_bytes(4, "big") + b"x" * 1001)
    with pytest.raises(WireError):
        channel.read()
    os.close(fd)


def test_a_large_frame_is_written_whole_through_a_small_socket_buffer():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        payload = os.urandom(1_000_000)
        writer = threading.Thread(
            target=Channel(ours.fileno(), ours.fileno(), 1).write, args=(payload,)
        )
        writer.start()
        assert Channel(theirs.fileno(), theirs.fileno(), 1_000_000).read() == payload
        writer.join()


def test_writing_to_an_end_that_is_gone_says_so():
    ours, theirs = socket.socketpair()
    theirs.close()
    assert Channel(ours.fileno(), ours.fileno(), 1).write(b"x") is False
    ours.close()


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"nonsense",
        b"[]",
        b"1",
        b'"text"',
        b"\xff\xfe",
        b"[" * 60_000,
        b'{"a":' * 60_000,
        b'{"x":' + b"[" * 400 + b"]" * 400 + b"}",
        b'{"n":' + b"9" * 5_000 + b"}",
    ],
)
def test_what_is_no_shallow_json_object_is_a_wire_error(payload):
    with pytest.raises(WireError):
        codec.decode(payload)


def test_brackets_within_strings_are_text_not_depth():
    assert codec.decode(b'{"a":"' + b"[" * 60_000 + b'"}') == {"a": "[" * 60_000}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_what_is_exact_comes_back_as_it_was(value):
    codec.require_exact(value)
    assert codec.decode(codec.encode({"value": value}).encode()) == {"value": value}


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (2**53, "value"),
        ([1, -(2**53)], "value[1]"),
        ({"a": float("nan")}, "value.a"),
        (float("inf"), "value"),
        ({"a": [{1: 2}]}, "value.a[0]"),
        ({"a": b"x"}, "value.a"),
        ([object()], "value[0]"),
    ],
)
def test_what_javascript_cannot_hold_is_refused_and_the_place_is_named(value, place):
    with pytest.raises(codec.NotSendableError) as refused:
        codec.require_exact(value)
    assert str(refused.value).startswith(place + " ")


def test_a_value_that_holds_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(codec.NotSendableError):
        codec.require_exact(value)

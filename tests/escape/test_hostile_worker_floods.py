"""A worker, a real process, that sends without end and reads nothing: only its kill stops it."""

# ruff: noqa: E501 - programs in strings

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from nocturn import Limits
from nocturn.host.crew import Crew
from nocturn.host.execution import Execution
from nocturn.host.process import Worker
from nocturn.host.program import Program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the wire is a socket pair")

# What each of them finds defined: it has said that it is ready, and reads only where it says so.
BEGIN = """
import os, struct
def framed(payload):
    return struct.pack(">I", len(payload)) + payload
def flood(data):
    while True:
        view = memoryview(data)
        while view:
            view = view[os.write(0, view):]
os.write(0, framed(b'{"type":"ready","level":"full","steps":{}}'))
"""
FLOODS = {
    "calls": """flood(framed(b'{"type":"call","tool":"t","args":{}}') * 1000)""",
    "calls with a megabyte each": (
        """flood(framed(b'{"type":"call","tool":"t","args":{"a":"' + b"x" * 1000000 + b'"}}'))"""
    ),
    "calls with a million lists each": (
        """flood(framed(b'{"type":"call","tool":"t","args":[' + b"[]," * 300000 + b'0]}'))"""
    ),
    "calls with a long name each": (
        """flood(framed(b'{"type":"call","tool":"' + b"t" * 1000000 + b'","args":{}}'))"""
    ),
    "calls that are too large": """flood(framed(b'{"type":"call","tool":"t","size":9}') * 1000)""",
    "empty lines": """flood(framed(b'{"type":"console","level":"log","text":""}') * 1000)""",
    "lines": """flood(framed(b'{"type":"console","level":"log","text":"xx"}') * 1000)""",
    "lines and calls": (
        """flood((framed(b'{"type":"call","tool":"t","args":{}}')"""
        """ + framed(b'{"type":"console","level":"log","text":""}')) * 1000)"""
    ),
    "garbage": """flood(bytes(range(256)) * 1000)""",
    "zeros": """flood(bytes(100000))""",
    "a frame that never ends": """os.write(0, struct.pack(">I", 6000000)); flood(b"x")""",
    "a header and nothing": """os.write(0, struct.pack(">I", 9)); os.read(0, 0) or __import__('signal').pause()""",
    "replies to nothing": """flood(framed(b'{"value":1}') * 1000)""",
    "ready, again and again": """flood(framed(b'{"type":"ready","level":"full","steps":{}}'))""",
}


class OneWorker:
    """A pool with one worker in it: a process that runs a program of the test's."""

    def __init__(self, program):
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", BEGIN + program],
                stdin=theirs,
                stderr=subprocess.DEVNULL,
            )
        self.fd = ours.detach()
        self.worker = None
        self.crew = Crew()

    def take(self, limits, _ticket):
        self.worker = Worker(self.process.pid, self.fd, limits.frame_bytes, self._ended)
        return self.worker

    def give_back(self, worker):
        worker.kill()

    def reap(self, worker):
        return worker.reap()

    def _ended(self):
        return max(0, -self.process.wait()), 0.0


def exchange_threads():
    return [each for each in threading.enumerate() if each.name == "nocturn-run"]


@pytest.fixture
def flooded():
    """Runs a program against the host; afterwards process, thread and descriptor must be gone."""

    def run(program, limits, dispatch=lambda _: "x" * 10_000, **options):
        pool = OneWorker(program)

        def answer(call):
            call.reply = json.dumps(dispatch(call))

        result = Execution(Program("1", "x.js"), (), limits, "full", pool, **options).run(answer)
        pool.crew.close()
        assert pool.reap(pool.worker) in (signal.SIGKILL, signal.SIGPIPE, 0)
        for thread in exchange_threads():
            thread.join(10)
        assert exchange_threads() == []
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(pool.fd)
        return result

    return run


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_ends_at_the_deadline_or_before(flooded, kind):
    limits = Limits(wall_seconds=0.3, console_bytes=100_000)
    result = flooded(FLOODS[kind], limits)
    assert result.status in ("time_limit", "output_limit", "worker_died")
    assert len(result.calls) <= limits.calls + 1
    assert len(result.console) <= limits.console_bytes
    assert sum(len(call.tool) for call in result.calls) <= 4096 * len(result.calls)


def test_a_flood_of_calls_is_told_up_to_the_limit_only(flooded):
    told = []
    result = flooded(
        "import threading\n"
        "def hear():\n    while os.read(0, 65536): pass\n"
        "threading.Thread(target=hear, daemon=True).start()\n" + FLOODS["calls"],
        Limits(wall_seconds=0.3, calls=20),
        on_call=told.append,
    )
    assert result.status == "time_limit"
    assert result.usage.calls > 21
    assert [call.code for call in result.calls] == [None] * 20 + ["LIMIT"]
    assert len(told) == 21


def test_a_worker_that_kills_itself_is_said_to_have_died(flooded):
    result = flooded("os.read(0, 65536); os.kill(os.getpid(), 9)", Limits(wall_seconds=5))
    assert result.status == "worker_died"
    assert "signal 9" in result.error.message


def test_a_worker_that_closes_its_end_and_lives_on_is_ended(flooded):
    result = flooded("import signal; os.close(0); signal.pause()", Limits(wall_seconds=5))
    assert result.status == "worker_died"


def test_a_worker_that_hears_and_says_nothing_is_ended_when_the_run_is_cancelled():
    pool = OneWorker("import signal; signal.pause()")
    execution = Execution(Program("1", "x.js"), (), Limits(wall_seconds=60), "full", pool)
    results = []
    waiting = threading.Thread(target=lambda: results.append(execution.run(lambda _: None)))
    waiting.start()
    execution.cancel()
    waiting.join(10)
    assert [result.status for result in results] == ["cancelled"]
    assert pool.reap(pool.worker) == signal.SIGKILL
    pool.crew.close()
    for thread in exchange_threads():
        thread.join(10)
    assert exchange_threads() == []

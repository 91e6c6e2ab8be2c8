"""The engine by itself: with its C functions, without them, and when it is not what it seems."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.host.location import Locator
from nocturn.host.process import quickjs
from nocturn.host.program import Program

ROOT = Path(__file__).resolve().parents[2]

ENGINE = """
import json, sys
sys.path[:0] = sys.argv[3:]
from nocturn.worker import engine, native

{first}

class Lines:
    def exchange(self, text):
        return '{{"value":1}}'
    def receive_text(self):
        return '{{"id":1,"value":"reply"}}'
    def receive_within(self, milliseconds):
        return "" if milliseconds is not None else self.receive_text()
    def send(self, text):
        pass

made = engine.load(sys.argv[1], Lines())
made.warm_up()
start = dict(source=sys.argv[2], name="t.js", modules={{}}, args=[], ceiling=10**6,
             console_bytes=1000, calls_in_flight=4, seed=[1, 2, 3, 4])
print(made.run(json.dumps(start), 1 << 26))
"""
WITHOUT = "engine.native_of = lambda *_: None"


def run(source, first=""):
    files, script = quickjs(), ENGINE.format(first=first)
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, files.file, source, str(ROOT), *files.folders],
        capture_output=True,
        check=False,
    )
    return told.returncode, told.stdout.decode(), told.stderr.decode()


@pytest.mark.parametrize("first", ["", WITHOUT], ids=["with", "without"])
def test_a_plain_script_runs_with_its_promises_timers_and_calls(first):
    _, told, _ = run(
        "var a = nocturn.call('t'); nocturn.callAsync('t').then(x =>"
        " new Promise(f => setTimeout(f, 1, [x, a, this === globalThis])))",
        first,
    )
    assert json.loads(told)["value"] == ["reply", 1, True]


@pytest.mark.parametrize("first", ["", WITHOUT], ids=["with", "without"])
def test_an_error_is_on_its_line(first):
    done = json.loads(run("\n\n\nnull.x", first)[1])
    error = Locator(Program("\n\n\nnull.x", "t.js"), done.get("lead", 0)).locate(done["error"])
    assert (error.file, error.line, error.source_line) == ("t.js", 4, "null.x")


def test_where_the_functions_are_missing_await_says_so():
    for source in ("\nawait 1", "import x from 'nocturn'", "export default 1"):
        assert "platform" in json.loads(run(source, WITHOUT)[1])["error"]["message"]
    assert "platform" not in json.loads(run("let = 5 5", WITHOUT)[1])["error"]["message"]


@pytest.mark.parametrize(
    "lie",
    [
        'native._VERSION = b"0.99."',
        "native.ctypes.sizeof = lambda kind: 4",
        "native.TAG_INT = 5",
    ],
    ids=["another version", "another size", "another tag"],
)
def test_an_engine_that_is_not_the_one_that_was_measured_runs_nothing(lie):
    status, told, trouble = run("1", lie)
    assert (status, told) == (1, "")
    assert "UnfitEngineError" in trouble

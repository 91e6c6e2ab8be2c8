"""A session's lines in the engine itself: what they may declare, and what a guest does to them."""

# ruff: noqa: E501 - lines of JavaScript

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.host.process import quickjs

ROOT = Path(__file__).resolve().parents[2]

SESSION = """
import json, sys
sys.path[:0] = sys.argv[3:]
from nocturn.worker import engine

class Lines:
    def exchange(self, text):
        return '{"value":1}'
    def receive_text(self):
        return '{"id":1,"value":"reply"}'
    def receive_within(self, milliseconds):
        return "" if milliseconds is not None else self.receive_text()
    def send(self, text):
        pass

if sys.argv[1] == "without":
    engine.native_of = lambda *_: None
made = engine.load(sys.argv[2], Lines())
made.warm_up()
made.open_session()
for what in json.load(sys.stdin):
    if isinstance(what, list):
        print(made.ask(what[0]))
        continue
    start = dict(source=what, name="<repl>", modules={}, args=[], ceiling=10**6,
                 console_bytes=1000, calls_in_flight=4, seed=[1, 2, 3, 4])
    print(made.run(json.dumps(start), 1 << 27))
"""


def session(*lines, engine="with"):
    """Returns what each came to: a line's done frame; a question's answer, if it stands in a list."""
    files = quickjs()
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SESSION, engine, files.file, str(ROOT), *files.folders],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return [json.loads(each) for each in told.stdout.splitlines()]


def brief(done):
    """Returns its value, or its error's name."""
    return done["value"] if done["status"] == "ok" else done["error"]["name"]


def briefs(*lines):
    return [brief(each) for each in session(*lines)]


def test_a_name_whose_value_failed_is_nobodys_value():
    failed, read, rows, path, names, again = session(
        "const made = (() => { throw new Error('no') })()",
        "made",
        ["vars"],
        ["complete made."],
        ["complete mad"],
        "class made {}; typeof made",
    )
    assert (brief(failed), brief(read)) == ("Error", "ReferenceError")
    assert (rows, path, names, again["value"]) == ([], [], ["made"], "function")


def test_a_line_that_cannot_begin_has_taken_nothing_away():
    told = briefs(
        "const a = 1; let b = 2; var c = 3; const keep = () => [a, b]",
        "const b = 5; let a = 4, c = 6",
        "[a, b, c, keep()]",
        "const b = 5; let a = 4; [a, b, c, keep()]",
    )
    assert told == [None, "SyntaxError", [1, 2, 3, [1, 2]], [4, 5, 3, [4, 5]]]


def test_what_var_has_declared_is_refused_in_words_that_say_so():
    *_, refused, kept = session("var a = 1", "let a = 2", "a")
    assert refused["error"]["name"] == "SyntaxError"
    assert "var or function" in refused["error"]["message"]
    assert kept["value"] == 1


def test_every_last_value_has_a_next():
    assert json.dumps(briefs("NaN", "_", "-0", "_", "null", "_", "5", "_")) == (
        "[NaN, NaN, -0.0, -0.0, null, null, 5, 5]"
    )
    assert briefs("globalThis._ = 'mine'; 1", "2", "_") == [1, 2, "mine"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("{a: 1}", {"a": 1}),
        ("{a: 1, b: {c: 2}} // an object", {"a": 1, "b": {"c": 2}}),
        ("{a: 1}; 2", 2),
        ("{ const inner = 1; inner }", 1),
        ("{a: 1}), (2", "SyntaxError"),
        ("{a: 1}], [2", "SyntaxError"),
        ("#!/usr/bin/env nocturn\n1 + 1", 2),
        ("'use strict'; undeclared = 1", "ReferenceError"),
        ('// said\n/* or * not */ "use strict"\nundeclared = 1', "ReferenceError"),
        ("'use strict' + 1; sloppy = 1", 1),
        ("`use strict`; sloppy = 1", 1),
        ("import all from 'nocturn'; export default typeof all.call", "function"),
    ],
)
def test_a_line_is_what_it_looks_like(line, value):
    assert briefs(line) == [value]


def test_a_rejection_of_an_earlier_line_is_told_of_in_the_line_where_it_happens():
    first, second, third = session(
        "let fail; await new Promise((_, reject) => { fail = reject })",
        "fail(new Error('late')); 1",
        "2",
    )
    assert (first["status"], second["value"], third["value"]) == ("never_settles", 1, 2)
    assert [each["message"] for each in second["unhandled"]] == ["late"]
    assert "unhandled" not in third


def test_no_global_of_the_guests_is_asked():
    told = session(
        "globalThis = {}; Math = null; Object = null; SyntaxError.prototype.name = 'mine'; const a = 1",
        "const a = 2; a",
        "Object.prototype; 1",
        ["complete a"],
        "for (const key of Reflect.ownKeys(this)) { try { delete this[key] } catch {} } 3",
        "[a]",
        ["vars"],
    )
    assert (told[1]["value"], told[3][0], told[4]["value"], told[5]["value"]) == (2, "a", 3, [2])
    assert [each["name"] for each in told[6]] == ["a"]


def test_questions_about_what_is_large_are_answered_with_little():
    *_, rows, of_list, of_many, of_words, shown = session(
        "const list = Array(2e5).fill(1), words = 'x'.repeat(1e6), many = {}",
        f"for (let i = 0; i < 5000; i += 1) many['k' + i] = {{i}}; const {'long' * 500} = list; 0",
        ["vars"],
        ["complete list."],
        ["complete many."],
        ["complete words.pad"],
        "[list, list, list]",
    )
    assert all(len(each["name"]) <= 201 and len(each["shown"]) <= 200 for each in rows)
    assert {"length", "map"} <= set(of_list)
    assert "0" not in of_list
    assert len(of_many) == 1000
    assert sorted(of_words) == ["padEnd", "padStart"]
    assert (shown["value"], len(shown["shown"]) < 9000) == (None, True)


def test_a_script_of_many_constants_is_loaded_again():
    script = "".join(f"const n{i} = {i};\n" for i in range(1200))
    assert briefs(script, script + "n1199") == [None, 1199]


def test_a_text_that_goes_on_is_told_from_one_that_is_wrong():
    goes_on = (
        *(
            "{a: 1, b: 2",
            "{a() {",
            "const {a,",
            "const {a = 1,",
            "let [a, {b:",
            "f([a, {b: [",
            "const x = {a,",
        ),
        *("import {", "export const a = {", "'é' +", "a\r\n+", "// {\n["),
    )
    is_whole_or_wrong = (
        *("{a: 1, b: 2}", "{a b}", "{a: 1, b: 2} x", "const {a b", "const {a} 5", "'éééé' b"),
        *("import a from 'nocturn'", "import a from 'nowhere'", "1\rb c", "{ break }", "[1]  \n\n"),
    )
    assert session(*([f"unfinished {each}"] for each in goes_on)) == [True] * len(goes_on)
    told = session(*([f"unfinished {each}"] for each in is_whole_or_wrong))
    assert told == [False] * len(is_whole_or_wrong)


def test_where_the_functions_are_missing_the_loss_of_a_constant_is_said():
    lost, kept, last = session("const a = 1; var b = 2; a", "a", "[b, _]", engine="without")[0:3]
    assert brief(lost) == 1
    assert "only var and function" in kept["error"]["message"]
    assert brief(last) == [2, 1]

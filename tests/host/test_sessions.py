from __future__ import annotations

import threading

import pytest

from nocturn import ConfigurationError, Limits, Workspace, tool
from nocturn.errors import LEAK_BLOCKED, UNKNOWN_TOOL

LIMITS = Limits(wall_seconds=20, cpu_seconds=20, console_bytes=10_000)
SHORT = Limits(wall_seconds=0.4)


@tool(axis="read", effects="ungated")
def echo(text: str) -> str:
    """Returns it."""
    return text


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("sessions") / "ws", tools=[echo], limits=LIMITS) as ws:
        yield ws


@pytest.fixture
def session(ws):
    with ws.session(mode="watched") as session:
        yield session


def values(session, *lines):
    return [session.eval(line).raise_for_error().value for line in lines]


def test_g26_what_is_declared_lives_on_and_may_be_declared_again(session):
    lines = [
        "const q = 1",
        "const q = 2; q",
        "let q = 3; q",
        "class q {}; typeof q",
        "var r = 4; r",
    ]
    assert values(session, *lines) == [None, 2, 3, "function", 4]
    assert values(session, "const v = await Promise.resolve(7)", "v") == [None, 7]
    assert values(session, "const f = () => v", "const v = 8", "f()") == [None, None, 8]
    assert values(session, "function g() { return 1 } function g() { return 2 }", "g()") == [
        None,
        2,
    ]


def test_a_constant_is_one_and_a_name_whose_value_failed_is_free(session):
    values(session, "const a = 1")
    result = session.eval("a = 2")
    assert (result.status, result.error.name, result.rolled_back) == (
        "guest_error",
        "TypeError",
        False,
    )
    assert session.eval("const b = (() => { throw new Error('no') })()").status == "guest_error"
    assert values(session, "const b = 5; a + b") == [6]


def test_a_line_cannot_pass_for_one_that_has_not_begun(session):
    values(session, "const q = 1; let runs = 0")
    assert (
        session.eval("runs += 1; throw new SyntaxError(\"redeclaration of 'q'\")").error.name
        == "SyntaxError"
    )
    assert values(session, "[runs, q]") == [[1, 1]]


def test_a_line_that_has_to_be_ended_is_taken_back(session):
    values(session, "let x = 1", "const a = {b: [1, 2]}")
    for line, status in {
        "x = 2; const big = []; for (;;) big.push(new Array(1e4).fill(7))": "memory_limit",
        "x = 2; for (;;) console.log('much')": "output_limit",
    }.items():
        result = session.eval(line)
        assert (result.status, result.rolled_back) == (status, True)
        assert "as it was before this line" in result.error.message
        assert values(session, "[x, a.b]") == [[1, [1, 2]]]


def test_a_line_that_runs_out_of_time_is_taken_back_and_the_notes_it_wrote_stay(ws):
    with ws.session(mode="watched", limits=SHORT) as session:
        values(session, "let x = 1; const a = 1")
        for line in ("for (;;);", "new Array(1e9) + ''", "(async () => { for (;;) await null })()"):
            result = session.eval(f"x += 1; nocturn.memory.write('kept.md', 's', `${{x}}`); {line}")
            assert (result.status, result.rolled_back) == ("time_limit", True)
            assert values(session, "[x, a]") == [[1, 1]]
    assert ws.memory.read("kept.md").endswith("2")


def test_an_error_takes_nothing_back_nor_does_what_never_settles(session):
    assert session.eval("let x = 1; x = 2; nope").status == "guest_error"
    assert session.eval("x = 3; await new Promise(() => {})").status == "never_settles"
    assert values(session, "x") == [3]


def test_g21_what_exhausts_the_stack_can_be_caught_and_the_session_goes_on(session):
    caught = "try {{ {} }} catch (e) {{ e instanceof RangeError }}"
    deep = [
        "(function f() { return f() })()",
        "(0, eval)('('.repeat(2e5) + '1' + ')'.repeat(2e5))",
        "JSON.parse('['.repeat(2e5))",
    ]
    lines = [caught.format(each) for each in deep]
    assert values(session, "let x = 1", *lines, "x") == [None, True, True, True, 1]


def test_the_last_value_is_at_hand_until_the_name_is_taken(session):
    assert values(session, "6 * 7", "_ + 1", "undefined", "_") == [42, 43, None, 43]
    assert values(session, "const mine = _", "let _ = mine + 1", "5", "_") == [None, None, 5, 44]


def test_what_does_not_cross_is_shown_and_is_no_error(session):
    shown = {
        "() => 1": "[Function (anonymous)]",
        "const c = {}; c.c = c; c": "<ref *1> { c: [Circular *1] }",
        "Symbol('q')": "Symbol(q)",
        "({a: 1, get b() { for (;;); }})": "{ a: 1, b: [Getter] }",
        "'text'": "'text'",
        "undefined": None,
        "{a: 1}": "{ a: 1 }",
        "[new Map([[1, {x: 2}]]), -0, 10n]": "[ Map(1) { 1 => { x: 2 } }, -0, 10n ]",
    }
    for line, text in shown.items():
        result = session.eval(line)
        assert (result.status, result.shown) == ("ok", text), line


def test_errors_stand_where_the_line_has_them(session):
    result = session.eval("const fine = 1\nfine.nope.nope", filename="mine.js")
    assert (result.error.file, result.error.line, result.error.source_line) == (
        "mine.js",
        2,
        "fine.nope.nope",
    )
    result = session.eval("{ nope")
    assert (result.error.file, result.error.line, result.error.name) == ("<repl>", 1, "SyntaxError")
    assert session.eval("'use strict'; undeclared = 1").error.name == "ReferenceError"


def test_each_line_has_limits_and_numbers_of_its_own(session):
    first = session.eval(
        "echo = n => nocturn.call('echo', {text: n}); echo('a'); console.log('x'); 1"
    )
    second = session.eval("1")
    assert (len(first.calls), len(second.calls), second.console) == (1, 0, ())
    assert first.run != second.run
    for _ in range(3):  # 4,000 of 10,000 bytes each
        session.eval("console.log('x'.repeat(4000))").raise_for_error()


def test_a_rejection_is_told_of_in_its_line(session):
    result = session.eval("Promise.reject(new Error('lost')); 5")
    assert (result.value, [each.message for each in result.unhandled_rejections]) == (5, ["lost"])
    assert session.eval("1").unhandled_rejections == ()


def test_what_a_line_leaves_open_ends_with_it(session):
    assert values(session, "let ticks = 0; setTimeout(() => { ticks += 1 }, 5); 0", "ticks") == [
        0,
        1,
    ]
    ended = session.eval(
        "setInterval(() => { ticks += 1; if (ticks > 3) throw new Error('enough') }, 1)"
    )
    assert ended.status == "guest_error"
    assert values(session, "const then = ticks", "await null; ticks === then") == [None, True]


def test_a_call_under_way_comes_back_in_the_line_that_failed(session):
    result = session.eval("nocturn.callAsync('echo', {text: 'a'}).then(console.log); nope")
    assert (result.status, len(result.calls)) == ("guest_error", 1)
    assert values(session, "await nocturn.callAsync('echo', {text: 'b'})") == ["b"]


def test_a_line_that_has_failed_begins_no_more_calls(session):
    result = session.eval(
        "const go = () => nocturn.callAsync('echo', {text: 'a'}).then(go, go); go(); nope"
    )
    assert (result.status, result.error.name, len(result.calls)) == (
        "guest_error",
        "ReferenceError",
        1,
    )
    assert values(session, "await nocturn.callAsync('echo', {text: 'b'})") == ["b"]


def test_a_line_that_leaves_no_room_for_the_next_is_taken_back(ws):
    filling = "for (;;) kept.push({})"
    with ws.session(limits=Limits(wall_seconds=20, heap_bytes=12 << 20)) as session:
        values(session, "let kept = []; for (let i = 0; i < 6e4; i += 1) kept.push({}); 0")
        for line in (filling, f"try {{ {filling} }} catch {{}} 'all is well'"):
            result = session.eval(line)
            assert (result.status, result.rolled_back) == ("memory_limit", True), line
        assert session.eval("throw null").status == "guest_error"
        assert session.eval("await new Promise(() => {})").status == "never_settles"
        assert values(session, "kept.length", "kept = null", "1") == [60_000, None, 1]


def test_a_line_that_fills_the_heap_with_what_nobody_writes_to_is_taken_back(ws):
    """The kernel does not count it: no page of an array buffer is there before it is touched."""
    filling = (
        "let kept = []; for (let size = 1 << 20; size >= 16; size >>= 1)"
        " try { for (;;) kept.push(new ArrayBuffer(size)) } catch {} 'all is well'"
    )
    with ws.session() as session:
        values(session, "const a = 1")
        result = session.eval(filling)
        assert (result.status, result.rolled_back) == ("memory_limit", True)
        assert result.usage.heap_bytes > 60_000_000
        assert values(session, "a + 1", "typeof kept") == [2, "undefined"]


def test_a_session_without_room_for_the_engine_says_that_memory_is_what_it_lacks(ws):
    with ws.session(limits=Limits(heap_bytes=300_000)) as session:
        result = session.eval("1")
        assert (result.status, result.rolled_back) == ("memory_limit", True)


def test_a_fork_goes_its_own_way_and_outlives_what_it_came_from(ws):
    with ws.session() as one:
        values(one, "const a = [1]")
        other, third = one.fork(), one.fork()
        assert values(one, "a.push(2)") == [2]
        assert values(other, "a.push(3, 4)") == [3]
        assert values(third, "a") == [[1]]
        assert other.eval("for (;;) console.log('much')").rolled_back
        assert values(other, "a") == [[1, 3, 4]]
    assert one.closed
    assert values(other, "a.length") == [3]
    other.close()
    assert values(third, "a.length") == [1]
    third.close()


def test_a_reset_begins_anew(session):
    values(session, "const a = 1; globalThis.b = 2")
    session.reset()
    assert values(session, "typeof a + typeof b", "const a = 2; a") == ["undefinedundefined", 2]
    assert session.lines == 2


def test_what_is_declared_is_told_in_order_and_no_getter_runs(session):
    values(
        session,
        "const a = 1; let b = 'x'; var c = [1]; function d() {} class E {}",
        "Object.defineProperty(globalThis, 'trap', {get() { for (;;); }, enumerable: true})",
        "let later = {get x() { for (;;); }}",
    )
    told = {each["name"]: (each["kind"], each["shown"]) for each in session.vars()}
    assert told == {
        "a": ("const", "1"),
        "b": ("let", "'x'"),
        "E": ("class", "[class E]"),
        "later": ("let", "{ x: [Getter] }"),
        "c": ("var", "[ 1 ]"),
        "d": ("function", "[Function: d]"),
    }


def test_names_are_completed_and_nothing_of_the_guests_runs(session):
    values(
        session,
        "const point = {alpha: {deep: 1}, get trap() { for (;;); }, 'not-a-name': 1}",
        "const proxy = new Proxy({}, {ownKeys() { for (;;); }, get() { for (;;); }})",
        "let text = 'x', child = Object.create(new Proxy({alpha: {}}, {}))",
    )
    assert session.complete("poi") == ["point"]
    assert session.complete("point.al") == ["alpha"]
    assert session.complete("foo(point.alpha.d") == ["deep"]
    assert session.complete("point.trap.") == []
    assert session.complete("proxy.") == session.complete("child.alpha.") == []
    assert "padStart" in session.complete("text.pad")
    assert "not-a-name" not in session.complete("point.")
    assert session.complete("nocturn.memory.wr") == ["write"]
    assert session.complete("nowhere.x") == []
    assert values(session, "typeof _") == ["undefined"]  # and nothing has changed


@pytest.mark.parametrize(
    ("text", "more"),
    [
        *(
            (each, True)
            for each in (
                "1 +",
                "{",
                "`abc",
                "/* x",
                "f(",
                "if (1) {",
                "a =>",
                "[1, 2",
                "`${",
                "f(\n // c",
                "x.",
                "do {}",
                "`a\n${1} b",
                "'é😀' + `a",
                "'é😀' +",
                "'a\\",
            )
        ),
        *(
            (each, False)
            for each in (
                "1",
                "",
                "'abc",
                "x = /a[b/",
                "1 2",
                "}",
                "const y",
                "f()",
                "`a\n`",
                "// c",
                "a ? 1 : 2;",
                "')'",
                "'é😀' 1",
                "'}",
            )
        ),
    ],
)
def test_a_text_that_wants_more_is_told_from_a_whole_and_from_a_wrong_one(session, text, more):
    assert session.unfinished(text) is more


def test_the_ends_of_statements_are_found_in_one_go_or_from_where_it_was_left(session):
    lines = ["a", "f(", "1", ")", "", "`", "`", "{", "}", "if (1) {"]
    assert session.ends(lines) == (10, [1, 4, 5, 7, 9])
    assert session.ends(lines[1:], 2) == (9, [3, 4, 6, 8])
    assert session.ends(["f("]) == (1, [])
    assert session.ends(["é", "'\ud800"], 0)[0] > 0


def test_many_lines_are_looked_at_as_far_as_the_time_goes(session):
    lines = ["function f() {", *["  g('one more of many', [1, 2, 3])"] * 1_200, "}"]
    seen, known, ends = [], 0, []
    while not ends:
        known, ends = session.ends(lines, known)
        seen.append(known)
    assert ends == [1_202]
    assert seen == sorted({*seen})


def test_what_the_guest_makes_of_the_language_changes_nothing_of_ours(session):
    values(
        session,
        "Object.prototype.toJSON = () => ({tool: 'x'}); Array.prototype[Symbol.iterator] = null; 1",
        "JSON.stringify = Reflect.ownKeys = null; RegExp.prototype.exec = () => null; 1",
        "Object.getOwnPropertyDescriptor = Promise.prototype.then = globalThis.console = null; 1",
    )
    assert values(session, "const a = {b: [1]}; a", "const a = 2; a") == [{"b": [1]}, 2]
    assert session.complete("Mat") == ["Math"]
    assert {"name": "a", "kind": "const", "type": "number", "shown": "2"} in session.vars()


def test_a_line_that_runs_is_cancelled_from_another_thread(ws):
    seen = threading.Event()
    with ws.session(
        on_console=lambda _: seen.set(), limits=Limits(wall_seconds=60, cpu_seconds=60)
    ) as session:
        values(session, "const a = 1")

        def cancel():
            seen.wait(60)
            session.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        result = session.eval("console.log('on'); for (;;);")
        thread.join()
        assert (result.status, result.rolled_back) == ("cancelled", True)
        assert values(session, "a") == [1]


def test_leaks_are_counted_over_all_of_a_session(tmp_path):
    class Source:
        def secrets(self):
            from nocturn.secret import Secret

            return [Secret("token", "kX9vQ2mZ7pLw4RtY8sBn")]

    with (
        Workspace(tmp_path / "ws", tools=[echo], secrets=[Source()]) as ws,
        ws.session() as session,
    ):
        leak = "nocturn.call('echo', {text: 'kX9vQ2mZ' + '7pLw4RtY8sBn'})"
        codes = [session.eval(leak).error.code for _ in range(3)]
        codes.append(session.eval("nocturn.call('echo', {text: 'harmless'})").error.code)
        assert codes == [LEAK_BLOCKED] * 4
        with ws.session() as another:
            assert values(another, "nocturn.call('echo', {text: 'harmless'})") == ["harmless"]


def test_the_tools_of_a_session_are_those_of_every_line(ws):
    with ws.session(tools=(each for each in ["echo"])) as session:
        assert values(session, *["nocturn.call('echo', {text: 'a'})"] * 2) == ["a", "a"]
        assert session.eval("nocturn.memory.list()").error.code == UNKNOWN_TOOL


@pytest.mark.parametrize(
    "given", [{"tools": ["ehco"]}, {"lang": "py"}, {"mode": "free"}, {"dry_run": 1}, {"limits": 5}]
)
def test_what_no_line_could_run_with_is_said_before_the_first(ws, given):
    with pytest.raises(ConfigurationError, match=next(iter(given))[:4]):
        ws.session(**given)


def test_a_closed_session_and_too_many_are_refused_in_words(ws):
    session = ws.session()
    session.close()
    with pytest.raises(ConfigurationError):
        session.eval("1")
    opened = []
    try:
        with pytest.raises(ConfigurationError):
            opened.extend(ws.session() for _ in range(100))
    finally:
        for each in opened:
            each.close()


def test_a_closed_workspace_has_ended_its_sessions(tmp_path):
    ws = Workspace(tmp_path / "ws")
    session = ws.session()
    values(session, "1")
    ws.close()
    assert session.closed

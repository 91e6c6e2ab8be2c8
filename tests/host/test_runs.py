"""Runs through the real worker: results, errors and limits. No tool is called here."""

import json
import threading

import pytest

from nocturn import ConfigurationError, Limits, RunFailed, RunResult, tool


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1+1", 2),
        ("'text'", "text"),
        ("undefined", None),
        ("null", None),
        ("true", True),
        ("2**53 + 2", 2**53 + 2),
        ("1.5", 1.5),
        ("1e300 * 10", 1e301),
        ("2n**70n", 2**70),
        ("'a\\u0000b'", "a\0b"),
        ("'\\ud800'", "\ud800"),
        ("'\U0001f469\u200d\U0001f467'", "\U0001f469\u200d\U0001f467"),
        ("let s=''; for (let i=0;i<1e5;i++) s+='ab'; s", "ab" * 100_000),
        ("[1,[2,[3]]]", [1, [2, [3]]]),
        ("({a:1,b:{c:'x'}})", {"a": 1, "b": {"c": "x"}}),
        ("({a:undefined,f(){},[Symbol('s')]:1})", {}),
        ("[undefined,,4]", [None, None, 4]),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Map([['a',1],[2,[3]]])", [["a", 1], [2, [3]]]),
        ("new Set([1,'x'])", [1, "x"]),
        ("new Uint8Array([1,2,255])", [1, 2, 255]),
        ("Object.assign(Object.create(null),{a:1})", {"a": 1}),
        ("class P { constructor(){ this.x = 1 } }; new P()", {"x": 1}),
        ("new TypeError('no')", {"name": "TypeError", "message": "no"}),
        ("Promise.resolve(Promise.resolve(5))", 5),
        ("(async () => { await null; return [1] })()", [1]),
        ("(function(){})", None),
    ],
)
def test_a_completion_value_crosses_as_the_table_says(ws, source, value):
    result = ws.run(source)
    assert (result.status, result.value) == ("ok", value)
    assert type(result.value) is type(value)


def test_numbers_that_json_cannot_say_cross_exactly(ws):
    minus_zero, nan, infinity, negative = ws.run("[-0,NaN,Infinity,-Infinity]").value
    assert str(minus_zero) == "-0.0"
    assert nan != nan  # noqa: PLR0124
    assert (infinity, negative) == (float("inf"), float("-inf"))


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("var c={};c.c=c;c", "value.c refers back"),
        ("var c={a:[1]};c.a.push({b:c});c", "value.a[1].b refers back"),
        ("let a=[];for(let i=0;i<1e5;i++)a=[a];a", "deep"),
        ("({'odd key':10n**5000n})", 'value["odd key"]'),
    ],
)
def test_a_value_that_cannot_leave_is_an_error_that_names_the_place(ws, source, place):
    result = ws.run(source)
    assert result.status == "guest_error"
    assert place in result.error.message


def test_a_value_is_made_without_running_the_guest(ws):
    assert ws.run("({ok:1,get x(){for(;;);}})").value == {"ok": 1}
    assert ws.run("({toJSON(){for(;;);}})").value == {}
    assert ws.run("Object.prototype.toJSON=()=>{for(;;);};[{a:1}]").value == [{"a": 1}]


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("throw new TypeError('x')", "TypeError", "x"),
        ("throw 'text'", "Thrown", "text"),
        ("throw null", "Thrown", "null"),
        ("throw Symbol('q')", "Thrown", "Symbol(q)"),
        ("const e=new Error('q');e.name=Symbol('s');throw e", "Error", "q"),
        ("throw {toString(){for(;;);},get name(){for(;;);},get stack(){for(;;);}}", "Thrown", None),
        ("throw {name:'Mine',message:'m'}", "Mine", "m"),
        ("foo", "ReferenceError", "foo is not defined"),
        ("Promise.reject(new RangeError('r'))", "RangeError", "r"),
    ],
)
def test_whatever_is_thrown_is_a_structured_error(ws, source, name, message):
    result = ws.run(source)
    assert result.status == "guest_error"
    assert result.error.name == name
    assert message is None or result.error.message == message
    assert result.error.code is None


def test_a_message_of_any_length_is_capped(ws):
    result = ws.run("throw new Error('x'.repeat(100000))")
    assert 1000 < len(result.error.message) < 10_000


def test_an_error_has_the_users_file_line_column_and_source_line(ws):
    source = "// one\n\nfunction f() {\n  throw new Error('four')\n}\nf()\n"
    error = ws.run(source, filename="mine.js").error
    assert (error.file, error.line) == ("mine.js", 4)
    assert error.source_line == "  throw new Error('four')"
    assert error.column == source.splitlines()[3].index("Error(") + 1
    assert error.stack.splitlines()[0] == f"at f (mine.js:4:{error.column})"
    assert error.stack.splitlines()[1].startswith("at mine.js:6:")


def test_a_syntax_error_has_its_place(ws):
    error = ws.run("let a = 1;\nlet b = ;\n", filename="s.js").error
    assert (error.name, error.file, error.line) == ("SyntaxError", "s.js", 2)
    assert error.source_line == "let b = ;"
    assert error.column == 9


def test_a_stack_shows_no_frame_of_the_preludes(ws):
    error = ws.run("function f(){ nocturn.call('nope') }\n\nf()", filename="x.js").error
    assert error.code == "UNKNOWN_TOOL"
    assert error.line == 1
    assert error.stack.splitlines() == [f"at f (x.js:1:{error.column})", "at x.js:3:1"]


def test_a_hashbang_is_no_syntax_error(ws):
    assert ws.run("#!/usr/bin/env nocturn\n7").value == 7


def test_console_lines_come_with_their_level_and_are_readable(ws):
    result = ws.run(
        "console.log('a', 1, {b:[1,'x']}); console.warn(new Map([[1,{}]])); console.info(-0);"
        "console.error(new TypeError('t')); console.debug([,1], 2n, Symbol('s'), null, undefined);"
        "print(class A {}, function f(){}, new Date(0), new Set([1]), /x/g)"
    )
    assert [(line.level, line.text) for line in result.console] == [
        ("log", "a 1 { b: [ 1, 'x' ] }"),
        ("warn", "Map(1) { 1 => {} }"),
        ("info", "-0"),
        ("error", "TypeError: t\n    at <script>:1:103"),
        ("debug", "[ <1 empty item>, 1 ] 2n Symbol(s) null undefined"),
        ("log", "[class A] [Function: f] 1970-01-01T00:00:00.000Z Set(1) { 1 } /x/g"),
    ]


def test_printing_runs_nothing_of_the_guests(ws):
    result = ws.run(
        "const c = {get a(){throw 1}}; c.self = c; console.log(c);"
        "console.log({toString(){throw 1}, inspect(){throw 2}}); 1"
    )
    assert result.console[0].text == "<ref *1> { a: [Getter], self: [Circular *1] }"
    assert result.value == 1


def test_what_was_printed_before_an_error_is_kept(ws):
    result = ws.run("console.log('before'); throw 1")
    assert [line.text for line in result.console] == ["before"]


@pytest.mark.parametrize(
    "source",
    [
        "for(;;);",
        "(new Array(1e9)+'').length",
        "Array.prototype.indexOf.call({length:4294967295},99)",
        "/^(a+)+$/.test('a'.repeat(40)+'b')",
        "(async()=>{for(;;)await null})()",
        "try{for(;;);}catch(e){for(;;);}finally{for(;;);}",
        "({toJSON(){for(;;);}}); for(;;);",
    ],
)
def test_what_never_ends_is_stopped_and_the_next_run_works(nocturn_workspace, source):
    ws = nocturn_workspace()
    result = ws.run("console.log('kept');" + source, limits=Limits(wall_seconds=0.3))
    assert result.status in ("time_limit", "memory_limit")
    assert [line.text for line in result.console] == ["kept"]
    assert result.error.name in ("TimeLimit", "InternalError")
    assert ws.run("1+1").value == 2


def test_the_cpu_limit_is_a_time_limit_that_names_itself(ws):
    result = ws.run("for(;;);", limits=Limits(wall_seconds=60, cpu_seconds=0.2))
    assert result.status == "time_limit"
    assert "cpu_seconds is 0.2" in result.error.message


def test_the_wall_limit_names_itself(ws):
    result = ws.run("for(;;);", limits=Limits(wall_seconds=0.2))
    assert "wall_seconds is 0.2" in result.error.message
    assert result.value is None


@pytest.mark.parametrize(
    "source",
    [
        "let a=[];for(;;)a.push(new Array(1e3).fill(7))",
        "let s='x';for(;;)s+=s",
        "let a=[];for(;;){try{for(;;)a.push(new Array(1e4).fill(7))}catch{}}",
        "new ArrayBuffer(2**31)",
    ],
)
def test_memory_is_bounded(ws, source):
    result = ws.run(source, limits=Limits(heap_bytes=16 << 20, wall_seconds=2))
    assert result.status in ("memory_limit", "guest_error", "time_limit")
    assert ws.run("1").value == 1


def test_running_out_of_memory_is_said(ws):
    result = ws.run(
        "console.log('kept'); let a=[];for(;;)a.push(new Array(1e3).fill(7))",
        limits=Limits(heap_bytes=16 << 20),
    )
    assert result.status == "memory_limit"
    assert f"heap_bytes is {16 << 20} and " in result.error.message
    assert result.console[0].text == "kept"


@pytest.mark.parametrize("heap_bytes", [1, 100_000, 300_000])
def test_a_heap_in_which_the_engine_itself_has_no_room_is_said_to_be_the_reason(ws, heap_bytes):
    result = ws.run("1", limits=Limits(heap_bytes=heap_bytes))
    assert result.status == "memory_limit"
    assert f"heap_bytes is {heap_bytes} and " in result.error.message
    assert ws.run("1").value == 1


def test_a_null_that_the_engine_throws_for_want_of_memory_is_not_taken_for_the_scripts(ws):
    """No page of an array buffer is there before it is touched, so the kernel counts none."""
    filling = (
        "let kept = null; for (let size = 1 << 20; size >= 1; size >>= 1)"
        " try { for (;;) kept = {kept, buffer: new ArrayBuffer(size)} } catch {}"
    )
    result = ws.run(f"{filling}; nocturn.now()")
    assert result.status == "memory_limit"
    assert result.usage.heap_bytes > 60_000_000
    assert ws.run("throw null").status == "guest_error"


def test_a_promise_that_nothing_can_settle_ends_at_once(ws):
    result = ws.run("new Promise(()=>{})")
    assert result.status == "never_settles"
    assert result.error.name == "NeverSettles"


def test_console_output_has_a_limit_and_what_fits_is_kept(ws):
    result = ws.run(
        "for(let i=0;i<100;i++) console.log('é'.repeat(50))", limits=Limits(console_bytes=250)
    )
    assert result.status == "output_limit"
    assert "console_bytes is 250" in result.error.message
    assert sum(len(line.text.encode()) for line in result.console) == 250


def test_one_huge_console_line_is_cut_at_the_limit(ws):
    result = ws.run("console.log('x'.repeat(30e6))")
    assert result.status == "output_limit"
    assert len(result.console[0].text) == 1_048_576


def test_the_value_has_a_limit_to_the_byte(ws):
    limits = Limits(value_bytes=1000)
    assert ws.run("'x'.repeat(998)", limits=limits).status == "ok"
    result = ws.run("'x'.repeat(999)", limits=limits)
    assert result.status == "output_limit"
    assert "value_bytes is 1000 and 1001" in result.error.message
    assert ws.run("'é'.repeat(499)", limits=limits).status == "ok"
    assert ws.run("'x'.repeat(8e6)", limits=limits).status == "output_limit"


def test_the_source_has_a_limit_to_the_byte(ws):
    limits = Limits(source_bytes=10)
    assert ws.run("1/*234567*/"[:10], limits=limits).status == "guest_error"
    assert ws.run("1//é345".ljust(9), limits=limits).status == "ok"
    result = ws.run("1//é345".ljust(10), limits=limits)
    assert result.status == "refused_source"
    assert "source_bytes is 10 and the source is 11" in result.error.message


def test_a_source_that_is_not_utf8_is_refused(ws):
    result = ws.run(b"'\xff'")
    assert result.status == "refused_source"
    assert "byte 1" in result.error.message
    assert ws.run("'é'".encode()).value == "é"


@pytest.mark.parametrize("value", [0, -1, 1e12, float("nan"), float("inf"), "1", None, True])
def test_zero_is_never_no_limit(value):
    with pytest.raises(ConfigurationError):
        Limits(wall_seconds=value)
    with pytest.raises(ConfigurationError):
        Limits(calls=value)
    assert Limits(wall_seconds=31_536_000).calls == 1_000


@pytest.mark.parametrize(
    "source",
    [
        "function f(){return f()}f()",
        "(0,eval)('('.repeat(2e5)+'1'+')'.repeat(2e5))",
        "JSON.parse('['.repeat(2e5))",
        "new RegExp('('.repeat(2e5))",
        "let a=[];for(let i=0;i<2e5;i++)a=[a];JSON.stringify(a)",
    ],
)
def test_deep_recursion_is_an_error_that_can_be_caught(ws, source):
    result = ws.run(f"let caught; try {{ {source} }} catch (e) {{ caught = e.name }}; caught")
    assert result.status == "ok"
    assert result.value in ("RangeError", "SyntaxError", "InternalError")


def test_a_worker_that_dies_is_said_and_the_next_run_works(ws):
    # 50,000 nested iterator helpers overflow the C stack in some builds; either end is fine.
    result = ws.run("let it=[1].values();for(let i=0;i<5e4;i++)it=it.map(x=>x);it.next().value")
    assert result.status in ("ok", "worker_died", "guest_error")
    assert ws.run("1").value == 1


def test_a_result_is_one_shape_in_python_and_json(ws):
    for source in ("1", "throw 1", "new Promise(()=>{})"):
        result = ws.run(source)
        told = json.loads(result.to_json())
        assert told == result.to_dict()
        assert list(told) == [
            "status",
            "value",
            "console",
            "calls",
            "unhandled_rejections",
            "error",
            "usage",
            "isolation",
        ]
        assert set(told["usage"]) == {
            "wall_ms",
            "cpu_ms",
            "heap_bytes",
            "console_bytes",
            "calls",
            "waited_ms",
        }


def test_usage_tells_what_was_used(ws):
    usage = ws.run("console.log('é'); for (let i=0;i<1e5;i++); 1").usage
    assert usage.console_bytes == 2
    assert usage.calls == 0
    assert usage.wall_ms > 0
    assert usage.cpu_ms > 0
    assert usage.heap_bytes > 10_000
    assert usage.waited_ms == 0


def test_raise_for_error_raises_with_the_result(ws):
    assert isinstance(ws.run("1").raise_for_error(), RunResult)
    result = ws.run("throw new TypeError('x')", filename="a.js")
    with pytest.raises(RunFailed) as failed:
        result.raise_for_error()
    assert failed.value.result is result
    assert "a.js:1:" in str(failed.value)


def test_arguments_are_frozen_text(ws):
    assert ws.run("nocturn.args", args=["a", "b c"]).value == ["a", "b c"]
    assert ws.run("'use strict'; nocturn.args.push('x')", args=["a"]).status == "guest_error"


def test_all_of_nocturn_is_frozen(ws):
    result = ws.run(
        "const frozen = o => Object.isFrozen(o) && Reflect.ownKeys(o).every("
        "  k => !(typeof o[k] === 'object' && o[k]) || frozen(o[k]));"
        "globalThis.nocturn = {}; delete globalThis.nocturn;"
        "[frozen(nocturn), typeof nocturn.memory.write, Object.isFrozen(NocturnError)]"
    )
    assert result.value == [True, "function", True]


def test_the_guest_finds_nothing_of_ours_but_what_it_was_given(ws):
    result = ws.run(
        "Reflect.ownKeys(globalThis).filter("
        "  k => typeof k === 'string' && /nocturn|wire|exchange|send|control/i.test(k))"
    )
    assert sorted(result.value) == ["AbortController", "NocturnError", "nocturn"]
    assert ws.run("typeof nocturn.vault + typeof process + typeof require").value == (
        "undefinedundefinedundefined"
    )


def test_nothing_of_one_run_is_seen_by_the_next(ws):
    ws.run("globalThis.left = 1; Array.prototype.left = 2")
    assert ws.run("typeof left + typeof [].left").value == "undefinedundefined"


def test_many_threads_run_at_once_without_mixing(ws):
    values = {}

    def run(number):
        values[number] = ws.run(f"console.log({number}); {number} * 2")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {n: r.value for n, r in values.items()} == {n: n * 2 for n in range(12)}
    assert all(r.console[0].text == str(n) for n, r in values.items())


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "loose"},
        {"lang": "tsx"},
        {"dry_run": 1},
        {"tools": ["nope"]},
        {"agent": "a b"},
        {"agent": "script:0123"},
    ],
)
def test_what_there_is_not_is_refused_before_anything_runs(ws, options):
    with pytest.raises(ConfigurationError):
        ws.run("1", **options)


def test_a_closed_workspace_runs_nothing(nocturn_workspace):
    ws = nocturn_workspace()
    ws.close()
    with pytest.raises(ConfigurationError):
        ws.run("1")


@pytest.mark.parametrize("args", ["ab", [1], [None], [b"x"]])
def test_arguments_that_are_no_texts_are_refused(ws, args):
    with pytest.raises(ConfigurationError):
        ws.run("1", args=args)


def test_closing_the_workspace_cancels_what_runs(nocturn_workspace):
    begun = threading.Event()

    @tool(axis="read", effects="ungated")
    def begin() -> None:
        """Says that the run is under way."""
        begun.set()

    ws = nocturn_workspace(tools=[begin])
    results = []
    source = "console.log('kept'); nocturn.call('begin'); for(;;);"
    limits = Limits(wall_seconds=60, cpu_seconds=60)
    running = threading.Thread(target=lambda: results.append(ws.run(source, limits=limits)))
    running.start()
    assert begun.wait(30)
    ws.close()
    running.join(30)
    assert [result.status for result in results] == ["cancelled"]
    assert results[0].console[0].text == "kept"


def test_what_the_host_loads_for_a_first_call_is_not_the_guests_time(nocturn_workspace):
    ws = nocturn_workspace()
    loading = type(ws)._dispatcher

    class Slow(type(ws)):
        @property
        def _dispatcher(self):
            if self._made is None:
                threading.Event().wait(1.2)  # a slow disk
            return loading.fget(self)

    ws.__class__ = Slow
    result = ws.run("nocturn.now(); 7", limits=Limits(wall_seconds=1))
    assert (result.status, result.value) == ("ok", 7)
    assert result.usage.waited_ms == 0

"""Nasty guests, one test a row: those of the project's list that are about calls."""

import threading

import pytest

from nocturn import Limits, tool


def test_g3_a_thrown_object_that_calls_a_tool_is_an_error_and_the_host_lives(ws):
    result = ws.run("throw {toString(){return nocturn.call('time_now',{})}}")
    assert result.status == "guest_error"
    assert len(result.calls) in (0, 1)
    result = ws.run("({toJSON(){return nocturn.memory.write('a.md','s','c')}})", mode="strict")
    assert result.status in ("ok", "guest_error")
    assert not ws.path.exists()
    assert ws.run("1").value == 1


def test_g8_a_slow_tool_does_not_hold_the_deadline_up_and_its_outcome_is_journalled(
    nocturn_workspace, read_journal
):
    release, at_work = threading.Event(), []

    @tool(axis="write", effects=[("memory", "write", "name")])
    def slow(name: str) -> str:
        at_work.append(threading.current_thread())
        release.wait(30)
        return name

    ws = nocturn_workspace(tools=[slow])
    ws.memory.list()  # what a first call loads is not to be in the way
    source = "console.log('kept'); nocturn.call('slow', {name: 'x.md'})"
    result = ws.run(source, mode="watched", limits=Limits(wall_seconds=1))
    assert result.status == "time_limit"
    assert [line.text for line in result.console] == ["kept"]
    assert [call.code for call in result.calls] == ["CANCELLED"]
    assert [row["phase"] for row in read_journal(ws)] == ["intent"]
    assert ws.run("1").value == 1
    release.set()
    ws.close()
    at_work[0].join(10)
    late = read_journal(ws)[-1]
    assert (late["phase"], late["code"], late["late"]) == ("outcome", None, True)


@pytest.fixture
def give(nocturn_workspace):
    """A workspace with a tool that returns what a test wants."""

    def make(value, **options):
        @tool(axis="read", effects="ungated")
        def give_it() -> object:
            return value

        return nocturn_workspace(tools=[give_it], **options)

    return make


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**40, 2**53 - 1, -(2**53) + 1, 1.5, 1e300])
def test_g13_a_number_that_a_tool_returns_is_exact(give, number):
    result = give(number).run("const n = nocturn.call('give_it'); [n, String(n)]")
    value, text = result.value
    assert value == number
    assert float(text) == number


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (2**53 + 1, "value"),
        ({"rows": [1, 2**64]}, "value.rows[1]"),
        ({"x": float("nan")}, "value.x"),
        ([float("inf")], "value[0]"),
        ({"when": object()}, "value.when"),
        ({1: "x"}, "value"),
        (b"bytes", "value"),
        ({"s": {1, 2}}, "value.s"),
    ],
)
def test_g13_what_a_tool_cannot_send_is_refused_loudly_naming_the_place(give, value, place):
    ws = give(value)
    result = ws.run("try { nocturn.call('give_it') } catch (e) { [e.code, e.message] }")
    assert result.status == "ok"
    code, message = result.value
    assert code == "INTERNAL"
    assert place in message
    assert result.calls[0].code == "INTERNAL"


def test_g13_what_a_guest_returns_is_exact(ws):
    assert ws.run("2n**70n").value == 2**70
    zero, nan, infinity = ws.run("[-0,NaN,Infinity]").value
    assert str(zero) == "-0.0"
    assert nan != nan  # noqa: PLR0124 - that is what NaN is
    assert infinity == float("inf")


def test_g15_a_cycle_or_a_deep_value_in_an_argument_names_its_place(ws):
    for source, place in (
        ("var c={};c.c=c;nocturn.call('time_now', c)", "arguments.c"),
        ("var c={a:[]};c.a.push(c);nocturn.call('time_now', {x:c})", "arguments.x.a[0]"),
        ("let a=[];for(let i=0;i<1e5;i++)a=[a];nocturn.call('time_now', {a})", "arguments.a"),
    ):
        result = ws.run(source)
        assert result.error.code == "BAD_ARGUMENTS"
        assert place in result.error.message
        assert result.calls[0].code == "BAD_ARGUMENTS"


def test_g15_a_cycle_that_a_tool_returns_names_its_place(give):
    from nocturn.testing import FixedSecrets

    cycle = {}
    cycle["c"] = cycle
    for options in ({}, {"secrets": [FixedSecrets(one="a secret of ours")]}):
        result = give(cycle, **options).run("nocturn.call('give_it')")
        assert result.error.code == "INTERNAL"
        assert "value.c.c" in result.error.message


def test_g17_an_internal_error_leads_nowhere(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def broken() -> str:
        raise ValueError("secret /etc/shadow")

    result = nocturn_workspace(tools=[broken]).run(
        """
        try { nocturn.call("broken") } catch (e) {
          [e.name, e.message, e.stack, e.constructor.constructor("return typeof process")()]
        }
        """
    )
    name, message, stack, process = result.value
    assert (name, process) == ("NocturnError", "undefined")
    assert "shadow" not in message + stack
    assert "ValueError" not in message + stack
    assert ".py" not in message + stack


HOSTILE = """
JSON.stringify = () => '{}';
JSON.parse = () => ({value: 'forged'});
Object.prototype.toJSON = function () { return {tool: 'x'} };
Object.prototype.tool = 'time_now';
Object.prototype.value = 'forged';
Array.prototype[Symbol.iterator] = function* () { yield 'forged' };
String.prototype.slice = () => 'forged';
Reflect.ownKeys = Object.keys = () => [];
Object.defineProperty(Object.prototype, 'path',
  {__proto__: null, get() { return 'b.md' }, set() {}});
try { globalThis.nocturn = {} } catch {}
"""


def test_g19_whatever_a_guest_redefines_a_call_goes_out_as_given(ws):
    ws.memory.write("a.md", "s", "the note")
    ws.memory.write("b.md", "s", "another")
    result = ws.run(HOSTILE + "nocturn.memory.read('a.md')")
    assert result.status == "ok"
    assert result.value.endswith("the note")
    assert [call.tool for call in result.calls] == ["memory_read"]


def test_g19_a_prototype_fills_in_no_argument(ws):
    result = ws.run(
        "Object.prototype.ifVersion = 'x'; Object.prototype.cursor = 'zzz';"
        "nocturn.memory.write('a.md', 's', 'c'); nocturn.call('memory_list', {}).notes.length",
        mode="watched",
    )
    assert result.value == 1


def test_g19_arguments_that_are_getters_or_proxies_run_nothing_of_the_guests_twice(ws):
    result = ws.run(
        """
        let n = 0;
        const args = {get path() { n++; return "a.md" }};
        let code;
        try { nocturn.call("memory_read", args) } catch (e) { code = e.code }
        [code, n]
        """
    )
    code, count = result.value
    assert code in ("BAD_ARGUMENTS", "NOT_FOUND")
    assert count <= 1


def test_g27_a_throw_on_line_four_is_on_line_four(ws):
    source = "// one\n// two\n\nnocturn.memory.read('no.md');\n"
    error = ws.run(source, filename="file.js").error
    assert (error.file, error.line, error.column) == ("file.js", 4, len("nocturn.memory.") + 1)
    assert error.source_line == "nocturn.memory.read('no.md');"

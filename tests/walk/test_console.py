"""The console: what it prints is what Node would print, at a level, and nothing of the guest's is run."""

# ruff: noqa: E501 - lines of JavaScript

from pathlib import Path

from nocturn import Limits

HERE = Path(__file__).parent


def lines(result):
    assert result.status == "ok", result.error
    return [(line.level, line.text) for line in result.console]


def test_values_are_shown_as_node_shows_them(ws, node):
    printed, _ = node("console_rows.js")
    result = ws.run((HERE / "console_rows.js").read_text(), limits=Limits(wall_seconds=30))
    assert result.error is None
    # Line by line: a difference names itself.
    ours = "".join(line.text + "\n" for line in result.console)
    assert ours.splitlines() == printed.splitlines()


def test_each_method_prints_at_its_level(ws):
    result = ws.run(
        """
        console.log(1); console.info(2); console.warn(3); console.error(4); console.debug(5); print(6);
        console.dir({a: 1}); console.table([[1]]); console.count('c'); console.countReset('nope');
        console.time('t'); console.time('t'); console.timeLog('t', {x: 1}); console.timeEnd('t'); console.timeEnd('t');
        console.trace('here');
        """
    )
    told = lines(result)
    assert [level for level, _ in told] == [
        *("log", "info", "warn", "error", "debug", "log"),
        *("log", "log", "info", "warn"),
        *("warn", "log", "info", "warn"),
        "log",
    ]
    assert told[6][1] == "{ a: 1 }"
    assert told[8:11] == [
        ("info", "c: 1"),
        ("warn", "Count for 'nope' does not exist"),
        ("warn", "Label 't' already exists for console.time()"),
    ]
    assert told[11][1].startswith("t: ")
    assert told[11][1].endswith("ms { x: 1 }")
    assert told[13][1] == "No such label 't' for console.timeEnd()"
    assert told[14][1].startswith("Trace: here\n    at ")


def test_a_failed_assertion_is_a_row_of_level_error_that_begins_so(ws):
    result = ws.run(
        "console.assert(true, 'no'); console.assert(1 === 2); console.assert(false, 'm %d', 5);"
        "console.assert(0, {a: 1}); console.assert(null, 'x', [1])"
    )
    assert lines(result) == [
        ("error", "Assertion failed"),
        ("error", "Assertion failed: m 5"),
        ("error", "Assertion failed { a: 1 }"),
        ("error", "Assertion failed: x [ 1 ]"),
    ]


def test_errors_are_shown_with_their_frames_their_causes_and_what_else_they_have(ws):
    result = ws.run(
        """function f() { return new TypeError('bad', {cause: new Error('inner')}) }
console.log(f());
class Late extends Error { constructor(m) { super(m); this.extra = {a: 1} } }
console.log([new Late('q')]);
console.log(new DOMException('gone', 'AbortError').name, new AggregateError([1], 'all').errors);
try { nocturn.call('nope') } catch (e) { console.log(e) }"""
    )
    first, second, third, fourth = (text for _, text in lines(result))
    rows = first.splitlines()
    assert rows[0] == "TypeError: bad"
    assert rows[1].startswith("    at f (")
    assert ":1:" in rows[1]
    assert rows[2].endswith(" {")
    assert ":2:" in rows[2]
    assert rows[3] == "  [cause]: Error: inner"
    assert second.splitlines()[1] == "  Late [Error]: q"
    assert "extra: { a: 1 }" in second
    assert third == "AbortError [ 1 ]"
    assert fourth.startswith("NocturnError: ")
    assert "code: 'UNKNOWN_TOOL'" in fourth
    assert "<eval>" not in first + second + fourth


SPY = """
let ran = [];
const spy = (name) => (...given) => { ran.push(name); return given[0] };
const handler = {};
for (const trap of ["get", "set", "has", "ownKeys", "getOwnPropertyDescriptor", "getPrototypeOf", "isExtensible",
  "defineProperty", "apply", "construct", "deleteProperty", "setPrototypeOf", "preventExtensions"]) handler[trap] = spy(trap);
const hidden = Symbol.for("nodejs.util.inspect.custom");
"""


VALUES = (
    "new Proxy({a: 1}, handler)",
    "new Proxy([1, 2], handler)",
    "new Proxy(function f() {}, handler)",
    "new Proxy(new Proxy(new Map([[1, 2]]), handler), handler)",
    "Object.create(new Proxy({}, handler))",
    "Object.setPrototypeOf([1], new Proxy([], handler))",
    "Object.setPrototypeOf(() => 1, new Proxy(() => 1, handler))",
    "({constructor: new Proxy(class A {}, handler)})",
    "Object.create({constructor: new Proxy(class A {}, handler)})",
    "new Error('m', {cause: new Proxy(new Error('n'), handler)})",
    "new Map([[new Proxy({}, handler), new Proxy({}, handler)]])",
    "Object.assign(Object.create({get [Symbol.toStringTag]() { spy('tag')() }}), {a: 1})",
    "({get a() { spy('get')() }, toString: spy('toString'), inspect: spy('inspect'), toJSON: spy('toJSON'), [hidden]: spy('custom')})",
    "Object.defineProperty([1, 2], 0, {get: spy('item')})",
    "Object.defineProperty(new Error('x'), 'message', {get: spy('message')})",
    "Object.defineProperty(new Error('x'), 'name', {get: spy('name')})",
    "new (class A { static get [Symbol.hasInstance]() { spy('hasInstance')() } static get name() { spy('name')() } })()",
    "Object.defineProperty(new Map([[1, 2]]), 'size', {get: spy('size')})",
    "Object.assign(new Date(0), {toISOString: spy('iso'), valueOf: spy('valueOf'), getTime: spy('getTime')})",
    "Object.assign(/x/, {toString: spy('toString')})",
)


def test_nothing_of_the_guests_is_run_to_show_a_value(ws):
    makers = ",".join(f"() => ({value})" for value in VALUES)
    result = ws.run(
        f"""{SPY}
        [{makers}].map((make) => {{
          const it = make();
          ran = [];
          console.log(it, [it], {{it}});
          console.log("%s %d %i %f %o %O", it, it, it, it, it, it);
          console.dir(it); console.table([it]); console.table(it); console.assert(false, it);
          return ran;
        }})"""
    )
    assert result.status == "ok", result.error
    assert result.value == [[]] * len(VALUES)
    assert all("cannot be shown" not in line.text for line in result.console)


def test_a_value_that_the_guest_made_without_end_is_cut(ws):
    result = ws.run(
        "const a = []; a.length = 2 ** 32 - 1; console.log(a);"
        "let deep = {}; for (let i = 0; i < 1e4; i++) deep = {deep}; console.log(deep);"
        "console.log(new Map(Array.from({length: 1000}, (_, i) => [i, i])));"
        "const keys = {}; for (let i = 0; i < 3; i++) keys['k'.repeat(i + 1)] = 'v'.repeat(20000); console.log(keys)"
    )
    holes, nested, many, long = (text for _, text in lines(result))
    assert holes == "[ <4294967295 empty items> ]"
    assert nested == "{ deep: { deep: { deep: [Object] } } }"
    assert many.endswith("... 900 more items\n}")
    assert long.count("... 10000 more characters") == 3


def test_a_guest_that_breaks_the_language_first_still_sees_its_values(ws):
    result = ws.run(
        "const names = Object.getOwnPropertyNames, it = {a: [1, {b: new Map([[1, 2]])}], s: 'x'};"
        "for (const type of [Array, Object, String, Map, Symbol, Reflect, RegExp, Math, JSON])"
        "  for (const at of [type, type.prototype]) if (at) for (const key of names(at))"
        "    try { if (typeof at[key] === 'function' && key !== 'constructor') at[key] = () => { throw 1 } } catch {}"
        "console.log(it)"
    )
    assert lines(result) == [("log", "{ a: [ 1, { b: [Map] } ], s: 'x' }")]


def test_promises_and_addresses_are_shown(ws):
    result = ws.run(
        "console.log(Promise.resolve(1), new URLSearchParams('a=1&b='), [new URL('http://h/p?q#f')])"
    )
    [(_, text)] = lines(result)
    assert text.startswith(
        "Promise { <not awaited> } URLSearchParams { 'a' => '1', 'b' => '' } [\n  URL {\n"
    )
    assert "    searchParams: URLSearchParams { 'q' => '' },\n    hash: '#f'" in text

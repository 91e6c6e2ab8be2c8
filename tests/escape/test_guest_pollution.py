"""Guests that change what the language is made of, and guests that look for what is ours in it."""

# ruff: noqa: E501 - lines of JavaScript

import re

import pytest

from nocturn import Limits, Workspace

LIMITS = Limits(wall_seconds=2)
# Made while the language is still whole: making these asks it for iterators and more.
BEFORE = """
let hits = 0;
const hit = () => { hits += 1 };
const circle = {around: null}; circle.around = circle;
const map = new Map([["k", [1]]]), set = new Set(["v"]), date = new Date(0), re = /re/gi;
const bytes = new Uint8Array([7]);
"""
# What must come out the same whatever has been done before it.
WORK = """
const told = {__proto__: null};
let count = 0;
const refused = (tool, given) => {
  try { nocturn.call(tool, given); told["not refused " + tool] = true }
  catch (e) { told[count += 1] = e.code }
};
nocturn.memory.write("a.md", "s", "the note", {ifVersion: null});
told.read = nocturn.memory.read("a.md");
told.stat = nocturn.call("memory_stat", {path: "a.md"}).bytes;
told.list = nocturn.memory.list().notes.length;
refused("nope", {a: [1, {b: 2}]});
refused("memory_read", {path: "b.md"});
refused("memory_read", circle);
console.log("x", 1, -0, [1, , {a: "b"}], {a: {b: 1}}, map, set, re, circle, date);
console.warn(new TypeError("t"), Symbol("s"), 2n, null, undefined, bytes, () => 1);
const last = nocturn.memory.remove("a.md").removed;
({told, last, date, map, set, bytes, big: 2n ** 70n, error: new RangeError("r"),
  text: "\\u0000\\ud800é", nested: [[[1.5]]]})
"""
OBJECT_KEYS = [
    "value",
    "get",
    "set",
    "error",
    "toJSON",
    "code",
    "message",
    "tool",
    "detail",
    "name",
    "stack",
    "type",
    "id",
    "args",
    "size",
    "unsendable",
    "text",
    "up",
    "key",
    "status",
    "level",
    "enumerable",
    "configurable",
    "writable",
    "path",
    "summary",
    "content",
    "ifVersion",
    "limit",
    "cursor",
    "source",
    "state",
    "thrown",
    "uncaught",
    "count",
    "then",
    "constructor",
    "c",
    "0",
    "1",
    "length",
]
POLLUTION = {
    "accessors on Object.prototype": f"""
      for (const key of {OBJECT_KEYS!r}) if (!(key in {{}}) || key === "constructor")
        Object.defineProperty(Object.prototype, key, {{__proto__: null, configurable: true,
          get() {{ hit("get " + key) }}, set(value) {{ hit("set " + key) }}}});""",
    "values on Object.prototype": f"""
      for (const key of {OBJECT_KEYS!r}) if (!(key in {{}})) Object.prototype[key] = "forged";""",
    "frozen values on Object.prototype": f"""
      for (const key of {OBJECT_KEYS!r}) if (!(key in {{}})) Object.defineProperty(
        Object.prototype, key, {{__proto__: null, value: "forged", writable: false}});""",
    "__proto__": """
      Object.defineProperty(Object.prototype, "__proto__",
        {__proto__: null, get() { hit("proto") }, set() { hit("proto") }});""",
    "accessors on Array.prototype": """
      for (const key of ["0", "1", "2", "3"]) Object.defineProperty(Array.prototype, key,
        {__proto__: null, get() { hit("get") }, set() { hit("set") }});""",
    "iterators": """
      const forged = function* () { hit("iterated"); yield "forged" };
      for (const kind of [Array, String, Map, Set, Uint8Array.__proto__])
        kind.prototype[Symbol.iterator] = forged;
      Object.getPrototypeOf([][Symbol.iterator]()).next = forged;""",
    "call and apply": """
      Function.prototype.call = Function.prototype.apply = Function.prototype.bind =
        function () { hit("call"); return "forged" };
      Object.defineProperty(Function.prototype, "name", {get() { hit("name") }});
      Function.prototype.toString = () => { hit("toString"); return "class" };""",
    "promises": """
      Promise.prototype.then = Promise.prototype.catch = () => { hit("then") };
      Object.defineProperty(Promise.prototype, "constructor", {get() { hit("constructor") }});
      Promise.resolve = Promise.reject = () => { hit("resolve") };
      Object.defineProperty(Promise, Symbol.species, {get() { hit("species") }});""",
    "regular expressions": """
      for (const key of ["exec", "test", "toString", Symbol.match, Symbol.replace, Symbol.split])
        RegExp.prototype[key] = () => { hit("regexp"); return ["forged"] };
      for (const key of ["source", "flags", "global", "sticky", "lastIndex", "ignoreCase"])
        Object.defineProperty(RegExp.prototype, key, {get() { hit(key) }, configurable: true});
      globalThis.RegExp = function () { hit("RegExp") };""",
    "every method of every prototype": """
      const kinds = [String, Number, Boolean, BigInt, Symbol, Array, Map, Set, Date, RegExp, Error,
        TypeError, Uint8Array, Uint8Array.__proto__, Function, Promise, Object];
      const define = Object.defineProperty, keysOf = Reflect.ownKeys;
      for (let i = 0; i < kinds.length; i++) {
        const keys = keysOf(kinds[i].prototype);
        for (let j = 0; j < keys.length; j++) {
          if (keys[j] === "__proto__" || keys[j] === "constructor" || keys[j] === "name") continue;
          try { define(kinds[i].prototype, keys[j], {__proto__: null, value() { hit(i) },
            configurable: true, writable: true}) } catch {}
        }
      }""",
    "every function of every namespace": """
      const define = Object.defineProperty, keys = Reflect.ownKeys;
      const all = [Reflect, JSON, Math, Object, Array, Number, String, Symbol, Promise, BigInt, Error];
      for (const space of all) {
        const names = keys(space);
        for (let i = 0; i < names.length; i++) {
          if (names[i] === "prototype" || typeof space[names[i]] !== "function") continue;
          try { define(space, names[i], {__proto__: null, value() { hit("space") }}) } catch {}
        }
      }""",
    "every global": """
      const define = Object.defineProperty, keys = Reflect.ownKeys(globalThis);
      const mine = ["nocturn", "NocturnError", "console", "Object", "Symbol", "Date", "Map", "Set",
        "Uint8Array", "RangeError", "TypeError", "Error", "undefined", "globalThis"];
      for (let i = 0; i < keys.length; i++) {
        let keep = typeof keys[i] !== "string";
        for (let j = 0; j < mine.length; j++) keep ||= mine[j] === keys[i];
        if (!keep) try { define(globalThis, keys[i], {__proto__: null, get() { hit("global") }}) } catch {}
      }""",
    "errors": """
      Error.prepareStackTrace = (error, sites) => { hit("prepare"); return sites };
      Object.defineProperty(Error, "prepareStackTrace", {get() { hit("prepare") }, set() {}});
      Error.captureStackTrace = () => { hit("capture") };
      Error.isError = () => false;
      Object.defineProperty(Error.prototype, "stack", {get() { hit("stack"); return [] }});
      Object.defineProperty(Error.prototype, "name", {get() { hit("name") }, set() { hit("name") }});
      Object.defineProperty(Error.prototype, "message", {set() { hit("message") }});""",
    "maps and sets": """
      for (const kind of [Map, Set]) {
        kind.prototype.forEach = kind.prototype.get = kind.prototype.has = () => { hit("map") };
        Object.defineProperty(kind.prototype, "size", {get() { hit("size") }});
      }""",
    "typed arrays": """
      const typed = Object.getPrototypeOf(Uint8Array.prototype);
      for (const key of ["length", Symbol.toStringTag, "buffer", "byteLength"])
        Object.defineProperty(typed, key, {get() { hit("typed"); return 1e9 }});
      Object.defineProperty(typed.constructor, Symbol.species, {get() { hit("species") }});""",
    "conversions": """
      for (const kind of [Date, Symbol, Object, String, Number, BigInt, Error, Array])
        try { Object.defineProperty(kind.prototype, Symbol.toPrimitive,
          {value() { hit("primitive"); return "forged" }, configurable: true}) } catch {}
      Object.defineProperty(Object.prototype, Symbol.toStringTag, {get() { hit("tag") }});
      Object.defineProperty(Object.prototype, Symbol.isConcatSpreadable, {get() { hit("spread") }});""",
    "what prototypes inherit": """
      for (const kind of [Array, Function, Error, Map, Set, Date, RegExp, Promise, String])
        Object.setPrototypeOf(kind.prototype, new Proxy(Object.prototype, {
          get(target, key, self) { hit("get " + String(key)); return undefined },
          set() { hit("set"); return true },
        }));""",
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("clean") / "workspace") as ws:
        result = ws.run(BEFORE + WORK, mode="watched")
    assert result.status == "ok"
    return result


def lines(result):
    # An error's frames tell the line, which what was changed before it has moved.
    return [(line.level, re.sub(r"\d+:\d+", "L:C", line.text)) for line in result.console]


@pytest.mark.parametrize("kind", POLLUTION)
def test_whatever_a_guest_changes_calls_lines_and_values_stay_as_they_are(ws, expected, kind):
    source = BEFORE + POLLUTION[kind] + WORK
    result = ws.run(source, mode="watched", limits=LIMITS)
    assert (result.status, result.value) == ("ok", expected.value)
    assert lines(result) == lines(expected)
    assert [(c.tool, c.code) for c in result.calls] == [(c.tool, c.code) for c in expected.calls]


def test_whatever_a_line_changes_the_next_one_and_what_is_asked_stay_as_they_are(ws, expected):
    with ws.session(mode="watched", filename="<script>", limits=LIMITS) as base:
        for kind, pollution in POLLUTION.items():
            with base.fork() as session:
                begun = session.eval(BEFORE + pollution)
                if begun.status == "guest_error":  # its own accessor has kept the value
                    assert "Object.prototype has a value" in begun.error.message, kind
                    continue
                result = session.eval(WORK)
                assert (result.status, result.value) == ("ok", expected.value), kind
                assert lines(result) == lines(expected), kind
                assert session.eval("const again = 1; const more = [2]").ok, kind
                assert session.eval("const again = 2; again").shown == "2", kind
                told = {each["name"]: each["shown"] for each in session.vars()}
                assert (told["again"], told["more"]) == ("2", "[ 2 ]"), kind
                assert session.complete("agai") == ["again"], kind
                assert session.unfinished("f(") is True, kind


@pytest.mark.parametrize("kind", POLLUTION)
def test_printing_calling_and_failing_run_nothing_that_a_guest_put_in_their_way(ws, kind):
    result = ws.run(
        BEFORE
        + POLLUTION[kind]
        + """
        hits = 0;
        console.log("x", {a: {b: 1}}, re, 1n, [1, [2]], map, set, date, bytes, new Error("e"));
        try { nocturn.call("nope", {a: {b: [1]}}) } catch {}
        try { nocturn.memory.read("b.md") } catch {}
        try { nocturn.call("nope", circle) } catch {}
        try { nocturn.call("nope", {map, set, date, bytes, re}) } catch {}
        hits""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", 0)


@pytest.mark.parametrize("kind", POLLUTION)
@pytest.mark.parametrize(
    "end", ["throw new RangeError('mine')", "(async () => { await 0; nocturn.call('nope') })()"]
)
def test_whatever_a_guest_changes_its_error_is_told(ws, kind, end):
    result = ws.run(
        BEFORE + POLLUTION[kind] + "\n" + end,
        limits=LIMITS,
    )
    # A promise whose `constructor` is gone throws when it is waited for: an error too.
    assert result.status in ("guest_error", "ok" if kind == "promises" else "guest_error")
    if result.error is not None and "RangeError" in end:
        assert result.error.message == "mine"


@pytest.mark.parametrize(
    "handler",
    [
        "Error.prepareStackTrace = (e, sites) => { for (const s of sites) seen.push(s) };",
        "Object.defineProperty(Error, 'prepareStackTrace', {value: (e, s) => seen.push(...s)});",
        "Object.prototype.prepareStackTrace = (e, sites) => seen.push(...sites);",
        "NocturnError.__proto__.prepareStackTrace = (e, sites) => seen.push(...sites);",
        "Error.stackTraceLimit = Infinity;",
        "Error.stackTraceLimit = -1;",
        "Object.defineProperty(Error, 'stackTraceLimit', {get() { seen.push(1); return 9 }});",
        "Object.defineProperty(Error, 'stackTraceLimit', {value: {valueOf() { seen.push(1) }}});",
    ],
)
def test_no_stack_hands_out_a_function_of_ours(ws, handler):
    result = ws.run(
        "const seen = [];"
        + handler
        + """
        const kinds = new Set();
        const look = (e) => { kinds.add(typeof e.stack); const o = {};
          Error.captureStackTrace(o); kinds.add(typeof o.stack) };
        try { nocturn.call("nope") } catch (e) { look(e) }
        try { nocturn.memory.list(new Proxy({}, {get() { look(new Error()); throw new Error() }})) }
        catch (e) { look(e) }
        try { console.log(new Proxy({}, {ownKeys() { look(new Error()); return [] }})) }
        catch (e) { look(e) }
        JSON.stringify({toJSON() { look(new Error()) }});
        for (const kind of ["string", "undefined"]) kinds.delete(kind);
        [seen.length, kinds.size]""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", [0, 0])


def test_no_function_of_ours_tells_its_caller_or_its_arguments(ws):
    result = ws.run(
        """
        const found = [];
        function spy() {
          for (const look of [() => spy.caller, () => spy.arguments?.callee?.caller,
                              () => arguments.callee.caller, () => spy.caller?.caller])
            try { const it = look(); if (typeof it === "function" && it !== spy) found.push(String(it)) }
            catch {}
          return [];
        }
        console.log(new Proxy({}, {ownKeys: spy, getPrototypeOf: () => (spy(), null)}));
        nocturn.memory.list(Object.defineProperty({}, "limit", {get() { spy(); return undefined }}));
        JSON.stringify({toJSON: spy});
        for (const f of [nocturn.call, nocturn.now, nocturn.memory.read, console.log, print])
          for (const key of ["caller", "arguments", "callee"])
            try { if (f[key] !== undefined) found.push(key) } catch {}
        found""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", [])


def test_from_what_we_hand_out_one_reaches_only_what_is_public(ws):
    # Walks everything that can be reached from our globals, and looks for a way to the host's wire.
    result = ws.run(
        """
        const seen = new Set(), found = [];
        const native = /\\[native code\\]/;
        const walk = (it, path) => {
          if ((typeof it !== "object" && typeof it !== "function") || it === null || seen.has(it)) return;
          seen.add(it);
          if (it === globalThis) return;
          for (const key of Reflect.ownKeys(it)) {
            const property = Object.getOwnPropertyDescriptor(it, key);
            for (const part of ["value", "get", "set"]) walk(property[part], path + "." + String(key));
          }
          walk(Object.getPrototypeOf(it), path + ".__proto__");
          if (/exchange|wire|control|settle|Unsendable|genuine/i.test(path)) found.push(path);
        };
        try { nocturn.call("nope") } catch (e) { walk(e, "e") }
        for (const it of [nocturn, NocturnError, console, print, JSON, Math, queueMicrotask,
                          FinalizationRegistry]) walk(it, it.name ?? "it");
        for (const key of Reflect.ownKeys(globalThis)) if (/^_|wire|host|send/i.test(String(key)))
          found.push(String(key));
        found""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", [])


def test_a_setter_gets_no_object_of_ours(ws):
    result = ws.run(
        """
        const got = [];
        for (const key of "text up key value code tool detail message name stack type".split(" "))
          Object.defineProperty(Object.prototype, key, {__proto__: null, configurable: true,
            get() { return undefined }, set(value) { got[got.length] = key }});
        const circle = {}; circle.c = circle;
        for (const given of [circle, {a: 10n ** 5000n}, {a: 1}]) try { nocturn.call("x", given) } catch {}
        new NocturnError("a", "b", "c", {});
        console.log(circle);
        got.length""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", 0)


def test_all_of_nocturn_is_frozen_its_functions_too(ws):
    result = ws.run(
        """
        const soft = [];
        for (const [name, it] of Object.entries({...nocturn, ...nocturn.memory, nocturn}))
          if (!Object.isFrozen(it)) soft.push(name);
        soft""",
        limits=LIMITS,
    )
    assert (result.status, result.value) == ("ok", [])


def test_constructors_of_ours_lead_to_the_guests_own_world(ws):
    result = ws.run(
        """
        const made = [nocturn.call, nocturn.memory.read, console.log, NocturnError, print]
          .map((f) => f.constructor("return [this === globalThis, typeof process, typeof require]")());
        made.flat()""",
        limits=LIMITS,
    )
    assert result.value == [True, "undefined", "undefined"] * 5


def test_a_value_that_the_guest_takes_for_ours_is_only_a_value(ws):
    # Neither a made-up reply nor an error with our prototype is believed.
    result = ws.run(
        "const e = Object.create(NocturnError.prototype, {code: {value: 'LIMIT'}}); throw e",
        limits=LIMITS,
    )
    assert result.error.code is None
    subclass = ws.run(
        "class Mine extends NocturnError { get code() { return 'LIMIT' } }; throw new Mine('x', 'm')",
        limits=LIMITS,
    )
    assert subclass.error.code is None

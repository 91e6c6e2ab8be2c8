"""What happens later: timers, microtasks, signals, and when a run is over."""

import pytest

from nocturn import Limits, Workspace

LIMITS = Limits(wall_seconds=1)


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("ws"), limits=LIMITS) as workspace:
        yield workspace


def test_what_is_later_runs_in_the_order_of_node(ws):
    result = ws.run(
        "const out = [], say = x => out.push(x);"
        "setTimeout(say, 2, 'two'); setTimeout(say, 1, 'one'); setTimeout(say, 0, 'none');"
        "setTimeout(() => { say('jobs'); queueMicrotask(() => say('between')) }, 1);"
        "setTimeout(say, NaN, 'nan'); setTimeout(say, 2 ** 31, 'too long');"
        "setTimeout(say, -5, '-');"
        "queueMicrotask(() => say('micro')); Promise.resolve().then(() => say('then')); say('now');"
        "new Promise(f => setTimeout(() => f(out), 5))"
    )
    assert result.value == [
        *("now", "micro", "then", "one", "none", "jobs", "between", "nan", "too long", "-", "two"),
    ]  # fmt: skip


def test_timers_can_be_cleared_also_by_themselves(ws):
    result = ws.run(
        "let ticks = 0; const done = new Promise(f => { const i = setInterval(step => {"
        "  ticks += step; if (ticks === 6) { clearInterval(i); f() } }, 1, 2) });"
        "const never = setTimeout(() => { throw 1 }, 1); clearTimeout(never); clearTimeout(never);"
        "clearTimeout(undefined); clearInterval({});"
        "clearTimeout(String(setTimeout(() => { throw 2 })));"
        "await done; [ticks, typeof never]"
    )
    assert (result.status, result.value) == ("ok", [6, "number"])


def test_a_run_waits_for_its_timers_and_nothing_runs_after_the_result(ws):
    waited = ws.run("setTimeout(() => console.log('ran'), 1); 'value'")
    assert (waited.value, [line.text for line in waited.console]) == ("value", ["ran"])
    endless = ws.run("setInterval(() => 0, 1); 'value'", limits=Limits(wall_seconds=0.1))
    assert endless.status == "time_limit"
    thrown = ws.run("setTimeout(() => console.log('late')); throw new Error('first')")
    assert (thrown.error.message, thrown.console) == ("first", ())


IN_A_LISTENER = """const t = new EventTarget()
t.addEventListener('a', () => {
  null.x })
t.dispatchEvent(new Event('a')); 5"""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("\nsetTimeout(() => {\nnull.x }, 1); 5", 3),
        ("\n\n\nqueueMicrotask(() => { throw new TypeError('x') }); 5", 4),
        ("new EventTarget().addEventListener('a', 5)", 1),
        (IN_A_LISTENER, 3),
        ("setTimeout('code', 1)", 1),
    ],
)  # fmt: skip
def test_an_error_that_nobody_could_catch_ends_the_run_at_its_place(ws, source, line):
    result = ws.run(source, filename="t.js")
    assert (result.status, result.error.name) == ("guest_error", "TypeError")
    assert (result.error.file, result.error.line) == ("t.js", line)


@pytest.mark.parametrize(
    "source",
    [
        "await new Promise(() => {})",
        "new Promise(() => {})",
        "export default new Promise(() => {})",
        "const t = setTimeout(() => 0, 900); clearTimeout(t); await new Promise(() => {})",
        "const {resolve} = Promise.withResolvers(); await Promise.race([])",
        "await {then() {}}",
        "const x = await nocturn.now.async(); await new Promise(() => {})",
    ],
)
def test_g7_what_nothing_can_settle_never_settles_at_once(ws, source):
    result = ws.run(source, limits=Limits(wall_seconds=30))
    assert result.status == "never_settles"
    assert result.usage.wall_ms < 25_000  # not at the deadline


def test_g10_a_rejection_that_nobody_looks_at_is_a_row(ws):
    lost = ws.run("Promise.reject(new Error('lost'));5")
    assert (lost.status, lost.value, lost.error) == ("ok", 5, None)
    (row,) = lost.unhandled_rejections
    assert (row.name, row.message, row.line, row.source_line) == (
        *("Error", "lost", 1),
        "Promise.reject(new Error('lost'));5",
    )
    for source, count in (
        ("const p = Promise.reject(1); setTimeout(() => p.catch(() => 0), 1); 5", 0),
        ("Promise.reject(1).then(() => 2); 5", 1),
        ("(async () => { await 0; throw {a: 1} })(); await 1; 5", 1),
        ("for (let i = 0; i < 100; i++) Promise.reject(new Error('x'.repeat(1e5))); 5", 16),
        ("import('nothing'); 5", 1),
        ("Promise.reject(new Proxy({}, {get() { throw 1 }})); 5", 1),
        ("await Promise.allSettled([Promise.reject(1)]); 5", 0),
    ):
        result = ws.run(source)
        assert (result.status, result.value) == ("ok", 5), source
        assert len(result.unhandled_rejections) == count, source
    one = ws.run("const e = new Error('one'); Promise.reject(e); throw e")
    assert (one.status, one.unhandled_rejections) == ("guest_error", ())
    assert ws.run("let p; try { p = Promise.reject(1) } finally {} p").status == "guest_error"


def test_rejections_leave_room_for_a_value_of_the_largest_size(ws):
    result = ws.run(
        "for (let i = 0; i < 50; i++) Promise.reject('\\u0001'.repeat(1e4)); '\\u20ac'.repeat(2e5)",
        limits=Limits(value_bytes=1_200_000, call_bytes=1_000, console_bytes=1_000),
    )
    assert result.status == "ok"


STANDARD = {
    "listeners hear of an abort once": (
        """const c = new AbortController(), out = []
        c.signal.addEventListener('abort', e => out.push(e.type, e.target === c.signal))
        c.signal.onabort = e => out.push(e.isTrusted)
        c.abort(); c.abort('again');
        [...out, c.signal.aborted, c.signal.reason.name]""",
        ["abort", True, False, True, "AbortError"],
    ),
    "a signal throws its reason": (
        """const c = new AbortController()
        c.abort(7)
        try { c.signal.throwIfAborted() } catch (e) { e }""",
        7,
    ),
    "there is a reason for each": (
        """const {abort} = AbortSignal;
        [AbortSignal.abort().reason.name, AbortSignal.abort(null).reason,
         typeof new AbortController().signal.reason]""",
        ["AbortError", None, "undefined"],
    ),
    "a timeout aborts": (
        """await new Promise(settle => {
          AbortSignal.timeout(1).onabort = e => settle(e.target.reason.name) })""",
        "TimeoutError",
    ),
    "a timeout is not waited for": (
        "AbortSignal.timeout(60000); setTimeout(() => 0, 1); 'done'",
        "done",
    ),
    "any of any": (
        """const a = new AbortController(), b = new AbortController(), seen = []
        const any = AbortSignal.any([a.signal, b.signal])
        const both = AbortSignal.any([any, AbortSignal.timeout(60000)])
        b.signal.onabort = () => seen.push(any.aborted, both.aborted)
        both.onabort = () => seen.push('both')
        b.abort('b'); a.abort('a');
        [any.reason, both.reason, ...seen,
         AbortSignal.any([AbortSignal.abort(3), AbortSignal.abort(4)]).reason]""",
        ["b", "b", True, True, "both", 3],
    ),
    "what is refused": (
        """const name = f => { try { f() } catch (e) { return e.name } };
        [() => new AbortSignal(), () => AbortSignal.any([{}]), () => AbortSignal.timeout('x'),
         () => new Event(), () => new EventTarget().addEventListener('a', () => 0, {signal: 1})
        ].map(name)""",
        ["TypeError"] * 5,
    ),
    "listeners are kept once, called in order, and stopped": (
        """const t = new EventTarget(), n = [], f = () => n.push('f')
        const o = {handleEvent() { n.push(this === o) }}
        t.addEventListener('a', f); t.addEventListener('a', f)
        t.addEventListener('a', o, {once: true})
        t.addEventListener('a', e => e.stopImmediatePropagation())
        t.addEventListener('a', () => n.push('no'))
        t.dispatchEvent(new Event('a'))
        t.removeEventListener('a', f)
        t.dispatchEvent(new Event('a'))
        n""",
        ["f", True],
    ),
    "a signal takes a listener away": (
        """const t = new EventTarget(), c = new AbortController(), n = []
        t.addEventListener('a', () => n.push(1), {signal: c.signal})
        c.abort(); t.dispatchEvent(new Event('a'))
        n""",
        [],
    ),
    "the default is prevented where it can be": (
        """const t = new EventTarget()
        t.addEventListener('b', e => e.preventDefault());
        [t.dispatchEvent(new Event('b', {cancelable: true})), t.dispatchEvent(new Event('b'))]""",
        [False, True],
    ),
    "tags": (
        """[AbortSignal, AbortController, Event, EventTarget]
        .map(each => Object.prototype.toString.call(each.prototype).slice(8, -1))""",
        ["AbortSignal", "AbortController", "Event", "EventTarget"],
    ),
}


@pytest.mark.parametrize("what", STANDARD)
def test_events_and_aborting_are_the_standards(ws, what):
    source, value = STANDARD[what]
    result = ws.run(source)
    assert (result.status, result.value) == ("ok", value)


def test_a_guest_that_spoils_the_language_spoils_its_own_timers_only(ws):
    result = ws.run(
        "Object.defineProperty(Array.prototype, 0, {set() { throw 1 }});"
        "Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { throw 2 };"
        "performance.now = Date.now = () => { throw 3 }; Reflect.apply = Math.floor = null;"
        "Object.prototype.then = undefined; Promise.prototype.then = null;"
        "await new Promise(f => setTimeout(f, 1)); 'still'"
    )
    assert (result.status, result.value) == ("ok", "still")

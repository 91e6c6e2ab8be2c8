"""Guests that pass what is no plain value: proxies, thenables, torn buffers, and far too much."""

# ruff: noqa: E501 - lines of JavaScript

import sys

import pytest

from nocturn import Limits, Workspace, tool

LIMITS = Limits(wall_seconds=0.5, cpu_seconds=60)

TRAPS = (
    "get set has ownKeys getOwnPropertyDescriptor getPrototypeOf isExtensible defineProperty apply"
)
PROXIES = {
    "throws": "const bad = () => { throw new Error('trap') };",
    "throws itself": "const bad = () => { throw new Proxy({}, handler) };",
    "calls a tool": "const bad = () => { nocturn.call('time_now'); throw 1 };",
    "prints": "const bad = () => { console.log('trap'); return undefined };",
    "lies": "const bad = () => 'forged';",
    "gives proxies": "const bad = () => new Proxy([], {});",
    "never ends": "const bad = () => { for (;;); };",
    "recurses": "const bad = () => JSON.stringify(proxy) + console.log(proxy) + nocturn.call('x', proxy);",
}
MAKE = f"""
const handler = {{__proto__: null}};
for (const trap of '{TRAPS}'.split(' ')) handler[trap] = (...given) => bad(...given);
"""
USES = {
    "as a value": "proxy",
    "within a value": "({a: [new Map([[1, proxy]])]})",
    "as an argument": "nocturn.call('memory_read', proxy)",
    "within an argument": "nocturn.call('memory_read', {path: proxy})",
    "as a tool's name": "nocturn.call(proxy, {})",
    "as options": "nocturn.memory.list(proxy)",
    "on the console": "console.log(proxy, [proxy], {proxy}); 1",
    "thrown": "throw proxy",
    "as a rejection": "Promise.reject(proxy)",
    "as a detail": "throw new NocturnError('x', 'm', 't', proxy)",
    "as a message": "throw new NocturnError(proxy, proxy, proxy, proxy)",
    "as a name": "const e = new Error('m'); e.name = e.message = proxy; throw e",
    "as a prototype": "throw Object.create(proxy)",
    "to be awaited": "(async () => await proxy)()",
    "as a settled value": "new Promise((done) => done(proxy))",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("guests") / "workspace", limits=LIMITS) as workspace:
        yield workspace


@pytest.fixture
def guest(host):
    """Runs a hostile source and looks at the host afterwards."""

    def run(source, **options):
        result = host.run(source, **options)
        assert (result.error is None) == (result.status == "ok")
        assert result.to_json().isascii()
        assert host.run("1+1").value == 2
        return result

    return run


@pytest.mark.parametrize("use", USES)
def test_a_proxy_wherever_it_is_put_ends_as_a_value_or_an_error(guest, use):
    for kind in ("{}", "[]", "() => 1", "new Error()", "Promise.resolve(1)", "new Date()"):
        told = [
            guest(f"{bad} {MAKE} const proxy = new Proxy({kind}, handler); {USES[use]}").status
            for bad in (PROXIES["throws"], PROXIES["lies"], PROXIES["gives proxies"])
        ]
        assert set(told) <= {"ok", "guest_error", "never_settles"}


@pytest.mark.parametrize("kind", ["throws itself", "calls a tool", "prints", "recurses"])
def test_a_proxy_that_goes_on_from_within_is_held_to_the_same_limits(guest, kind):
    for use in USES.values():
        result = guest(
            f"{PROXIES[kind]} {MAKE} const proxy = new Proxy({{}}, handler); {use}",
            limits=Limits(wall_seconds=0.15),
        )
        assert result.status in ("ok", "guest_error", "never_settles", "time_limit")


def test_a_proxy_that_never_answers_is_stopped(guest):
    for use in ("as options", "to be awaited"):
        result = guest(
            f"console.log('kept');{PROXIES['never ends']} {MAKE}"
            f"const proxy = new Proxy({{}}, handler); {USES[use]}",
            limits=Limits(wall_seconds=0.2),
        )
        assert result.status == "time_limit"
        assert result.console[0].text == "kept"


@pytest.mark.parametrize("use", USES)
def test_a_revoked_proxy_ends_as_a_value_or_an_error(guest, use):
    for kind in ("{}", "[]", "() => 1", "new Error()"):
        result = guest(
            f"const {{proxy, revoke}} = Proxy.revocable({kind}, {{}}); revoke(); {USES[use]}"
        )
        assert result.status in ("ok", "guest_error")


@pytest.mark.parametrize(
    ("source", "status", "value"),
    [
        ("({then(f){f(7)}})", "ok", {}),
        ("Promise.resolve({then(f){f(7)}})", "ok", 7),
        ("Promise.resolve({then(f){f(1);f(2);throw 3}})", "ok", 1),
        ("Promise.resolve({then(f,r){r(new RangeError('no'))}})", "guest_error", None),
        ("Promise.resolve({get then(){throw new TypeError('no')}})", "guest_error", None),
        ("Promise.resolve({then(){}})", "never_settles", None),
        ("const p=Promise.resolve(1);p.then=()=>{for(;;);};p", "ok", 1),
        ("let f;const p=new Promise(g=>{f=g});f(p);p", "guest_error", None),
        ("const p=Promise.resolve(1);Object.defineProperty(p,'constructor',{get(){throw 1}});p",
         "ok", 1),
        ("class P extends Promise{static get [Symbol.species](){return Object}};P.resolve(1)",
         "ok", 1),
        ("class P extends Promise{then(){throw 1}};P.resolve(1)", "ok", 1),
        ("Object.create(Promise.prototype)", "guest_error", None),
        ("Object.setPrototypeOf(Promise.resolve(1),null)", "ok", 1),
        ("Object.setPrototypeOf(Promise.resolve(1),Array.prototype)", "ok", 1),
        ("Promise.resolve(Promise.reject({then(f){f(1)}}))", "guest_error", None),
        ("queueMicrotask(()=>{throw new Error('lost')});Promise.resolve().then(()=>5)",
         "guest_error", None),
        ("queueMicrotask({})", "guest_error", None),
        ("queueMicrotask(()=>console.log('ran'));5", "ok", 5),
    ],
)  # fmt: skip
def test_thenables_and_odd_promises(guest, source, status, value):
    result = guest(source)
    assert (result.status, result.value) == (status, value)


def test_one_job_that_throws_does_not_stop_the_others(guest):
    result = guest(
        "queueMicrotask(()=>{throw new Error('first')});"
        "queueMicrotask(()=>console.log('second'));queueMicrotask(()=>{throw 3});1"
    )
    assert (result.status, result.error.message) == ("guest_error", "first")
    assert [line.text for line in result.console] == ["second"]


@pytest.mark.parametrize(
    "source",
    [
        "const u=new Uint8Array(8);u.buffer.transfer();use(u)",
        "const b=new ArrayBuffer(8,{maxByteLength:64}),u=new Uint8Array(b);b.resize(64);use(u)",
        "const b=new ArrayBuffer(64,{maxByteLength:64}),u=new Uint8Array(b,32);b.resize(4);use(u)",
        "const b=new ArrayBuffer(64,{maxByteLength:64}),v=new DataView(b,32);b.resize(4);use(v)",
        "const u=new Float16Array([1.5,NaN,-0,Infinity]);use(u)",
        "const u=new BigUint64Array([2n**64n-1n]);use(u)",
        "const u=new Uint8Array(4);Object.setPrototypeOf(u,null);use(u)",
        "const u=Object.create(Uint8Array.prototype);use(u)",
        "use({__proto__:Date.prototype});use({__proto__:Map.prototype})",
        "use({__proto__:RegExp.prototype,source:1});use({__proto__:Error.prototype})",
        "use(new Date(NaN));use(Object(1n));use(Object(Symbol()));use(Object('s'))",
        "use(arguments=>1);use(globalThis);use(nocturn);use(Math);use(Symbol.prototype)",
        "use(new WeakRef({}));use(new WeakMap());use((function*(){})());use((async()=>{})())",
        "const a=[];a.length=2**32-1;console.log(a)",
        "const a=[1];a.x=a;a[2**31]=1;console.log(a)",
        "let m=new Map();for(let i=0;i<500;i++)m=new Map([[m,m]]);console.log(m)",
        "use(Object.defineProperty([],0,{get(){throw 1}}))",
        "use({get source(){throw 1},get flags(){throw 1}})",
        "const o={};for(let i=0;i<1e4;i++)o[Symbol(i)]=o['k'+i]=i;use(o)",
    ],
)
def test_torn_and_odd_objects(guest, source):
    result = guest(
        "const use=(it)=>{console.log(it,[it]);try{nocturn.call('nope',{it})}catch(e)"
        "{if(e.code!=='UNKNOWN_TOOL'&&e.code!=='BAD_ARGUMENTS'&&e!==1)throw e}};"
        + source
        + ";'end'"
    )
    assert (result.status, result.value) == ("ok", "end")


def test_printing_runs_no_getter_whatever_it_is_called(guest):
    result = guest(
        "console.log({get source(){console.log('ran')},get flags(){console.log('ran')}},"
        "{get message(){console.log('ran')},get name(){console.log('ran')}},"
        "{get size(){console.log('ran')},get length(){console.log('ran')}})"
    )
    assert len(result.console) == 1


@pytest.mark.parametrize(
    "name",
    [
        "{toString(){return 'time_now'}}",
        "['time_now']",
        "new String('time_now')",
        "Symbol('time_now')",
        "null",
        "undefined",
        "5n",
        "()=>'time_now'",
        "'x'.repeat(1e7)",
        "'\\ud800'",
        "'time_now\\u0000'",
        "'__proto__'",
        "'constructor'",
    ],
)
def test_a_tools_name_is_a_text_or_there_is_no_such_tool(guest, name):
    result = guest(f"nocturn.call({name}, {{}})")
    assert result.error.code == "UNKNOWN_TOOL"
    assert len(result.calls) == 1
    assert len(result.calls[0].tool) <= 4096


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ("{path:'x'.repeat(3e6)}", ("TOO_LARGE",)),
        ("{path:'\\u0001'.repeat(1e6)}", ("TOO_LARGE",)),
        ("'x'.repeat(3e6)", ("TOO_LARGE",)),
        ("{['k'.repeat(3e6)]:1}", ("TOO_LARGE",)),
        ("Array(4e5).fill(10)", ("BAD_ARGUMENTS",)),
        ("{path:Array(1e5).fill('x')}", ("BAD_ARGUMENTS",)),
        ("{path:'\\ud800.md'}", ("BAD_ARGUMENTS",)),
        ("{path:{}}", ("BAD_ARGUMENTS",)),
        ("{path:10n**4000n}", ("BAD_ARGUMENTS",)),
        ("{path:NaN}", ("BAD_ARGUMENTS",)),
        ("{__proto__:null,path:'a.md',['__proto__']:1}", ("BAD_ARGUMENTS",)),
        ("new Map([['path','a.md']])", ("BAD_ARGUMENTS",)),
        ("()=>1", ("BAD_ARGUMENTS",)),
        ("Symbol()", ("BAD_ARGUMENTS",)),
        ("null", ("BAD_ARGUMENTS",)),
    ],
)
def test_odd_and_huge_arguments_are_refused_with_a_code(guest, given, codes):
    result = guest(f"nocturn.call('memory_read', {given})", limits=Limits(wall_seconds=5))
    assert result.error.code in codes
    assert result.calls[0].code in codes


def test_a_value_as_long_as_a_frame_is_over_its_limit_and_breaks_nothing(guest):
    longest = Limits().frame_bytes // 3
    for length in (longest - 200, longest - 100, longest - 2, longest, longest + 1):
        result = guest(f"'\\u3042'.repeat({length})", limits=Limits(wall_seconds=5))
        assert result.status == "output_limit"


def test_a_million_lines_are_held_to_the_console_limit(guest):
    for line in ("''", "", "'x'", "'\\u3042'"):
        result = guest(
            f"for(let i=0;i<1e6;i++)console.log({line})",
            limits=Limits(wall_seconds=20, cpu_seconds=20, console_bytes=3000),
        )
        assert result.status == "output_limit"
        assert len(result.console) <= 3000
        assert sum(len(each.text.encode()) for each in result.console) <= 3000


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
def test_a_flood_of_everything_ends_at_the_deadline_and_the_host_stays_small(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def echo(text: str) -> str:
        return text

    ws = nocturn_workspace(tools=[echo])
    ws.run("nocturn.call('echo',{text:'x'})")
    before, grown = resident_kib(), []
    result = ws.run(
        "const text='x'.repeat(1e6);for(;;){console.log('');try{nocturn.call('echo',{text})}catch{}"
        "try{nocturn.call('nope',{text})}catch{}try{nocturn.call('x'.repeat(4096))}catch{}}",
        limits=Limits(wall_seconds=1.5, cpu_seconds=60, calls=1_000_000),
        on_call=lambda _: grown.append(resident_kib() - before),
    )
    assert result.status == "time_limit"
    assert len(grown) > 20
    # All that was sent is far more than this: what a call carried is let go when it has ended.
    assert max(grown) < 80_000


def test_calls_over_the_limit_are_not_told_one_by_one(guest):
    seen = []
    result = guest(
        "let n=0;for(let i=0;i<500;i++)try{nocturn.call('nope')}catch(e){n+=e.code==='LIMIT'};n",
        limits=Limits(calls=10),
        on_call=seen.append,
    )
    assert result.value == 490
    assert result.usage.calls == 500
    assert [call.code for call in result.calls] == ["UNKNOWN_TOOL"] * 10 + ["LIMIT"]
    assert len(seen) == 11


def resident_kib():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

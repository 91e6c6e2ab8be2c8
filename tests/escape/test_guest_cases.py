"""The list of nasty guests, row by row, each with others of its kind: a second, 64 MiB."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nocturn import Limits, Workspace, tool

LIMITS = Limits(wall_seconds=1, heap_bytes=64 << 20)
KEPT = "console.log('kept'); nocturn.call('time_now');"
STOP = ("time_limit", "memory_limit")


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """One workspace for all of them: what one leaves behind, another would meet."""
    with Workspace(tmp_path_factory.mktemp("guests") / "workspace") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def session(host):
    with host.session(limits=LIMITS) as session:
        yield session


@pytest.fixture
def guest(host, session):
    """Runs a hostile source after a line and a call that must be kept, then looks at the host.

    What ends by itself does so as a line of a session, too, which goes on afterwards.
    """

    def run(source):
        result = host.run(KEPT + source, limits=LIMITS)
        assert result.console[0].text == "kept"
        assert (result.calls[0].tool, result.calls[0].code) == ("time_now", None)
        assert result.isolation != "none"
        assert (result.error is None) == (result.status == "ok")
        assert host.run("1+1").value == 2
        if result.status in ("ok", "guest_error", "never_settles"):
            with session.fork() as twin:
                assert twin.eval(KEPT + source).status in (result.status, "ok", *STOP)
                assert twin.eval("1+1").value == 2
        return result

    return run


@pytest.mark.parametrize(
    "source",
    [
        "throw {toString(){for(;;);},get name(){for(;;);},get stack(){for(;;);}}",
        "throw {[Symbol.toPrimitive](){for(;;);},valueOf(){for(;;);},get message(){for(;;);}}",
        (
            "const e=new Error('m');for(const k of ['name','message','stack','cause','toString'])"
            "Object.defineProperty(e,k,{get(){for(;;);}});throw e"
        ),
        "class E extends Error{get name(){for(;;);} get message(){for(;;);}};throw new E()",
    ],
)
def test_g1_what_is_thrown_is_told_without_running_it(guest, source):
    result = guest(source)
    assert result.status == "guest_error"
    assert result.error.code is None


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("({ok:1,get x(){for(;;);}})", {"ok": 1}),
        ("({toJSON(){for(;;);}})", {}),
        (
            "({valueOf(){for(;;);},toString(){for(;;);},[Symbol.toPrimitive](){for(;;);},a:1})",
            {"a": 1},
        ),
        ("const d=new Date(0);d.toJSON=d.toISOString=()=>{for(;;);};d", "1970-01-01T00:00:00.000Z"),
        ("const m=new Map([[1,2]]);m.forEach=m[Symbol.iterator]=()=>{for(;;);};m", [[1, 2]]),
        ("class A{get x(){for(;;);} static get [Symbol.hasInstance](){for(;;);}};new A()", {}),
        ("BigInt.prototype.toJSON=()=>{for(;;);};[1n]", [1]),
    ],
)
def test_g2_a_value_is_told_without_running_it(guest, source, value):
    result = guest(source)
    assert (result.status, result.value) == ("ok", value)


@pytest.mark.parametrize(
    "source",
    [
        "throw {toString(){return nocturn.call('time_now',{})}}",
        "throw {get stack(){return nocturn.call('time_now',{})}}",
        "({toJSON(){return nocturn.call('time_now',{})}})",
        "({get x(){return nocturn.call('time_now',{})}})",
        "Promise.reject({toString(){return nocturn.call('time_now',{})}})",
        "queueMicrotask(()=>{throw {toString(){nocturn.call('time_now')}}}); 1",
        (
            "const r=new FinalizationRegistry(()=>{throw {toString(){nocturn.call('time_now')}}});"
            "(()=>{r.register({},1)})(); 1"
        ),
        "new FinalizationRegistry(()=>{}).constructor === FinalizationRegistry || missing",
    ],
)
def test_g3_telling_what_happened_calls_no_tool_and_never_ends_the_process(guest, source):
    result = guest(source)
    assert result.status in ("ok", "guest_error")
    assert len(result.calls) == 1


def test_g3_a_proxy_is_told_without_entering_it(guest):
    source = "new Proxy({},{ownKeys(){nocturn.call('time_now');return []}})"
    for result in (guest(source), guest("throw " + source), guest(f"console.log({source})")):
        assert result.status in ("ok", "guest_error")
        assert len(result.calls) == 1


def test_g3_what_a_job_throws_is_told_without_running_it(guest):
    # Only a promise of the guest's own making throws out of a job.
    for told in ("nocturn.call('time_now')", "1"):
        result = guest(
            "class P extends Promise{static get [Symbol.species](){return function(f){f(()=>{"
            f"throw {{message:'mine',toString(){{return {told}}}}}}},()=>{{}})}}}}}};"
            "P.resolve(4).then(()=>1); Promise.resolve().then(()=>0).then(()=>5)"
        )
        assert (result.status, result.error.message) == ("guest_error", "mine")
        assert len(result.calls) == 1


NEVER_ENDS = [
    "Array.prototype.indexOf.call({length:4294967295},99)",
    "(new Array(1e9)+'').length",
    "new Array(1e9).sort()",
    "/^(a+)+$/.test('a'.repeat(40)+'b')",
    "(async()=>{for(;;)await null})()",
    "try{for(;;);}catch(e){for(;;);}finally{for(;;);}",
    "const t={then(r){r(t)}}; Promise.resolve(t)",
    "let a=[];for(;;){try{for(;;)a.push(new Array(1e3).fill(7))}catch{}}",
    "let a=[];for(;;){try{for(;;)a.push({})}catch{}}",
    "let a=[];for(;;)a.push(new Array(1e3).fill(7))",
    "let a=[];for(;;)a.push({})",
    "(async()=>{const a=[];for(;;)a.push({x:await a.length})})()",
]


def test_g4_g5_g6_g20_g22_what_never_ends_or_never_stops_growing_is_stopped(guest):
    with ThreadPoolExecutor(4) as threads:  # each takes its whole second
        told = dict(zip(NEVER_ENDS, threads.map(guest, NEVER_ENDS), strict=True))
    assert [source for source, result in told.items() if result.status not in STOP] == []


def test_g8_a_slow_tool_is_left_to_the_journal(nocturn_workspace):
    release, at_work = threading.Event(), []

    @tool(axis="read", effects="ungated")
    def slow() -> str:
        at_work.append(threading.current_thread())
        release.wait(30)
        return "late"

    ws = nocturn_workspace(tools=[slow])
    result = ws.run(KEPT + "nocturn.call('slow')", limits=LIMITS)
    assert result.status == "time_limit"
    assert [call.code for call in result.calls] == [None, "CANCELLED"]
    assert ws.run("1+1").value == 2
    release.set()
    ws.close()
    at_work[0].join(10)
    assert not at_work[0].is_alive()


def test_g12_nul_is_a_character(guest):
    assert guest("'a\\u0000b'").value == "a\0b"
    assert guest("'a\0b'").value == "a\0b"
    assert guest("/* \0 */ 3").value == 3


def test_g12_nul_in_an_argument_arrives(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def echo(text: str) -> str:
        assert text == "a\0b"
        return text

    result = nocturn_workspace(tools=[echo]).run(
        "nocturn.call('echo',{text:'a\\u0000b'})", limits=LIMITS
    )
    assert result.value == "a\0b"


@pytest.mark.parametrize("number", [2**31, 2**40, 2**53 - 1, 2**53 + 1])
def test_g13_a_number_from_a_tool_is_exact_or_refused(nocturn_workspace, number):
    @tool(axis="read", effects="ungated")
    def give() -> int:
        return number

    result = nocturn_workspace(tools=[give]).run("String(nocturn.call('give'))", limits=LIMITS)
    assert result.value == str(number) or result.error.code == "INTERNAL"


def test_g13_a_number_of_the_guests_is_exact_or_refused(guest):
    assert guest("2n**70n").value == 2**70
    assert guest("-(2n**14000n)").value == -(2**14000)
    zero, nan, infinity = guest("[-0,NaN,Infinity]").value
    assert str(zero) == "-0.0"
    assert nan != nan  # noqa: PLR0124 - that is what NaN is
    assert infinity == float("inf")
    refused = guest("({a:[10n**4300n]})")
    assert refused.status == "guest_error"
    assert "value.a[0]" in refused.error.message


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("var c={};c.c=c;c", "value.c"),
        ("let a=[];for(let i=0;i<1e5;i++)a=[a];a", "value[0]"),
        ("let a={};for(let i=0;i<1e5;i++)a={a};a", "value.a"),
        ("const m=new Map();m.set('k',m);m", "value[1]"),
        ("const s=new Set();s.add(s);s", "value"),
        ("const k='k'.repeat(2e6),c={};c[k]=c;c", 'value["kkkk'),
        ("const k='\\u0001'.repeat(2e6),c={};c[k]=c;c", "value["),
    ],
)
def test_g15_what_has_no_end_is_an_error_that_names_the_place(guest, source, place):
    result = guest(source)
    assert result.status == "guest_error"
    assert place in result.error.message
    call = guest(
        source.removesuffix(source.rsplit(";", 1)[1]) + "nocturn.call('time_now',"
        f"{{x:{source.rsplit(';', 1)[1]}}})"
    )
    assert call.error.code == "BAD_ARGUMENTS"
    assert place.replace("value", "arguments.x") in call.error.message


def test_g17_an_error_of_ours_leads_nowhere(nocturn_workspace):
    @tool(axis="read", effects="ungated")
    def broken() -> str:
        raise ValueError("secret /etc/shadow")

    result = nocturn_workspace(tools=[broken]).run(
        "try{nocturn.call('broken')}catch(e){[e.code,e.detail.call,[e.name,e.message,e.stack,"
        "JSON.stringify(e)].join(),e.constructor.constructor('return typeof process')(),"
        "typeof e.constructor.isGenuine,Object.getOwnPropertyNames(e).sort().join()]}",
        limits=LIMITS,
    )
    code, call, said, process, genuine, names = result.value
    assert (code, process, genuine) == ("INTERNAL", "undefined", "undefined")
    assert len(call) == 16
    assert names == "code,detail,message,tool"
    for word in ("shadow", "ValueError", ".py", "prelude", "worker"):
        assert word not in said


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("throw Symbol('q')", "Thrown"),
        ("throw null", "Thrown"),
        ("throw undefined", "Thrown"),
        ("throw 10n**9n", "Thrown"),
        ("throw ()=>{}", "Thrown"),
        ("throw Object.create(null)", "Thrown"),
        ("throw 'x'.repeat(1e5)", "Thrown"),
        ("throw {name:'n'.repeat(1e6),message:'m'.repeat(1e6),stack:'s'.repeat(1e6)}", None),
        ("const e=new Error('q');e.name=Symbol('s');throw e", "Error"),
        ("const e=new Error('q');e.name={toString(){throw 1}};throw e", "Error"),
        ("throw new Error('x'.repeat(1e5))", "Error"),
        ("const e=new Error('\\u0001'.repeat(1e6));e.name='\\ud800'.repeat(1e6);throw e", None),
        ("throw new AggregateError([new AggregateError([1])],'a')", "AggregateError"),
        ("throw new NocturnError('x','y','z',{a:'w'.repeat(8e6)})", "NocturnError"),
        ("throw new NocturnError('x','y','z',new Proxy({},{ownKeys(){throw 1}}))", "NocturnError"),
        ("const d={};d.d=d;throw new NocturnError('x','y','z',d)", "NocturnError"),
        ("throw new NocturnError({toString(){for(;;);}},'m')", "NocturnError"),
    ],
)
def test_g18_whatever_is_thrown_is_a_structured_error_and_capped(guest, source, name):
    result = guest(source)
    assert result.status == "guest_error"
    assert name in (None, result.error.name)
    assert result.error.code is None
    assert len(result.to_json()) < 200_000


def test_g18_under_the_smallest_limits_an_error_is_still_an_error(host):
    small = Limits(wall_seconds=1, value_bytes=1, call_bytes=1, console_bytes=1)
    for source in (
        "const e=new Error('\\u0001'.repeat(1e5));e.name='\\u0001'.repeat(1e5);throw e",
        "throw new NocturnError('\\u0001'.repeat(1e5),'\\u0001'.repeat(1e5),'\\u0001'.repeat(1e5))",
        "const k='\\u0001'.repeat(1e5);let o={};for(let i=0;i<300;i++)o={[k]:o};o",
    ):
        assert host.run(source, limits=small).status == "guest_error"


def test_g18_a_code_that_there_is_not_is_none_and_a_forged_one_is_harmless(guest):
    assert guest("throw new NocturnError('MADE_UP','m')").error.code is None
    forged = guest("throw new NocturnError('GATE_DENIED','m','memory_write',{reason:'policy'})")
    assert forged.error.code == "GATE_DENIED"
    assert [call.tool for call in forged.calls] == ["time_now"]
    assert guest("throw {__proto__:NocturnError.prototype,code:'LIMIT'}").error.code is None
    assert guest("throw Object.assign(new Error(),{code:'LIMIT'})").error.code is None


@pytest.mark.parametrize(
    "source",
    [
        "(function f(){return f()})()",
        "(0,eval)('('.repeat(2e5)+'1'+')'.repeat(2e5))",
        "(0,eval)('['.repeat(2e5))",
        "(0,eval)('!'.repeat(2e6)+'1')",
        "(0,eval)('a?'.repeat(2e5))",
        "(0,eval)('{'.repeat(2e5))",
        "(0,eval)('`${'.repeat(2e5))",
        "(0,eval)('async()=>'.repeat(2e5))",
        "new Function('x'.repeat(10)+'=>{'.repeat(2e5))",
        "JSON.parse('['.repeat(2e5))",
        "JSON.parse('{\"a\":'.repeat(2e5))",
        "new RegExp('('.repeat(2e5))",
        "new RegExp('(?='.repeat(2e5))",
        "new RegExp('['.repeat(2e5),'v')",
        "let a=[];for(let i=0;i<2e5;i++)a=[a];JSON.stringify(a)",
        "let a=[];for(let i=0;i<2e5;i++)a={a};JSON.stringify(a)",
        "let a=[];for(let i=0;i<2e5;i++)a=[a];String(a)",
        "let a=[];for(let i=0;i<2e5;i++)a=[a];a.flat(Infinity)",
        "let p={};for(let i=0;i<2e5;i++)p=new Proxy(p,{});p.x",
        "let p=function(){};for(let i=0;i<2e5;i++)p=p.bind();p()",
        "const o={get x(){return o.x}};o.x",
        "const o={toString(){return ''+o}};''+o",
        "const o={toJSON(){return JSON.stringify(o)}};JSON.stringify(o)",
        "const a=[3,1,2];const f=()=>a.sort(f);f()",
        "const f=()=>'x'.replace(/x/,f);f()",
        "class A{constructor(){new A()}};new A()",
        "const f=(...a)=>Reflect.apply(f,null,a);f()",
        "const p=new Proxy({},{get(t,k,r){return r[k]}});p.x",
    ],
)
def test_g21_recursion_is_an_error_that_can_be_caught(guest, source):
    result = guest(f"let e; try{{{source}}}catch(x){{e=x}}; [e && e.name, 1+1]")
    assert result.status == "ok"
    name, two = result.value
    assert name in ("RangeError", "SyntaxError", "InternalError", None)
    assert two == 2


def test_g21_who_is_deep_in_a_recursion_can_still_use_json(guest):
    deep = guest("const f=n=>n?f(n-1):JSON.stringify({a:1});[100,2000,6000].map(f)")
    assert deep.value == ['{"a":1}'] * 3
    out = guest(
        "const f=n=>{try{return f(n+1)}catch{try{JSON.stringify({a:1})}catch{};return n}};"
        "const first=f(0),g=n=>n?g(n-1):n;[g(first>>1),JSON.stringify(1)]"
    )
    assert out.value == [0, "1"]


@pytest.mark.parametrize(
    "source",
    [
        "new ArrayBuffer(2**31)",
        "new Uint8Array(2**40)",
        "new SharedArrayBuffer(2**33)",
        "new ArrayBuffer(8,{maxByteLength:2**33}).resize(2**33)",
        "'x'.repeat(2**30)",
        "'x'.padEnd(2**29)",
        "Array(1e9).fill(1)",
        "'a'.repeat(1e7).split('')",
        "let s='x';for(;;)s+=s",
        "2n**(2n**30n)",
        "JSON.parse('['+'1,'.repeat(1e8)+'1]')",
        "Symbol('x'.repeat(1e8))",
    ],
)
def test_g22_a_huge_value_is_an_error_or_a_stop(guest, source):
    assert guest(source).status in ("guest_error", *STOP)


def test_g22_a_guest_that_lets_go_of_its_memory_goes_on(guest):
    result = guest("let a=[];try{for(;;)a.push(new Array(1e3).fill(7))}catch{}; a=null; 'alive'")
    assert result.value == "alive"


@pytest.mark.parametrize(
    "change", ["b.resize(8)", "b.resize(0)", "b.resize(1<<20)", "b.transfer()", "u.fill(3)"]
)
@pytest.mark.parametrize("kind", ["Float64Array", "Uint8Array", "BigInt64Array"])
def test_g23_a_buffer_that_changes_while_it_is_sorted(guest, kind, change):
    result = guest(
        f"const b=new ArrayBuffer(8000,{{maxByteLength:1<<20}}),u=new {kind}(b);let n=0;"
        f"u.sort((x,y)=>{{if(n++===9){{{change}}};return n%3-1}});u.length"
    )
    assert result.status in ("ok", "guest_error")


def test_g27_a_place_is_the_users(host):
    source = "// one\n// two\n\nnull.x;\n"
    error = host.run(source, filename="file.js", limits=LIMITS).error
    assert (error.file, error.line, error.source_line) == ("file.js", 4, "null.x;")
    assert error.column > 0

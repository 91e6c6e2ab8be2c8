"""What crosses between JavaScript and Python: exactly, by one table, or it is refused by its place."""

# ruff: noqa: E501 - lines of JavaScript

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nocturn import Limits, Workspace, tool

SENT = {
    "null": None,
    "undefined": None,
    "true": True,
    "-0": -0.0,
    "NaN": math.nan,
    "-Infinity": -math.inf,
    "2**53": 2**53,
    "1e21": 1e21,
    "5e-324": 5e-324,
    "2n**70n": 2**70,
    "10n**4299n": 10**4299,
    "'a\\u0000b'": "a\0b",
    "[undefined,,1]": [None, None, 1],
    "({a:undefined,b:null})": {"b": None},
    "JSON.parse('{\"__proto__\":1}')": {"__proto__": 1},
    "({1:2,'':3})": {"1": 2, "": 3},
    "new Date(0)": "1970-01-01T00:00:00.000Z",
    "new Map([[{k:1},[2]],['x',undefined]])": [[{"k": 1}, [2]], ["x", None]],
    "new Set([1,'a',undefined])": [1, "a", None],
    "new Float64Array([1.5,-0,NaN])": [1.5, -0.0, math.nan],
    "new BigUint64Array([2n**64n-1n])": [2**64 - 1],
    "Buffer.from('ab')": [97, 98],
    "new RangeError('m',{cause:1})": {"name": "RangeError", "message": "m"},
    "new DOMException('m','AbortError')": {"name": "AbortError", "message": "m"},
    "[Object(1),Object('s'),Object(true),Object(2n)]": [1, "s", True, 2],
    "new (class A{x=1;#y=2;get z(){return 3}})()": {"x": 1},
    "Object.create({inherited:1},{hidden:{value:1},own:{value:2,enumerable:true}})": {"own": 2},
    "({get a(){throw 1},b:1,[Symbol('s')]:2,f(){}})": {"b": 1},
    "({toJSON(){return 'no'}}).x": None,
    "Object.assign([1],{extra:2})": [1],
    "new URL('http://h/x')": "http://h/x",
    "new URLSearchParams('a=1&b=2')": "a=1&b=2",
}
REFUSED = {
    "[()=>1]": "[0] is a function",
    "[1,[Symbol('x')]]": "[1][0] is a symbol",
    "Object(Symbol())": " is a symbol",
    "new Proxy({},{})": " is a Proxy",
    "[Promise.resolve(1)]": "[0] is a Promise: await it",
    "({when:new Date(NaN)})": ".when is an invalid Date",
    "[/x/]": "[0] is a RegExp",
    "new ArrayBuffer(1)": " is a buffer",
    "new Map().entries()": " is an iterator",
    "(function*(){})()": " is an iterator",
    "new WeakMap()": " cannot be looked into",
    "[[10n**4300n]]": "[0][0] has more than 4300 digits",
    "(()=>{const o={a:[]};o.a.push(o);return o})()": ".a[0] refers back to itself",
    "(()=>{let o=1;for(let i=0;i<300;i++)o={o};return o})()": " is nested more than 256 deep",
    "({'a b':{c:new Set([()=>1])}})": '["a b"].c["(item)"] is a function',
}


class Taken(list):
    """What a tool was given, in order."""


@pytest.fixture(scope="module")
def taken():
    return Taken()


@pytest.fixture(scope="module")
def offered():
    return []


@pytest.fixture(scope="module")
def house(taken, offered, tmp_path_factory):
    @tool(axis="read", effects="ungated")
    def take(value: Any = None) -> None:
        taken.append(value)

    @tool(axis="read", effects="ungated")
    def offer() -> Any:
        return offered[0]

    path = tmp_path_factory.mktemp("values") / "workspace"
    with Workspace(path, tools=[take, offer], limits=Limits(wall_seconds=30, calls=10_000)) as ws:
        yield ws


def exact(value):
    """Tells apart what Python's == does not: 1, 1.0 and True, 0.0 and -0.0; and takes NaN for NaN."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    return (type(value).__name__, repr(value))


def test_what_is_returned_and_what_is_given_to_a_tool_are_the_same_by_one_table(house, taken):
    taken.clear()
    # As arguments in an object, and so without what is undefined.
    source = f"const all = [{','.join(SENT)}]; for (const value of all) nocturn.call('take', {{value: value ?? null}}); all"
    result = house.run(source)
    assert result.status == "ok", result.error
    wanted = exact(list(SENT.values()))
    assert exact(result.value) == wanted
    assert exact(taken) == wanted


def test_a_sessions_lines_give_what_a_run_gives_and_nothing_where_that_is_refused(house):
    with house.session() as session:
        values = [session.eval(f"({value})").raise_for_error().value for value in SENT]
        assert exact(values) == exact(list(SENT.values()))
        refused = [session.eval(f"({value})").raise_for_error() for value in REFUSED]
        assert {each.value for each in refused} == {None}
        assert all(each.shown for each in refused)


def test_what_cannot_cross_is_refused_by_its_place_both_as_argument_and_as_result(house, taken):
    taken.clear()
    makers = ",".join(f"() => ({value})" for value in REFUSED)
    result = house.run(
        f"[{makers}].map((make) => {{ try {{ nocturn.call('take', {{value: make()}}); return 'taken' }}"
        " catch (e) { return [e.code, e.message] } })"
    )
    for reason, (code, message) in zip(REFUSED.values(), result.value, strict=True):
        assert code == "BAD_ARGUMENTS"
        assert reason in message
        assert message.startswith("arguments")
    assert taken == []
    for value, reason in list(REFUSED.items())[:6]:
        error = house.run(value).error
        assert f"the result cannot leave: value{reason}" in error.message


def test_half_a_surrogate_pair_is_a_result_but_no_argument(house):
    assert house.run("['\\ud800']").value == ["\ud800"]
    assert house.run("nocturn.call('take', {value: '\\ud800'})").error.code == "BAD_ARGUMENTS"


# ---- both ways, with anything --------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EXACT_INTEGER = st.integers(-(2**53) + 1, 2**53 - 1)


def nested(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
        max_leaves=12,
    )


FROM_PYTHON = nested(
    st.none()
    | st.booleans()
    | EXACT_INTEGER
    | TEXT
    | st.floats(allow_nan=False, allow_infinity=False)
)
FROM_JAVASCRIPT = nested(
    st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats() | TEXT
)


def as_javascript(value):
    """Returns an expression that makes what ``value`` is to come back as."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 2**53 else f"{value}n"
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), repr(value))
    if isinstance(value, list):
        return f"[{','.join(as_javascript(each) for each in value)}]"
    if isinstance(value, dict):
        pairs = ",".join(
            f"[{json.dumps(key)}]:{as_javascript(each)}" for key, each in value.items()
        )
        return f"({{{pairs}}})"
    return json.dumps(value)


def as_number(value):
    """JavaScript has one kind of number: a whole one comes back as an int, as far as it is not 1e21."""
    if isinstance(value, dict):
        return {key: as_number(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_number(item) for item in value]
    is_whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    if is_whole and abs(value) < 1e21 and repr(value) != "-0.0":
        return int(value)
    return value


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FROM_JAVASCRIPT, min_size=1, max_size=12))
def test_any_value_of_a_guest_crosses_exactly(house, taken, values):
    taken.clear()
    result = house.run(
        f"const all = {as_javascript(values)};"
        "for (let i = 0; i < all.length; i++) nocturn.call('take', {value: all[i]}); all"
    )
    assert result.status == "ok", result.error
    assert exact(result.value) == exact(as_number(values))
    assert exact(taken) == exact(as_number(values))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FROM_PYTHON)
def test_any_value_of_a_tool_crosses_exactly_and_comes_back_the_same(house, offered, value):
    offered[:] = [value]
    result = house.run(
        "const given = nocturn.call('offer');"
        f"[given, JSON.stringify(given) === JSON.stringify({as_javascript(value)})]"
    )
    assert result.status == "ok", result.error
    # The guest saw what it was, and what it was came back.
    assert exact(result.value) == exact([as_number(value), True])

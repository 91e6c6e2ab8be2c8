"""No attack: what an engine needs to run a guest still works inside the lock."""

from __future__ import annotations

import pytest

ENGINE = """
import _quickjs

def prepare():
    context = _quickjs.Context()
    context.set_max_stack_size(16 * 1_048_576)
    context.set_memory_limit(67_108_864)
    context.add_callable("host", lambda text: text.upper())
    return context

def attack(context):
    return str(context.eval({source!r}))
"""
WORKS = {
    "arithmetic": ("1 + 1", "2"),
    "a host function": ("host('abc')", "ABC"),
    "JSON": ('JSON.stringify(JSON.parse(\'[1,{"a":"é"}]\'))', '[1,{"a":"é"}]'),
    "a regular expression": ("'xaab'.replace(/(?<p>a+)/u, '<$<p>>')", "x<aa>b"),
    "a date": ("new Date(0).toString()", "Thu Jan 01 1970 00:00:00 GMT+0000"),
    "Math.random": ("Math.random() < 1", "True"),
    "9,000 frames": ("let n=0; function f(){n++; f()} try{f()}catch(e){}; n >= 9000", "True"),
    "a deep source": (
        "try { (0, eval)('('.repeat(2e5)) } catch (e) { e.name }",
        "RangeError",
    ),
    "deep JSON": ("try { JSON.parse('['.repeat(2e5)) } catch (e) { e.name }", "RangeError"),
    "a full heap": (
        "let a = []; try { for (;;) a.push('x'.repeat(1e5)) } catch (e) { a = 0; e.name }",
        "InternalError",
    ),
    "a large string": ("'x'.repeat(3e7).length", "30000000"),
}
READABLE = """
def attack(_):
    try:
        import decimal
    except ImportError as error:
        return type(error).__name__
"""
ENTROPY = """
def attack(_):
    os.urandom(8)
"""


@pytest.mark.parametrize(("source", "value"), WORKS.values(), ids=WORKS.keys())
def test_the_engine_works_inside_the_lock(locked, source, value):
    assert locked(ENGINE.format(source=source)) == value


# A chain of iterator helpers recurses in C and never looks at QuickJS's own limit.
CHAIN = "let it=[1].values(); for(let i=0;i<5e4;i++) it=it.map(x=>x); try{it.next().value}catch{}"


def test_recursion_in_c_needs_the_large_stack(locked):
    assert locked(ENGINE.format(source=CHAIN)) in {"1", "None"}
    assert locked(ENGINE.format(source=CHAIN), skip={"stack"}) == "killed by SIGSEGV"


def test_a_late_import_fails_readably(locked):
    assert locked(READABLE) == "ModuleNotFoundError"


def test_randomness_is_there(locked):
    assert locked(ENTROPY) == "succeeded"

"""No attack: the report says what holds, and never more."""

from __future__ import annotations

import json

import pytest

from nocturn.worker import lockdown

TELL = """
import json

def attack(_):
    return json.dumps(lockdown.report())
"""
FORKED = """
import json

def attack(_):
    zygote = os.getpid()
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    report = lockdown.lock_worker(heap_bytes=1 << 26, cpu_seconds=5, parent_pid=zygote)
    return json.dumps(report)
"""
THREADED = """
import _thread

def prepare():
    gate = _thread.allocate_lock()
    gate.acquire()
    _thread.start_new_thread(gate.acquire, ())

def attack(_):
    pass
"""
NAMES = [name for name, _, _ in lockdown.STEPS]
SECOND_HALF = {name for name, half, _ in lockdown.STEPS if half == "worker"}


def told(outcome):
    report = json.loads(outcome)
    return report["level"], report["steps"]


@pytest.mark.usefixtures("landlock")
def test_every_step_on_is_full(locked):
    level, steps = told(locked(TELL))
    assert level == "full"
    assert steps == dict.fromkeys(NAMES, "on")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "no_new_privs"])
def test_a_step_that_was_left_out_is_told_and_lowers_the_level(locked, name):
    level, steps = told(locked(TELL, skip={name}))
    assert steps[name] == "off: left out"
    wanted = {"landlock": "no-landlock", "files": "none", "processes": "none", "cpu": "none"}
    assert level == wanted.get(name, "rlimits-only")


def test_nothing_taken_is_none(locked):
    level, steps = told(locked(TELL, skip=NAMES))
    assert level == "none"
    assert set(steps.values()) == {"off: left out"}


def test_before_any_step_the_level_is_none():
    report = lockdown.report()
    assert report["level"] == "none"
    assert set(report["steps"].values()) == {"off: not taken"}


def test_a_step_that_there_is_not_cannot_be_left_out():
    with pytest.raises(ValueError, match="landlok"):
        lockdown.lock_zygote(skip=frozenset({"landlok"}))
    with pytest.raises(ValueError, match="landlok"):
        lockdown.lock_worker(heap_bytes=1, cpu_seconds=1, parent_pid=1, skip=frozenset({"landlok"}))


def test_a_second_thread_would_stay_outside_and_is_refused(locked):
    assert locked(THREADED) == "not locked: no_new_privs"


def test_the_steps_keep_the_order_that_the_docstring_gives_reasons_for():
    lines = (lockdown.__doc__ or "").splitlines()
    told_names = [line.split()[0] for line in lines if line.startswith("      ")]
    assert told_names == NAMES


@pytest.mark.usefixtures("landlock")
def test_a_fork_of_a_locked_zygote_needs_only_the_second_half(locked):
    # The first half with nothing of the second: then fork, as a zygote would.
    assert told(locked(FORKED, skip=SECOND_HALF)) == ("full", dict.fromkeys(NAMES, "on"))


def test_a_worker_that_skipped_the_first_half_does_not_claim_it(locked):
    kept = SECOND_HALF | {"no_new_privs"}  # which seccomp asks of an ordinary user
    level, steps = told(locked(TELL, skip=set(NAMES) - kept))
    assert level == "none"
    assert {name for name in NAMES if steps[name] == "on"} == kept


@pytest.mark.usefixtures("landlock")
def test_a_step_that_fails_is_an_error_and_not_a_lower_level(locked):
    assert locked(TELL, skip={"no_new_privs"}) == "not locked: landlock"
    assert locked(TELL, skip={"no_new_privs", "landlock"}) == "not locked: seccomp"

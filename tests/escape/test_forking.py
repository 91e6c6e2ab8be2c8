"""Attack: leave a process behind, or very many."""

from __future__ import annotations

import pytest

WALLS = {"seccomp", "processes"}
FORK = """
def attack(_):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
"""
CLONE3 = """
import signal

def attack(_):
    order = struct.pack("=11Q", 0, 0, 0, 0, int(signal.SIGCHLD), 0, 0, 0, 0, 0, 0)
    child = call("clone3", order, len(order))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
"""
THREAD = """
import _thread

def attack(_):
    try:
        _thread.start_new_thread(print, ())
    except RuntimeError:
        return "refused"
"""
BOTH = pytest.mark.parametrize("attack", [FORK, CLONE3], ids=["fork", "clone3"])


@BOTH
def test_no_process_can_be_started(locked, attack):
    assert locked(attack) == "killed by SIGSYS"


@BOTH
def test_no_process_can_be_started_when_only_the_limit_holds(locked, attack, user):
    if user == "session":
        pytest.skip("a session's forks are ruled on one by one, by seccomp")
    assert locked(attack, skip={"seccomp"}) == "EAGAIN"


@BOTH
def test_a_process_could_be_started_without_the_lock(locked, attack):
    assert locked(attack, skip=WALLS | {"forks"}) == "succeeded"


def test_no_thread_can_be_started(locked):
    assert locked(THREAD) == "killed by SIGSYS"
    assert locked(THREAD, skip={"seccomp", "forks"}) == "refused"
    assert locked(THREAD, skip=WALLS | {"forks"}) == "succeeded"

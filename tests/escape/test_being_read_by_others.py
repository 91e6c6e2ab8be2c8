"""Attack from outside: another process of the same user reads the worker, or its core dump."""

from __future__ import annotations

ASK = """
def attack(_):
    return "dumpable" if libc.prctl(3, 0, 0, 0, 0) else "closed"
"""
CORE = """
def attack(_):
    return "none" if resource.getrlimit(resource.RLIMIT_CORE) == (0, 0) else "some"
"""


def test_the_worker_is_closed_to_debuggers_of_its_own_user(locked, user):
    assert locked(ASK, skip={"seccomp"}) == "closed"
    if user not in ("root", "session"):  # a change of user closes a process by itself
        assert locked(ASK, skip={"seccomp", "undumpable"}) == "dumpable"


def test_the_worker_leaves_no_core_dump(locked):
    assert locked(CORE, skip={"seccomp"}) == "none"

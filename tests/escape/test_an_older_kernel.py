"""No attack: where the kernel or a container lacks something, it is told and never passed over."""

from __future__ import annotations

import json
import os

import pytest

from nocturn.worker import lockdown

# Before the lock, a filter of the test's own answers one call (by its numbers on x86-64 and
# aarch64) with an error, as an older kernel or a container would.
LACK = """
import json

def prepare():
    number = {numbers}[column]
    load, compare = (0x20, 0, 0, 0), (0x15, 0, 1, number)
    refuse, allow = (6, 0, 0, 0x50000 | {error}), (6, 0, 0, 0x7FFF0000)
    program = b"".join(struct.pack("=HBBI", *each) for each in (load, compare, refuse, allow))
    kept = ctypes.create_string_buffer(program, 32)
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.prctl(22, 2, struct.pack("@HP", 4, ctypes.addressof(kept)), 0, 0) == 0

def attack(_):
    {attack}
"""
TELL = "return json.dumps(lockdown.report())"
ENOSYS, EPERM = 38, 1
LANDLOCK, CLOSE_RANGE, SECCOMP, SETRESUID = (444, 444), (436, 436), (317, 277), (117, 147)


def lacking(numbers, error, attack=TELL):
    return LACK.format(numbers=numbers, error=error, attack=attack)


def held_by(outcome):
    report = json.loads(outcome)
    return report["level"], {name: why for name, why in report["steps"].items() if why != "on"}


def test_without_landlock_the_level_is_no_landlock(locked):
    wanted = {"landlock": "off: this kernel offers no Landlock (ENOSYS)"}
    assert held_by(locked(lacking(LANDLOCK, ENOSYS))) == ("no-landlock", wanted)


def test_without_seccomp_the_level_is_rlimits_only(locked, user):
    wanted = {"seccomp": "off: this kernel has no seccomp that kills (EPERM)"}
    if user == "session":
        wanted["forks"] = "off: this kernel lets nobody rule on single forks (EPERM)"
    assert held_by(locked(lacking(SECCOMP, EPERM))) == ("rlimits-only", wanted)


def test_root_that_cannot_become_another_user_is_told(locked, user):
    if user not in ("root", "session") or os.geteuid() != 0:
        pytest.skip("an ordinary user stays who he is")
    wanted = {"privileges": "off: root could not become user 65534 here (EPERM)"}
    assert held_by(locked(lacking(SETRESUID, EPERM))) == ("rlimits-only", wanted)


def test_without_close_range_every_descriptor_is_closed_all_the_same(locked):
    reader, writer = os.pipe()
    attack = lacking(CLOSE_RANGE, ENOSYS, f"os.write({writer}, b'x')")
    try:
        assert locked(attack, fds=(writer,)) == "EBADF"
        assert locked(attack, fds=(writer,), skip={"descriptors"}) == "succeeded"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_machine_that_is_not_posix_has_no_level(monkeypatch):
    monkeypatch.setattr(lockdown, "_state", lockdown._State())
    monkeypatch.setattr(lockdown.os, "name", "nt")
    lockdown.lock_zygote()
    report = lockdown.lock_worker(heap_bytes=1, cpu_seconds=1, parent_pid=1)
    assert report["level"] == "none"
    assert set(report["steps"].values()) == {"off: this system is not POSIX"}


LOW_STACK = """
def prepare():
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 23, 1 << 23))

def attack(_):
    pass
"""


def test_a_hard_limit_that_is_too_low_is_an_error(locked, user):
    if user == "root":
        pytest.skip("root may be able to raise it")
    assert locked(LOW_STACK) == "not locked: stack"
    assert locked(LOW_STACK, skip={"stack"}) == "succeeded"

"""Attack: take back what was dropped, or gain it from a program that is setuid root."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

BECOME_ROOT = """
def attack(_):
    os.setresuid(0, 0, 0)
"""
CAPABILITIES = """
def attack(_):
    held = ctypes.create_string_buffer(24)
    libc.capget(struct.pack("=Ii", 0x20080522, 0), held)
    return "some" if any(held.raw) else "none"
"""
KEPT_CAPABILITIES = (
    CAPABILITIES
    + """
def prepare():
    assert libc.prctl(8, 1, 0, 0, 0) == 0
"""
)
BOUNDING_SET = """
def attack(_):
    return "full" if any(libc.prctl(23, each, 0, 0, 0) == 1 for each in range(64)) else "empty"
"""
GROUPS = """
def prepare():
    os.setgroups([0, 1])

def attack(_):
    return "some" if os.getgroups() or os.getgid() == 0 else "none"
"""
# The shell drops an effective user that is not the real one, unless it is told not to.
EXEC_SETUID = """
def attack(_):
    os.execv({path!r}, ["sh", "-p", "-c", 'test -O / && printf root >&0 || printf user >&0'])
"""


def test_root_cannot_be_had_again(locked):
    assert locked(BECOME_ROOT) == "EPERM"
    assert locked(BECOME_ROOT, skip={"seccomp"}) == "EPERM"


def test_root_could_be_had_again_if_it_were_kept(locked, user):
    if user != "root":
        pytest.skip("an ordinary user has no root to keep")
    assert locked(BECOME_ROOT, skip={"seccomp", "privileges"}) == "succeeded"


def test_no_capability_is_left(locked, user):
    assert locked(CAPABILITIES, skip={"seccomp"}) == "none"
    if user == "root":
        assert locked(CAPABILITIES, skip={"seccomp", "privileges"}) == "some"


def test_no_capability_is_left_to_root_that_asked_to_keep_them(locked, user):
    if user != "root":
        pytest.skip("an ordinary user has no capabilities to keep")
    assert locked(KEPT_CAPABILITIES, skip={"seccomp"}) == "none"


def test_no_group_of_roots_is_left(locked, user):
    if user != "root":
        pytest.skip("an ordinary user keeps his own groups")
    assert locked(GROUPS, skip={"seccomp"}) == "none"
    assert locked(GROUPS, skip={"seccomp", "privileges"}) == "some"


def test_the_bounding_set_is_empty(locked, user):
    if user != "root":
        pytest.skip("an ordinary user cannot empty it, and no_new_privs makes it useless")
    assert locked(BOUNDING_SET, skip={"seccomp"}) == "empty"
    assert locked(BOUNDING_SET, skip={"seccomp", "privileges"}) == "full"


def test_a_setuid_program_gives_nothing(locked, user):
    if user == "self" or os.geteuid() != 0:
        pytest.skip("making a program setuid root needs root")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = Path(folder) / "sh"
        shutil.copy("/bin/sh", program)
        program.chmod(0o4755)
        if os.statvfs(program).f_flag & os.ST_NOSUID:
            pytest.skip("the folder for temporary files is mounted nosuid")
        attack = EXEC_SETUID.format(path=str(program))
        skip = {"seccomp", "landlock", "processes"}
        assert locked(attack, skip=skip) == "user"
        assert locked(attack, skip=skip | {"no_new_privs"}) == "root"

"""Attack: take over or read another process of the same user."""

from __future__ import annotations

from pathlib import Path

import pytest

SEIZE = """
def attack(_):
    call("ptrace", 0x4206, {pid}, 0, 0)
"""
READ_MEMORY = """
def attack(_):
    found = ctypes.create_string_buffer(4)
    ours = struct.pack("@PN", ctypes.addressof(found), 4)
    theirs = struct.pack("@PN", {address}, 4)
    call("process_vm_readv", {pid}, ours, 1, theirs, 1, 0)
    assert found.raw == bytes([127]) + b"ELF"
"""
BOTH = pytest.mark.parametrize("attack", [SEIZE, READ_MEMORY], ids=["ptrace", "process_vm_readv"])


def aim(attack, victim):
    first = Path(f"/proc/{victim.pid}/maps").read_text().split("-")[0]
    return attack.format(pid=victim.pid, address=int(first, 16))


@BOTH
def test_no_process_can_be_traced(locked, victim, attack):
    assert locked(aim(attack, victim)) == "killed by SIGSYS"


@BOTH
@pytest.mark.usefixtures("landlock")
def test_no_process_can_be_traced_when_only_landlock_holds(locked, victim, attack):
    assert locked(aim(attack, victim), skip={"seccomp"}) == "EPERM"


@BOTH
def test_a_process_could_be_traced_without_the_lock(locked, victim, attack):
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    if yama.exists() and yama.read_text().strip() != "0":
        pytest.skip("Yama forbids it here anyway")
    assert locked(aim(attack, victim), skip={"seccomp", "landlock"}) == "succeeded"

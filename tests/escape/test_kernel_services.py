"""Attacks: keyrings, io_uring, BPF, namespaces and their like, where kernels have broken before."""

from __future__ import annotations

import pytest

ATTACKS = {
    "keyctl": """
def attack(_):
    call("keyctl", 0, -3, 1)
""",
    "io_uring": """
def attack(_):
    call("io_uring_setup", 1, bytes(120))
""",
    "bpf": """
def attack(_):
    order = struct.pack("=5I", 2, 4, 4, 1, 0) + bytes(100)
    call("bpf", 0, order, len(order))
""",
    "unshare": """
def attack(_):
    call("unshare", 0x10000000)
""",
    "userfaultfd": """
def attack(_):
    call("userfaultfd", 1)
""",
    "perf": """
def attack(_):
    call("perf_event_open", struct.pack("=2I", 1, 120) + bytes(112), 0, -1, -1, 0)
""",
}
EACH = pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
WALLS = {"seccomp", "processes", "privileges", "landlock"}


@EACH
def test_the_service_cannot_be_called(locked, attack):
    assert locked(attack) == "killed by SIGSYS"


@EACH
def test_the_service_could_be_called_without_the_lock(locked, attack):
    outcome = locked(attack, skip=WALLS)
    if outcome in {"EPERM", "EACCES", "ENOSYS", "ENOSPC", "ENOENT"}:
        pytest.skip(f"this kernel refuses it to this user anyway ({outcome})")
    assert outcome == "succeeded"

"""Attack: write machine code and run it, instead of stitching together what is there."""

from __future__ import annotations

import pytest

MMAP = """
def attack(_):
    call("mmap", 0, 4096, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
"""
MPROTECT = """
def attack(_):
    page = call("mmap", 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
    call("mprotect", page, 4096, mmap.PROT_READ | mmap.PROT_EXEC)
"""
HIGH_BITS = """
def attack(_):
    high = 1 << 32 | mmap.PROT_READ | mmap.PROT_EXEC
    call("mmap", 0, 4096, high, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
"""
PKEY = """
def attack(_):
    page = call("mmap", 0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
    call(329 if column == 0 else 288, page, 4096, mmap.PROT_READ | mmap.PROT_EXEC, -1)
"""
EACH = pytest.mark.parametrize(
    "attack", [MMAP, MPROTECT, HIGH_BITS, PKEY], ids=["mmap", "mprotect", "high bits", "pkey"]
)


@EACH
def test_no_memory_can_be_made_executable(locked, attack):
    assert locked(attack) == "EPERM"


@EACH
def test_memory_could_be_made_executable_without_the_filter(locked, attack):
    assert locked(attack, skip={"seccomp"}) == "succeeded"

"""Attack: more memory or processor time than the run was given."""

from __future__ import annotations

ALLOCATE = """
def attack(_):
    call("mmap", 0, 1 << 30, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANON, -1, 0)
"""
BURN = """
import time

def attack(_):
    while time.process_time() < 1.5:
        pass
"""
IGNORE_AND_BURN = """
import signal

def attack(_):
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
"""


def test_memory_ends_at_the_limit(locked):
    assert locked(ALLOCATE) == "ENOMEM"
    assert locked(ALLOCATE, skip={"memory"}) == "succeeded"


def test_processor_time_ends_at_the_limit(locked):
    assert locked(BURN, cpu_seconds=0) == "killed by SIGXCPU"


def test_processor_time_would_not_end_without_the_limit(locked):
    assert locked(BURN, cpu_seconds=0, skip={"cpu"}) == "succeeded"


def test_the_end_of_processor_time_cannot_be_ignored(locked):
    assert locked(IGNORE_AND_BURN) == "EPERM"
    assert locked(IGNORE_AND_BURN, skip={"seccomp"}) == "succeeded"

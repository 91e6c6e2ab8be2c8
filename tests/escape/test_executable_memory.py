"""Attack: write machine code and run it, instead of stitching together what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nocturn.host.process import quickjs

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


WRITABLE_CODE = """
import sys
sys.path[:0] = sys.argv[2:]
from nocturn.wire.frames import Channel
from nocturn.worker.engine import load
from nocturn.worker.serve import Lines
engine = load(sys.argv[1], Lines(Channel(0, 0, 1)))
rights = [line.split()[1] for line in open("/proc/self/maps")]
print(len(rights), sum("w" in each and "x" in each for each in rights))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells")
def test_what_the_engine_brings_along_leaves_no_code_that_can_be_written_to():
    root = Path(__file__).resolve().parents[2]
    files = quickjs()
    told = subprocess.check_output(
        [sys.executable, "-I", "-S", "-c", WRITABLE_CODE, files.file, str(root), *files.folders]
    ).split()
    assert int(told[0]) > 10
    assert int(told[1]) == 0

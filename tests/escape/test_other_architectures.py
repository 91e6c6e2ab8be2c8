"""Attack: make a forbidden call under another number, by the 32-bit or the x32 door."""

from __future__ import annotations

import platform

import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="doors of x86-64")

X32 = """
def attack(_):
    call(0x40000000 | 39)
"""
# mov eax, 20 (getpid in 32-bit code); int 0x80; ret. Written before the lock: it stands for the
# same bytes in the middle of some library.
INT_80 = """
def prepare():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("b814000000cd80c3"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return page, ctypes.CFUNCTYPE(ctypes.c_int)(address)

def attack(given):
    if given[1]() < 0:
        raise OSError(errno.ENOSYS, "")
"""


def test_no_call_can_be_made_by_its_x32_number(locked):
    assert locked(X32) == "killed by SIGSYS"


def test_an_x32_call_would_reach_the_kernel_without_the_filter(locked):
    # ENOSYS where the kernel was built without x32: the call got as far as that.
    assert locked(X32, skip={"seccomp"}) in {"succeeded", "ENOSYS"}


def test_no_call_can_be_made_by_the_32_bit_door(locked):
    assert locked(INT_80) == "killed by SIGSYS"


def test_a_32_bit_call_could_be_made_without_the_filter(locked):
    outcome = locked(INT_80, skip={"seccomp"})
    if outcome in {"ENOSYS", "killed by SIGSEGV"}:
        pytest.skip("this kernel has no 32-bit calls")
    assert outcome == "succeeded"

"""Asking the kernel for what Python has no function for; the lock-down's hands.

``Unsupported`` means that this machine does not have what was asked for, ``OSError`` that it has
and refused.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = [
    "LIBC",
    "Unsupported",
    "call",
    "close_writable_code",
    "control",
    "error_name",
    "has_threads",
    "last_error",
    "mapped_bytes",
]

# From linux/prctl.h, linux/capability.h, linux/landlock.h and linux/seccomp.h. System call numbers
# from 424 on are the same on every architecture.
PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
CAPABILITIES: Final = 64
"""As many as the kernel's sets have room for."""
CAPABILITY_VERSION_3: Final = 0x20080522
CLOSE_RANGE: Final = 436
LANDLOCK_CREATE_RULESET: Final = 444
LANDLOCK_RESTRICT_SELF: Final = 446
LANDLOCK_VERSION: Final = 1
"""The flag that asks for the version instead of a ruleset."""
LANDLOCK_FILE_RIGHTS: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""A version, and how many rights on files there are from it on."""
SECCOMP_SET_MODE_FILTER: Final = 1
SECCOMP_GET_ACTION_AVAIL: Final = 2
SECCOMP_TSYNC: Final = 1
SECCOMP_NEW_LISTENER: Final = 8
SECCOMP_RET_KILL_PROCESS: Final = 0x80000000
SIGKILL: Final = 9
LAST_DESCRIPTOR: Final = 2**31 - 1
MANY_DESCRIPTORS: Final = 1 << 20
"""Where a system names no limit to them."""


class Unsupported(Exception):
    """This machine does not have what a step needs; the text is the reason in the report."""


def call(number: int, *arguments: int | bytes | None) -> int:
    """Makes a system call.

    Args:
        number: Its number on this machine.
        arguments: Whole numbers, and bytes, which are passed as a pointer to them.

    Returns:
        What the kernel answered.

    Raises:
        OSError: The kernel refused; ``errno`` says why, and there is no text.
        Unsupported: This is not Linux.
    """
    if LIBC is None:
        raise Unsupported("only Linux has this")
    # Whole registers, or the upper half of a flag would be whatever was there.
    wide = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    answer = int(LIBC.syscall(ctypes.c_long(number), *wide))
    if answer == -1:
        raise last_error()
    return answer


def control(option: int, value: int) -> None:
    """Calls ``prctl(option, value)``.

    Raises:
        OSError: The kernel refused.
        Unsupported: This is not Linux.
    """
    if LIBC is None:
        raise Unsupported("only Linux has this")
    if LIBC.prctl(option, value, 0, 0, 0) == -1:
        raise last_error()


def close_writable_code() -> None:
    """Takes the right to write from memory that can be executed.

    libffi leaves the pages of its callbacks open for more of them, and there will be none.

    Raises:
        OSError: The kernel refused.
    """
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
            lines = file.readlines()
    except OSError:  # no Linux: another filter, if any
        return
    for line in lines:
        span, rights = line.split(maxsplit=2)[:2]
        if "w" in rights and "x" in rights and LIBC is not None:
            start, end = (int(each, 16) for each in span.split("-"))
            if LIBC.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(end - start), 1 | 4) == -1:
                raise last_error()


def last_error() -> OSError:
    """Returns the error of the last call through :data:`LIBC`, without text."""
    return OSError(ctypes.get_errno(), "")


def error_name(error: OSError) -> str:
    """Returns the error's symbol, such as ``EPERM``: unlike its text it never holds a path."""
    return errno.errorcode.get(error.errno or 0, "an unknown error")


def has_threads() -> bool:
    """Returns whether there is a second thread; False where there is no ``/proc`` to ask."""
    try:
        return len(os.listdir("/proc/self/task")) > 1
    except OSError:
        return False


def mapped_bytes() -> int | None:
    """Returns the size of this process's address space; None where there is no ``/proc`` to ask."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _load() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
    libc.prctl.restype = ctypes.c_int
    for function in (libc.capset, libc.capget):
        function.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
        function.restype = ctypes.c_int
    return libc


LIBC: Final = _load()
"""The C library of this process; None where that is not Linux's."""

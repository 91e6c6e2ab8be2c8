"""Which system calls a locked worker may make, their numbers, and the filter that holds it to them.

Three answers: allowed is what a running interpreter needs, killed is what only an attack would
try, and the rest is ``EPERM``, so that a late import fails readably. The filter is classic BPF,
assembled here by hand, as a search tree: the kernel tries a new filter on each number that it has,
and with one comparison after another that took a third longer. No package we tried is better.

The x86-64 filter runs wherever the tests run. The aarch64 one was checked against the kernel's
table of numbers and by interpreting it; it has not run on such a machine.
"""

from __future__ import annotations

import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final, TypeAlias

    Calls: TypeAlias = dict[str, tuple[int, int | None]]
    Instructions: TypeAlias = list[tuple[int, int, int, int]]

__all__ = [
    "ALLOWED",
    "BRANCHES",
    "BRANCH_FLAGS",
    "KILLED",
    "OURS",
    "WITHOUT_EXEC",
    "filter_program",
    "numbers",
    "watching_program",
]

# Name, number on x86-64 (unistd_64.h), number on aarch64 (asm-generic/unistd.h) or None where it
# has no such call.

ALLOWED: Final[Calls] = {
    "read": (0, 63),
    "write": (1, 64),
    "poll": (7, None),
    "ppoll": (271, 73),
    "futex": (202, 98),
    "brk": (12, 214),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "clock_gettime": (228, 113),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
    "getrusage": (98, 165),
    "rt_sigreturn": (15, 139),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""Allowed with any argument."""

WITHOUT_EXEC: Final[Calls] = {
    "mmap": (9, 222),
    "mprotect": (10, 226),
}
"""Allowed unless the protection, their third argument, has ``PROT_EXEC``."""

KILLED: Final[Calls] = {
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "setns": (308, 268),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
"""No interpreter makes these by accident. C's ``abort`` ends here too, since it uses ``tgkill``."""

BRANCHES: Final[Calls] = {
    "clone": (56, 220),
    "getpgid": (121, 155),
    "prctl": (157, 167),
}
"""What a session's worker makes besides, to fork: each with the arguments of that alone. The first
two are told to the zygote, which rules on them; ``getpgid`` is how a child says that it is there,
since it is otherwise of no use here, and the kernel itself tells whose call it was."""

OURS: Final[Calls] = {
    "seccomp": (317, 277),
    "getppid": (110, 173),
}
"""What the lock-down itself makes; inside the lock they are ``EPERM``."""

_ARCHITECTURES: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
# The column in the tables, and the AUDIT_ARCH value from linux/audit.h.
_FIRST_X32: Final = 0x40000000
_PROT_EXEC: Final = 4
BRANCH_FLAGS: Final = 0x8000 | 17
"""``CLONE_PARENT | SIGCHLD``: a plain fork whose child is a child of the zygote's, too."""
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9

# Instructions, from linux/bpf_common.h; places in struct seccomp_data, from linux/seccomp.h.
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 24, 32
_UPPER_HALF: Final = 4
_NOTIFY: Final = 0x7FC00000
_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_REFUSE: Final = 0x00050001  # SECCOMP_RET_ERRNO with EPERM in its low half; 0 there is "success"

_ALLOWS: Final[Instructions] = [(_RETURN, 0, 0, _ALLOW)]
_KILLS: Final[Instructions] = [(_RETURN, 0, 0, _KILL_PROCESS)]
_REFUSES: Final[Instructions] = [(_RETURN, 0, 0, _REFUSE)]
_CHECKS: Final[Instructions] = [
    (_LOAD, 0, 0, _THIRD_ARGUMENT),
    (_IF_ANY_BIT, 0, 1, _PROT_EXEC),
    *_REFUSES,
    *_ALLOWS,
]
_FORKS: Final[Instructions] = [
    (_LOAD, 0, 0, _FIRST_ARGUMENT + _UPPER_HALF),
    (_IF_EQUAL, 0, 3, 0),
    (_LOAD, 0, 0, _FIRST_ARGUMENT),
    (_IF_EQUAL, 0, 1, BRANCH_FLAGS),
    *_ALLOWS,
    *_KILLS,
]
_DIES_WITH_ITS_PARENT: Final[Instructions] = [
    (_LOAD, 0, 0, _FIRST_ARGUMENT),
    (_IF_EQUAL, 0, 5, _PR_SET_PDEATHSIG),
    (_LOAD, 0, 0, _SECOND_ARGUMENT + _UPPER_HALF),
    (_IF_EQUAL, 0, 3, 0),
    (_LOAD, 0, 0, _SECOND_ARGUMENT),
    (_IF_EQUAL, 0, 1, _SIGKILL),
    *_ALLOWS,
    *_REFUSES,
]
_BRANCHING: Final = {"clone": _FORKS, "getpgid": _ALLOWS, "prctl": _DIES_WITH_ITS_PARENT}


def numbers(calls: Calls, machine: str) -> list[int]:
    """Returns the numbers that these calls have on ``machine``, without those it does not have.

    Args:
        calls: One of the tables above.
        machine: ``x86_64`` or ``aarch64``.

    Raises:
        KeyError: There is no column for this machine.
    """
    column, _ = _ARCHITECTURES[machine]
    return [number for each in calls.values() if (number := each[column]) is not None]


def filter_program(machine: str, *, branching: bool = False) -> bytes | None:
    """Assembles the filter.

    Args:
        machine: As ``os.uname().machine`` has it.
        branching: Whether it is for a session's worker, whose forks the zygote rules on.

    Returns:
        The ``struct sock_filter`` array, 8 bytes an instruction; None where we have no table for
        this machine, or where this is a 32-bit process on it (its numbers are others).
    """
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return None
    verdicts = {
        number: verdict
        for verdict, names in ((_ALLOWS, ALLOWED), (_CHECKS, WITHOUT_EXEC), (_KILLS, KILLED))
        for number in numbers(names, machine)
    }
    if branching:
        verdicts |= zip(numbers(BRANCHES, machine), _BRANCHING.values(), strict=True)
    # Where, counting up, the verdict changes: [(first number, verdict), ...].
    spans = [(0, verdicts.get(0, _REFUSES))]
    for number in range(1, max(verdicts) + 2):
        if (verdict := verdicts.get(number, _REFUSES)) is not spans[-1][1]:
            spans.append((number, verdict))
    # x32 calls are x86-64 calls by another number; nothing else is up there, nor is -1.
    spans.append((_FIRST_X32, _KILLS))
    program = [
        # The architecture first: the same number is another call in 32-bit code (int 0x80).
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, len(_KILLS), 0, _ARCHITECTURES[machine][1]),
        *_KILLS,
        (_LOAD, 0, 0, _NUMBER),
        *_tree(spans),
    ]
    return _assembled(program)


def watching_program(machine: str) -> bytes | None:
    """Assembles the filter that tells the zygote of forks and arrivals, and allows all the rest.

    Of two filters the stricter one wins, call by call, so this one loosens nothing.

    Args:
        machine: As for :func:`filter_program`, and so what is returned.
    """
    if machine not in _ARCHITECTURES or sys.maxsize < 2**32:
        return None
    fork, arrival, _ = numbers(BRANCHES, machine)
    return _assembled(
        [
            (_LOAD, 0, 0, _NUMBER),
            (_IF_EQUAL, 1, 0, fork),
            (_IF_EQUAL, 0, 1, arrival),
            (_RETURN, 0, 0, _NOTIFY),
            *_ALLOWS,
        ]
    )


def _assembled(program: Instructions) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _tree(spans: list[tuple[int, Instructions]]) -> Instructions:
    """Finds the span that a number is in by halves; jumps go forward, over the lower half."""
    if len(spans) == 1:
        return spans[0][1]
    middle = len(spans) // 2
    lower, upper = _tree(spans[:middle]), _tree(spans[middle:])
    return [(_IF_AT_LEAST, len(lower), 0, spans[middle][0]), *lower, *upper]

"""THE boundary: what holds when the guest has broken QuickJS and runs native code in the worker.

All that confines the worker process is decided here; ``syscalls.py`` has the system call filter,
``kernel.py`` makes the calls. It is one straight line of named steps, in two halves. The first is
for the process that all workers are forked from, the second for each worker; a worker that was not
forked from one takes both. No guest byte may be read before the second half has returned, and
nothing can be imported, opened or started after it.

The order, and its reasons::

    first half (lock_zygote)
      no_new_privs   first: Landlock and seccomp ask it of an ordinary user, and nothing undoes it
      session        no terminal and no process group of the host's: neither Ctrl-C nor TIOCSTI
      directory      an unlinked folder to stand in; needs the file system, so before landlock
      environment    wiped, whatever the host left in it
      files          no core dump, no byte into a file
      stack          may raise a limit, which root can, so before root is dropped
      privileges     nobody, and no capability; after all that root makes easier
      landlock       no file, no TCP, no abstract socket, no signal out; after the last open()
      undumpable     no debugger, no /proc of ours; a change of user resets it, so after privileges
    second half (lock_worker), in each worker, because a fork resets parent and cpu
      parent         first: from here on the worker dies with its host; a change of user resets it
      forks          in a session the zygote rules on each; before descriptors leave it no room
      descriptors    only the socket is left; before processes, whose NOFILE the fallback reads
      processes      no fork (binds all but root, who was dropped), no new descriptor
      memory         address space: what is mapped now, the heap, the stack, and slack
      cpu            a backstop: the host's own clock comes first
      seccomp        last: it refuses the calls that the other steps make

A step that this machine does not have is recorded as ``off`` with its reason, and the level is
lower for it; a step that should work and doesn't raises :class:`LockdownError`. ``full`` is claimed
only when every step is on. Nothing is less than was asked for in silence.
"""

from __future__ import annotations

import ctypes
import os
import struct
import time

from nocturn.worker import kernel
from nocturn.worker.kernel import Unsupported, call, error_name
from nocturn.worker.syscalls import (
    BRANCH_FLAGS,
    BRANCHES,
    OURS,
    filter_program,
    numbers,
    watching_program,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Any, Final, TypeAlias, TypedDict

    _Filter: TypeAlias = tuple[int, int, bytes, ctypes.Array[Any]]
    # The numbers of seccomp and getppid, a struct sock_fprog, and the memory that it points to.

    class Report(TypedDict):
        """What holds: ``level`` is one of :data:`LEVELS`, a step is ``on`` or ``off: why``."""

        level: str
        steps: dict[str, str]


__all__ = ["LEVELS", "STEPS", "LockdownError", "branch", "lock_worker", "lock_zygote", "report"]

LEVELS: Final = ("none", "rlimits-only", "no-landlock", "full")
"""Weakest first. ``no-landlock`` lacks that step and no other; ``rlimits-only`` lacks any other but
files, processes and cpu."""

NOBODY: Final = 65_534
"""The overflow user and group of Linux, which own nothing."""
STACK_BYTES: Final = 64 * 1_048_576
"""For QuickJS's 16 MiB: some of its C recursion never looks at its own limit."""
SLACK_BYTES: Final = 96 * 1_048_576
"""Address space beside heap and stack. Measured: a fragmented heap 44 MiB, Python's copies of the
largest frame 32, and QuickJS is given 16 more to tell how a run ended."""


class LockdownError(Exception):
    """A step of the lock-down should have worked here and did not. Run no guest code.

    Attributes:
        step: The step's name, as in :data:`STEPS`.
        reason: What went wrong and the way out, without paths; safe to show.
    """

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(step, reason)
        self.step = step
        self.reason = reason

    def __str__(self) -> str:
        return f"the lock-down's step {self.step!r} failed: {self.reason}"


def lock_zygote(*, skip: frozenset[str] = frozenset()) -> None:
    """Takes the first half, once, in a process of a single thread that has imported all it needs.

    Args:
        skip: Steps to leave out, so that a test can show what each is for. The report says so.

    Raises:
        LockdownError: A step failed that should work here.
        ValueError: ``skip`` names a step that there is not.
    """
    _check_names(skip)
    _state.mapped_bytes = kernel.mapped_bytes()
    try:
        # Once for all forks: assembling it takes twice as long as installing it.
        _state.filter = _prepare_filter() if os.name == "posix" else None
    except Unsupported:
        _state.filter = None  # the second half says why
    for name, function in _ZYGOTE_STEPS:
        _take(name, skip, function)


def lock_worker(
    *,
    heap_bytes: int,
    cpu_seconds: float,
    parent_pid: int,
    keep_fd: int = 0,
    supervisor: Callable[[int], None] | None = None,
    skip: frozenset[str] = frozenset(),
) -> Report:
    """Takes the second half, in each worker, as the last thing before it reads a guest's byte.

    Args:
        heap_bytes: The guest's heap.
        cpu_seconds: CPU time of the run; the kernel ends the worker a second or two later.
        parent_pid: Who must outlive the worker: its parent's ``os.getpid()``. The kernel means the
            parent's *thread*, so whoever starts a worker must keep that thread.
        keep_fd: The only descriptor that stays open.
        supervisor: Gives the descriptor that tells of forks to whoever rules on them; None for a
            worker that may not fork.
        skip: As in :func:`lock_zygote`.

    Returns:
        What :func:`report` returns.

    Raises:
        LockdownError: A step failed that should work here.
        ValueError: ``skip`` names a step that there is not.
    """
    _check_names(skip)
    bounds = _Bounds(heap_bytes, cpu_seconds, parent_pid, keep_fd, supervisor)
    for name, function in _WORKER_STEPS:
        _take(name, skip, function, bounds)
    return report()


def branch() -> bool:
    """Forks a session's worker once, if the zygote lets it; nothing of Python's or C's is told.

    There is one thread and no buffer, so there is nothing to tell. The call is made raw, since the
    C library's own fork is of another form than the filter lets through.

    Returns:
        True in the child, which has its own socket as descriptor 0 by then, False in its parent.
    """
    fork, arrival = _state.branching
    try:
        if call(fork, BRANCH_FLAGS, 0, 0, 0, 0) != 0:
            return False
    except OSError:  # no memory for it, or the zygote is gone
        return False
    try:
        kernel.control(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
        call(arrival, 0)  # answered only while the zygote is there
    except OSError:
        os._exit(0)
    return True


def report() -> Report:
    """Returns the level that holds in this process and, for each step, ``on`` or ``off: why``."""
    steps = {name: _state.taken.get(name, "off: not taken") for name, _, _ in STEPS}
    off = {name for name, outcome in steps.items() if outcome != "on"}
    if not off:
        level = "full"
    elif off == {"landlock"}:
        level = "no-landlock"
    elif not off & {"files", "processes", "cpu"}:
        level = "rlimits-only"
    else:
        level = "none"
    return {"level": level, "steps": steps}


class _State:
    """What this process has done so far; a fork inherits it."""

    __slots__ = ("branching", "filter", "mapped_bytes", "taken")

    def __init__(self) -> None:
        self.mapped_bytes: int | None = None
        self.filter: _Filter | None = None
        self.branching: tuple[int, ...] = ()  # the numbers of clone and of what tells of a child
        self.taken: dict[str, str] = {}


class _Bounds:
    """What one worker was asked to keep to. No dataclass: that costs 10 ms of every cold start."""

    __slots__ = ("cpu_seconds", "heap_bytes", "keep_fd", "parent_pid", "supervisor")

    def __init__(
        self,
        heap_bytes: int,
        cpu_seconds: float,
        parent_pid: int,
        keep_fd: int,
        supervisor: Callable[[int], None] | None,
    ) -> None:
        self.heap_bytes = heap_bytes
        self.cpu_seconds = cpu_seconds
        self.parent_pid = parent_pid
        self.keep_fd = keep_fd
        self.supervisor = supervisor


_state = _State()


def _check_names(skip: frozenset[str]) -> None:
    unknown = skip - {name for name, _, _ in STEPS}
    if unknown:
        msg = f"skip names no step of the lock-down: {', '.join(sorted(unknown))}"
        raise ValueError(msg)


def _take(
    name: str, skip: frozenset[str], function: Callable[..., None], *arguments: _Bounds
) -> None:
    if name in skip:
        outcome = "off: left out"
    elif os.name != "posix":
        outcome = "off: this system is not POSIX"
    else:
        try:
            function(*arguments)
            outcome = "on"
        except Unsupported as missing:
            outcome = f"off: {missing}"
        except OSError as error:
            raise LockdownError(name, f"the kernel answered {error_name(error)}") from error
    _state.taken[name] = outcome


def _limit(step: str, name: str, soft: int, hard: int) -> None:
    import resource  # not there on Windows

    which: int | None = getattr(resource, name, None)
    if which is None:
        msg = f"this system has no {name}"
        raise Unsupported(msg)
    try:
        resource.setrlimit(which, (soft, hard))
    except ValueError:
        here = resource.getrlimit(which)[1]
        why = f"{name} must be {hard} and its hard limit here is {here}: raise that and start again"
        raise LockdownError(step, why) from None


# ---- first half ----


def _no_new_privs() -> None:
    # This, privileges and landlock bind the calling thread; another would stay outside.
    if kernel.has_threads():
        raise LockdownError("no_new_privs", "there is more than one thread: lock before any starts")
    kernel.control(kernel.PR_SET_NO_NEW_PRIVS, 1)


def _session() -> None:
    if os.getsid(0) != os.getpid():
        os.setsid()


def _directory() -> None:
    # By hand, since tempfile costs 6 ms; /dev/shm first, since a disk costs 1.4 ms.
    for folder in _TEMPORARY_FOLDERS:
        path = f"{folder}/nocturn-{os.urandom(8).hex()}"
        try:
            os.mkdir(path, 0o700)
        except OSError:
            continue
        try:
            os.chdir(path)
        finally:
            os.rmdir(path)
        return
    os.chdir("/")
    raise Unsupported("no folder for temporary files can be written")


def _environment() -> None:
    # The strings themselves too: os.environ.clear() leaves them on the stack for native code to
    # read. Copies that Python freed stay, so the host starts this process with no environment.
    if kernel.LIBC is not None:
        strings = ctypes.POINTER(ctypes.c_void_p).in_dll(kernel.LIBC, "environ")
        place = 0
        while strings and (address := strings[place]):
            ctypes.memset(address, 0, len(ctypes.string_at(address)))
            place += 1
    os.environ.clear()
    # "UTC0" names no file, so the C library opens none, now or when a guest asks for a date.
    os.environ["TZ"] = "UTC0"
    time.tzset()


def _files() -> None:
    _limit("files", "RLIMIT_CORE", 0, 0)
    _limit("files", "RLIMIT_FSIZE", 0, 0)


def _stack() -> None:
    if kernel.LIBC is None:
        raise Unsupported("only Linux lets a running process have a larger stack")
    _limit("stack", "RLIMIT_STACK", STACK_BYTES, STACK_BYTES)


def _privileges() -> None:
    if kernel.LIBC is None:
        raise Unsupported("only Linux has capabilities to drop")
    stuck: OSError | None = None
    if 0 in os.getresuid():
        # The bounding set, up to the first that the kernel does not know; needs a capability that
        # goes with the user id. Where that is gone already, no_new_privs makes the set useless.
        for capability in range(kernel.CAPABILITIES):
            if kernel.LIBC.prctl(kernel.PR_CAPBSET_DROP, capability, 0, 0, 0) == -1:
                break
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        except OSError as error:
            stuck = error
    # Empties the ambient set as well, and what a keep-capabilities flag may have kept.
    header = struct.pack("=Ii", kernel.CAPABILITY_VERSION_3, 0)
    held = ctypes.create_string_buffer(24)
    if kernel.LIBC.capset(header, bytes(24)) or kernel.LIBC.capget(header, held):
        raise kernel.last_error()
    if any(held.raw):
        raise LockdownError("privileges", "capabilities are left after they were dropped")
    if stuck is not None:
        why = f"root could not become user {NOBODY} here ({error_name(stuck)})"
        raise Unsupported(why)


def _landlock() -> None:
    try:
        abi = call(kernel.LANDLOCK_CREATE_RULESET, None, 0, kernel.LANDLOCK_VERSION)
    except OSError as error:
        why = f"this kernel offers no Landlock ({error_name(error)})"
        raise Unsupported(why) from error
    # struct landlock_ruleset_attr {handled_access_fs, handled_access_net, scoped}: everything that
    # this version can refuse, and no rule that would allow any of it.
    files = (1 << max(count for since, count in kernel.LANDLOCK_FILE_RIGHTS if since <= abi)) - 1
    network, scope = (3 if abi >= since else 0 for since in (4, 6))
    attributes = struct.pack("=QQQ", files, network, scope)
    ruleset = call(kernel.LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        call(kernel.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    # Seen to refuse, as with seccomp below.
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return
    raise LockdownError("landlock", "a folder can still be opened after it was denied")


def _undumpable() -> None:
    kernel.control(kernel.PR_SET_DUMPABLE, 0)


# ---- second half ----


def _parent(bounds: _Bounds) -> None:
    kernel.control(kernel.PR_SET_PDEATHSIG, kernel.SIGKILL)
    # It may have died before the line above, which then waits for nobody.
    if os.getppid() != bounds.parent_pid:
        raise LockdownError("parent", "the process that started this worker is gone")


def _forks(bounds: _Bounds) -> None:
    if bounds.supervisor is None:
        return
    if os.getpgrp() != os.getpid():  # whoever leads a session leads its group, too
        os.setpgid(0, 0)
    machine = os.uname().machine
    program = watching_program(machine)
    if program is None:
        why = f"there is no table of system calls for this processor ({machine})"
        raise Unsupported(why)
    whole, _kept = _program(program)
    try:
        listener = call(
            numbers(OURS, machine)[0],
            *(kernel.SECCOMP_SET_MODE_FILTER, kernel.SECCOMP_NEW_LISTENER, whole),
        )
    except OSError as error:
        why = f"this kernel lets nobody rule on single forks ({error_name(error)})"
        raise Unsupported(why) from error
    bounds.supervisor(listener)
    _state.branching = tuple(numbers(BRANCHES, machine)[:2])


def _descriptors(bounds: _Bounds) -> None:
    import resource

    for low, high in ((0, bounds.keep_fd - 1), (bounds.keep_fd + 1, kernel.LAST_DESCRIPTOR)):
        if high < low:
            continue
        try:
            call(kernel.CLOSE_RANGE, low, high, 0)
        except (Unsupported, OSError):
            # Before Linux 5.9, and elsewhere: one by one, up to the most that there may be.
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            os.closerange(low, min(high + 1, most if most > 0 else kernel.MANY_DESCRIPTORS))


def _processes(_: _Bounds) -> None:
    # A session's forks are counted one by one; this would count all that the user has.
    if not _state.branching:
        _limit("processes", "RLIMIT_NPROC", 0, 0)
    # Not 0, which makes poll() fail on the one descriptor that there is.
    _limit("processes", "RLIMIT_NOFILE", 1, 1)


def _memory(bounds: _Bounds) -> None:
    # What the zygote saw: after landlock there is no /proc to read, and a fork is alike.
    mapped = _state.mapped_bytes or kernel.mapped_bytes()
    if mapped is None:
        raise Unsupported("there is no /proc to read this process's size from")
    most = mapped + bounds.heap_bytes + STACK_BYTES + SLACK_BYTES
    _limit("memory", "RLIMIT_AS", most, most)


def _cpu(bounds: _Bounds) -> None:
    import resource

    # First SIGXCPU, which a host can tell from other ends; a second later SIGKILL.
    soft = int(-(-bounds.cpu_seconds // 1)) + 1
    hard = soft + 1
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if most != resource.RLIM_INFINITY:
        # A stricter limit of the user's own stays.
        hard = min(hard, most)
    _limit("cpu", "RLIMIT_CPU", min(soft, hard), hard)


def _seccomp(_: _Bounds) -> None:
    ahead = None if _state.branching else _state.filter
    seccomp, getppid, whole, _kept = ahead or _prepare_filter()
    # Every thread, though there should be but one; a number above 0 is one that could not follow.
    if call(seccomp, kernel.SECCOMP_SET_MODE_FILTER, kernel.SECCOMP_TSYNC, whole):
        raise LockdownError("seccomp", "another thread of the worker could not be locked")
    # Seen to refuse: a filter can be installed and say "success" to what it should deny.
    try:
        call(getppid)
    except PermissionError:
        return
    raise LockdownError("seccomp", "the filter was installed and does not refuse")


def _prepare_filter() -> _Filter:
    machine = os.uname().machine
    program = filter_program(machine, branching=bool(_state.branching))
    if program is None:
        why = f"there is no table of system calls for this processor ({machine})"
        raise Unsupported(why)
    seccomp, getppid = numbers(OURS, machine)
    try:
        kill = struct.pack("=I", kernel.SECCOMP_RET_KILL_PROCESS)
        call(seccomp, kernel.SECCOMP_GET_ACTION_AVAIL, 0, kill)
    except OSError as error:
        why = f"this kernel has no seccomp that kills ({error_name(error)})"
        raise Unsupported(why) from error
    return seccomp, getppid, *_program(program)


def _program(program: bytes) -> tuple[bytes, ctypes.Array[Any]]:
    """Returns a ``struct sock_fprog``, and the memory that it points to."""
    instructions = ctypes.create_string_buffer(program, len(program))
    # {unsigned short count; struct sock_filter *first}
    return struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions)), instructions


_ZYGOTE_STEPS: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("no_new_privs", _no_new_privs),
    ("session", _session),
    ("directory", _directory),
    ("environment", _environment),
    ("files", _files),
    ("stack", _stack),
    ("privileges", _privileges),
    ("landlock", _landlock),
    ("undumpable", _undumpable),
)
_WORKER_STEPS: Final[tuple[tuple[str, Callable[[_Bounds], None]], ...]] = (
    ("parent", _parent),
    ("forks", _forks),
    ("descriptors", _descriptors),
    ("processes", _processes),
    ("memory", _memory),
    ("cpu", _cpu),
    ("seccomp", _seccomp),
)
STEPS: Final[tuple[tuple[str, str, Callable[..., None]], ...]] = (
    *((name, "zygote", function) for name, function in _ZYGOTE_STEPS),
    *((name, "worker", function) for name, function in _WORKER_STEPS),
)
"""Every step in its order: its name, the half it belongs to, and what it does."""

_TEMPORARY_FOLDERS: Final = ("/dev/shm", "/tmp", "/var/tmp")  # noqa: S108 - the name is unguessable

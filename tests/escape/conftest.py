"""Runs an attack inside a locked process, as native code in a broken QuickJS could."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65_534

# What an attack's source finds defined: call(NAME or number, ...) raises OSError, as os does.
RUNNER = """
import ctypes, errno, mmap, os, resource, struct, sys

asked = eval(sys.argv[1])  # json, signal and socket would double the time to start
sys.path[:0] = asked["paths"]
from nocturn.worker import lockdown, syscalls

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p
tables = (syscalls.ALLOWED, syscalls.WITHOUT_EXEC, syscalls.KILLED, syscalls.OURS)
column = 0 if os.uname().machine == "x86_64" else 1


def call(which, *arguments):
    number = which
    if isinstance(which, str):
        number = next(table[which] for table in tables if which in table)[column]
    wide = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = libc.syscall(ctypes.c_long(number), *wide)
    if answer == -1:
        raise OSError(ctypes.get_errno(), "")
    return answer


scope = dict(globals())
exec(asked["attack"], scope)
if asked["user"] == "nobody":
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    libc.prctl(4, 1, 0, 0, 0)  # dumpable, as a process is that began as this user
given = scope["prepare"]() if "prepare" in scope else None
skip = frozenset(asked["skip"])
parent = asked["parent"] or int(os.environ["HOST"])
try:
    lockdown.lock_zygote(skip=skip)
    locked = lockdown.lock_worker(
        heap_bytes=67_108_864,
        cpu_seconds=asked["cpu_seconds"],
        parent_pid=parent,
        # A session's lock, with nobody there who would allow a fork.
        supervisor=os.close if asked["user"] == "session" else None,
        skip=skip,
    )
except lockdown.LockdownError as problem:
    os.write(0, f"not locked: {problem.step}".encode())
    os._exit(0)
try:
    outcome = scope["attack"](given) or "succeeded"
except OSError as error:
    outcome = errno.errorcode[error.errno]
except MemoryError:
    outcome = "MemoryError"
os.write(0, outcome.encode())
os._exit(0)
"""

HOST = """
import os, subprocess, sys

worker = subprocess.Popen(sys.argv[1:], env={"HOST": str(os.getpid())}, stdin=0)
os.close(0)
worker.wait()
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "user" not in metafunc.fixturenames:
        return
    if os.name == "posix" and os.geteuid() == 0:
        metafunc.parametrize("user", ["root", "nobody", "session"])
    else:
        unable = pytest.mark.skip("becoming root or nobody needs root")
        metafunc.parametrize("user", ["self", pytest.param("root", marks=unable), "session"])


@pytest.fixture
def locked(user: str) -> Callable[..., str]:
    """Returns a function that locks a fresh process and runs an attack's ``attack(given)`` in it.

    ``given`` is what the source's ``prepare()`` returned before the lock. The function returns
    ``succeeded`` or what ``attack`` returned, the name of an errno, ``MemoryError``, or ``killed by
    SIGNAL``.
    """
    if sys.platform != "linux":
        pytest.skip("the walls are Linux's")

    def run(
        attack: str,
        *,
        fds: tuple[int, ...] = (),
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        **asked: Any,
    ) -> str:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = subprocess.Popen(
                    runner(attack, user=user, **asked),
                    stdin=theirs,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=fds,
                    cwd=cwd,
                    env=env or {},
                )
            ours.settimeout(60)
            outcome = b""
            while piece := ours.recv(4096):
                outcome += piece
            _, complaint = process.communicate(timeout=60)
        if outcome:
            return outcome.decode()
        assert process.returncode < 0, complaint.decode()
        return f"killed by {signal.Signals(-process.returncode).name}"

    return run


@pytest.fixture
def started(user: str) -> Iterator[Callable[..., tuple[subprocess.Popen[bytes], socket.socket]]]:
    """Returns a function that starts a host, which starts a locked process and waits for it.

    It returns the host, for the test to kill, and the other end of the locked process's socket.
    """
    if sys.platform != "linux":
        pytest.skip("the walls are Linux's")
    with contextlib.ExitStack() as stack:

        def start(attack: str, **asked: Any) -> tuple[subprocess.Popen[bytes], socket.socket]:
            ours, theirs = socket.socketpair()
            stack.enter_context(ours)
            ours.settimeout(60)
            with theirs:
                command = runner(attack, user=user, parent=0, **asked)
                host = subprocess.Popen(
                    [sys.executable, "-I", "-c", HOST, *command],
                    stdin=theirs,
                )
            stack.callback(host.wait, 60)
            stack.callback(host.kill)
            return host, ours

        yield start


def runner(
    attack: str,
    *,
    user: str,
    skip: Iterable[str] = (),
    cpu_seconds: float = 5,
    parent: int | None = None,
) -> list[str]:
    """Returns the command that locks itself and runs ``attack``."""
    engine = importlib.util.find_spec("_quickjs")
    assert engine is not None
    assert engine.origin is not None
    asked = {
        "attack": attack,
        "skip": sorted(skip),
        "user": user,
        "parent": os.getpid() if parent is None else parent,
        "paths": [str(ROOT), str(Path(engine.origin).parent)],
        "cpu_seconds": cpu_seconds,
    }
    return [sys.executable, "-I", "-S", "-c", RUNNER, repr(asked)]


@pytest.fixture
def victim(user: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the user that the locked one ends up as; it holds a secret and waits."""
    stays = user == "self" or os.geteuid() != 0
    other = {} if stays else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    with subprocess.Popen(
        ["cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PATH": os.defpath, "SECRET": "correct horse"},
        **other,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"!")
        process.stdin.flush()
        assert (
            process.stdout.read(1) == b"!"
        )  # now it is cat, and no longer the fork that became it
        yield process
        process.stdin.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may write."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def landlock() -> int:
    """Returns the kernel's Landlock version; skips where it has none."""
    version = -1
    if sys.platform == "linux":
        version = ctypes.CDLL(None).syscall(444, None, 0, 1)
    if version < 1:
        pytest.skip("this kernel has no Landlock")
    return version

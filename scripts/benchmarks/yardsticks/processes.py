"""Processes: how long one takes to start, and how long two take to answer each other."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from measure import Sample

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

__all__ = ["Echo", "Start", "pinned", "start_all"]

_MESSAGE: Final = b"." * 64
_ECHO: Final = """
import os
while message := os.read(0, 64):
    os.write(0, message)
"""


@dataclass(frozen=True, slots=True)
class Start:
    """A command whose start is timed.

    Attributes:
        command: The program and its arguments.
        to_end: Whether it is timed until it has ended, or only until its first output.
        folder: Where it runs; None for here.
        limit_seconds: When it is ended as hung.
    """

    command: Sequence[str]
    to_end: bool = False
    folder: Path | None = None
    limit_seconds: float = 60.0

    def seconds(self) -> float:
        """Runs it once, to its end, and returns how long the timed part took.

        Raises:
            RuntimeError: It failed, hung or had no output; what it said is in the message.
        """
        start = time.perf_counter()
        process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        guard = threading.Timer(self.limit_seconds, os.killpg, (process.pid, signal.SIGKILL))
        guard.daemon = True
        guard.start()
        try:
            assert process.stdout is not None  # noqa: S101 - for the type checker
            first = os.read(process.stdout.fileno(), 1)
            took = time.perf_counter() - start
            _, said = process.communicate()
            if self.to_end:
                took = time.perf_counter() - start
        finally:
            guard.cancel()
        if process.returncode or not (first or self.to_end):
            msg = f"ended with status {process.returncode}: {said.decode(errors='replace')[-500:]}"
            raise RuntimeError(msg)
        return took


def start_all(starts: Mapping[str, Start], *, rounds: int) -> dict[str, Sample]:
    """Times starts in turn, after one untimed start each, which fills the caches.

    Args:
        starts: What to start, by name.
        rounds: How often each is timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in starts}
    for counted in range(rounds + 1):
        for name, start in starts.items():
            took = start.seconds()
            if counted:
                seconds[name].append(took)
    return {name: Sample(name, tuple(each)) for name, each in seconds.items()}


class Echo:
    """A process at the other end of a socket pair that sends back what it gets.

    Args:
        core: The processor that it must run on; None for any.
    """

    def __init__(self, core: int | None = None) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _ECHO], stdin=theirs.fileno()
            )
        if core is not None and sys.platform == "linux":
            os.sched_setaffinity(self._process.pid, {core})

    def __enter__(self) -> Self:
        self.turns(1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ours.close()
        self._process.wait()

    def turns(self, count: int) -> None:
        """Sends 64 bytes and gets them back, so many times."""
        fd = self._ours.fileno()
        for _ in range(count):
            os.write(fd, _MESSAGE)
            os.read(fd, len(_MESSAGE))


@contextmanager
def pinned(core: int | None) -> Generator[None]:
    """Keeps this thread, and what it starts meanwhile, on one processor; on Linux only.

    Args:
        core: Its number; None leaves things as they are.
    """
    if core is None or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

"""The host's end of the line to its zygote; ``worker.zygote`` is the other."""

from __future__ import annotations

import _socket  # socket itself costs 5 ms of a cold start
import os
import select
import struct

from nocturn.errors import ConfigurationError, IsolationError
from nocturn.host.process import Worker, spawn_zygote
from nocturn.wire.frames import ANSWER, BRANCH, NOT_LOCKED, ORDER, READY

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

    from nocturn.host.process import EngineFiles
    from nocturn.limits import Limits

__all__ = ["Branch", "Zygote", "bounds_of"]

_MESSAGE_BYTES: Final = 4_096
ANSWER_SECONDS: Final = 20.0
"""A zygote that has not answered by then hangs, and is replaced."""


class Zygote:
    """The host's handle on its zygote; one order at a time.

    Args:
        engine: What its workers run.

    Attributes:
        pid: Its process id.
        is_sound: Whether every order has had its answer. If one has not, because the zygote is
            dead, hangs, or because Ctrl-C came between, each later answer could be an earlier
            one's: another worker's pid. It must be replaced then.
    """

    def __init__(self, engine: EngineFiles) -> None:
        self._package = engine.package
        self.pid, self._control = spawn_zygote(engine)
        self._control.settimeout(ANSWER_SECONDS)
        self._is_ready = False
        self.is_sound = True

    def fork(self, limits: Limits) -> Worker:
        """Returns a worker that locks itself down to ``limits``.

        Raises:
            IsolationError: The zygote could not be locked down.
            ConfigurationError: The engine could not be loaded.
            OSError: The zygote is dead or hangs.
            EOFError: The zygote is dead, or not sound.
        """
        return self._forked(b"F", limits)

    def fork_session(self, limits: Limits) -> Worker:
        """Returns a worker that may fork, by :meth:`branch`; otherwise as :meth:`fork`."""
        return self._forked(b"S", limits)

    def open_branch(self, worker: Worker) -> Branch | None:
        """Allows a session's worker one fork.

        Args:
            worker: The one that may fork then.

        Returns:
            Where the child is to come; None where it may not, since one is to come already.

        Raises:
            OSError: The zygote is dead or hangs.
            EOFError: The zygote is dead, or not sound.
        """
        ours, theirs = _socket.socketpair()
        try:
            is_open, _ = self._ask(ORDER.pack(b"B", worker.pid, 0.0), _rights(theirs))
            return Branch(worker, ours.detach()) if is_open else None
        finally:
            ours.close()
            theirs.close()

    def close_branch(self, branch: Branch, limits: Limits) -> Worker | None:
        """Returns the child that has come, for a line under ``limits``; None where none has.

        Raises:
            OSError: The zygote is dead or hangs.
            EOFError: The zygote is dead, or not sound.
        """
        try:
            pid, _ = self._ask(ORDER.pack(b"A", branch.parent.pid, 0.0), [])
        except BaseException:
            os.close(branch.fd)
            raise
        if pid == 0:
            os.close(branch.fd)
            return None
        return Worker(pid, branch.fd, bounds_of(limits)[2], lambda: self._reap(pid))

    def end_session(self, worker: Worker) -> None:
        """Ends and reaps every process of a session and of its forks.

        Args:
            worker: One of them.

        Raises:
            OSError: The zygote is dead or hangs.
            EOFError: The zygote is dead or not sound, and all of them end with it.
        """
        self._ask(ORDER.pack(b"E", worker.pid, 0.0), [])

    def _forked(self, verb: bytes, limits: Limits) -> Worker:
        heap_bytes, cpu_seconds, frame_bytes = bounds_of(limits)
        self._wait_until_ready()
        ours, theirs = _socket.socketpair()
        try:
            pid, _ = self._ask(ORDER.pack(verb, heap_bytes, cpu_seconds), _rights(theirs))
            return Worker(pid, ours.detach(), frame_bytes, lambda: self._reap(pid))
        finally:
            ours.close()
            theirs.close()

    def close(self) -> None:
        """Ends it and, with it, its workers."""
        # Killed, since a fork of the host may hold the socket open. Its workers die with it.
        self.is_sound = False
        self._control.close()
        try:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):  # somebody else reaps the host's children
            pass

    def forget(self) -> None:
        """Lets go of it in a fork of the host, whose it is not."""
        self._control.close()

    def _wait_until_ready(self) -> None:
        if self._is_ready:
            return
        self.is_sound = False
        said = self._control.recv(_MESSAGE_BYTES)
        if said != READY:
            reason = said[1:].decode(errors="replace")
            if said[:1] == NOT_LOCKED:
                raise IsolationError(f"the worker could not be locked down: {reason}")
            raise ConfigurationError(
                f"no worker can be had: it ended as it started ({reason or 'killed'}); "
                f"install nocturn and {self._package} again"
            )
        self.is_sound = self._is_ready = True

    def _reap(self, pid: int) -> tuple[int, float]:
        try:
            return self._ask(ORDER.pack(b"R", pid, 0.0), [])
        except (OSError, EOFError):  # it was ended, and its workers with it
            return 0, 0.0

    def _ask(self, order: bytes, rights: list[tuple[int, int, bytes]]) -> tuple[int, float]:
        if not self.is_sound:
            raise EOFError
        self.is_sound = False
        self._control.sendmsg([order], rights, _socket.MSG_NOSIGNAL)
        data = self._control.recv(ANSWER.size)
        if not data:
            raise EOFError
        number, seconds = ANSWER.unpack(data)
        self.is_sound = True
        return number, seconds


class Branch:
    """A fork that is allowed.

    Args:
        parent: Who forks; it waits for its host.
        fd: Our end of the child's socket.
    """

    __slots__ = ("fd", "parent")

    def __init__(self, parent: Worker, fd: int) -> None:
        self.parent = parent
        self.fd = fd

    def wait(self, seconds: float) -> None:
        """Has the parent fork, and waits until the child says something, so long at most."""
        if not self.parent.channel.offer(BRANCH):
            return
        coming = select.poll()
        coming.register(self.fd, select.POLLIN)
        coming.poll(seconds * 1e3)


def _rights(socket: _socket.socket) -> list[tuple[int, int, bytes]]:
    return [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", socket.fileno()))]


def bounds_of(limits: Limits) -> tuple[int, float, int]:
    """Returns what a worker is locked down to: heap bytes, CPU seconds, bytes of a frame."""
    return limits.heap_bytes, limits.cpu_seconds, limits.frame_bytes

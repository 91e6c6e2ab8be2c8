"""The process that workers are forked from: it has loaded the engine and run the prelude, once.

It speaks with the host over descriptor 0, a socket that keeps messages apart; ``host.pool`` is the
other end. An order is one message, and so is its answer::

    ORDER: b"F", heap bytes, CPU seconds; with it the worker's socket   ->  ANSWER: pid, 0
    ORDER: b"R", pid, 0                                                 ->  ANSWER: signal, seconds
    ORDER: b"S", as b"F", for a session's worker, which may fork        ->  ANSWER: pid, 0
    ORDER: b"B", pid of who may fork once; with it the child's socket   ->  ANSWER: 1, or 0 for no
    ORDER: b"A", pid of who has forked                                  ->  ANSWER: child's pid or 0
    ORDER: b"E", pid of any of its processes: ends the session          ->  ANSWER: 0, 0

Its first message is unasked for: ``READY``, or ``NOT_LOCKED`` or ``NOT_LOADED`` and why.

It reaps a worker only when it is told to, so until then the worker's pid is nobody else's. It never
sees a guest, it never waits for a worker, and it ends with its host: their control socket may live
on in a fork of the host, so it watches the host itself.

What this module imports is on the path of every cold start: no json, no typing, no enum.
"""

from __future__ import annotations

import _socket
import gc
import os
import select
import struct
import sys

from nocturn.wire.frames import ANSWER, NOT_LOADED, NOT_LOCKED, ORDER, READY, Channel
from nocturn.worker import lockdown
from nocturn.worker.family import Family
from nocturn.worker.serve import Lines, serve, serve_session

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Final

    from nocturn.worker.serve import Runner

__all__ = ["main"]

IDLE_MILLISECONDS: Final = 20
"""After so long without an order the first runs are under way."""


def main(load: Callable[[str, Lines], Runner], file: str, host_pid: int) -> None:
    """Serves a host until it ends.

    Args:
        load: Loads what its workers run.
        file: What that is loaded from.
        host_pid: The host's process id.
    """
    control = _socket.socket(fileno=os.dup(0))
    lines = Lines(Channel(0, 0, sys.maxsize))
    try:
        engine = load(file, lines)
        host = os.pidfd_open(host_pid)
        if os.getppid() != host_pid:
            return
        lockdown.lock_zygote()
    except lockdown.LockdownError as problem:
        control.send(NOT_LOCKED + str(problem).encode())
        return
    except Exception as problem:  # noqa: BLE001 - no guest yet, and stderr leads nowhere
        control.send(NOT_LOADED + type(problem).__name__.encode())
        return
    control.send(READY)
    # What is there now is never freed, so a worker need not copy its pages to count references.
    gc.collect()
    gc.freeze()
    _Zygote(engine, lines, control, host).serve()


class _Zygote:
    """A locked zygote at work.

    Args:
        engine: The engine, loaded.
        lines: The wire of its workers.
        control: Where orders come from.
        host: A pidfd of the host's.
    """

    def __init__(self, engine: Runner, lines: Lines, control: _socket.socket, host: int) -> None:
        self._engine = engine
        self._lines = lines
        self._control = control
        self._host = host
        self._pid = os.getpid()
        self._watched = select.poll()
        self._families: dict[int, Family] = {}  # by the descriptor that is watched

    def serve(self) -> None:
        """Follows orders until the host ends."""
        control = self._control.fileno()
        self._watched.register(control, select.POLLIN)
        self._watched.register(self._host, select.POLLIN)
        patience: int | None = IDLE_MILLISECONDS
        while True:
            ready = dict(self._watched.poll(patience))
            if not ready:
                # Nobody waits: what a cold start has no time for is done now, for later forks.
                self._engine.load_ahead()
                patience = None
                continue
            if self._host in ready:
                self._leave()
            for fd in ready.keys() & self._families.keys():
                self._hear(fd, ready[fd])
            if control in ready:
                self._follow()

    def _follow(self) -> None:
        data, ancillary, _, _ = self._control.recvmsg(ORDER.size, _socket.CMSG_SPACE(4))
        if not data:
            self._leave()
        verb, number, cpu_seconds = ORDER.unpack(data)
        (fd,) = struct.unpack("i", ancillary[0][2]) if ancillary else (-1,)
        answer, seconds = 0, 0.0
        if verb == b"F":
            answer = self._fork(fd, number, cpu_seconds)
        elif verb == b"S":
            answer = self._fork_session(fd, number, cpu_seconds)
        elif (family := self._family_of(number)) is not None:
            answer, seconds = self._follow_in(family, verb, number, fd)
        elif verb == b"R":
            answer, seconds = _reap(number)
        elif fd >= 0:
            os.close(fd)
        self._control.send(ANSWER.pack(answer, seconds))

    def _follow_in(self, family: Family, verb: bytes, number: int, fd: int) -> tuple[int, float]:
        if verb == b"R":
            return family.reap(number)
        if verb == b"B":
            is_open = family.open(number, fd)
            self._watch(family)
            return int(is_open), 0.0
        if verb == b"A":
            return family.arrived(), 0.0
        self._forget(family)
        family.end()
        return 0, 0.0

    def _fork(self, fd: int, heap_bytes: int, cpu_seconds: float) -> int:
        pid = os.fork()
        if pid == 0:
            os.dup2(fd, 0)
            serve(
                self._engine, self._lines,
                heap_bytes=heap_bytes, cpu_seconds=cpu_seconds, parent_pid=self._pid,
            )  # fmt: skip
            os._exit(0)
        os.close(fd)
        return pid

    def _fork_session(self, fd: int, heap_bytes: int, cpu_seconds: float) -> int:
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            os.dup2(fd, 0)

            def give(listener: int) -> None:
                rights = struct.pack("i", listener)
                theirs.sendmsg([b"+"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])

            serve_session(
                self._engine,  # type: ignore[arg-type]
                self._lines,
                heap_bytes=heap_bytes, cpu_seconds=cpu_seconds, parent_pid=self._pid,
                supervisor=give,
            )  # fmt: skip
            os._exit(0)
        os.close(fd)
        theirs.close()
        ours.setblocking(False)
        family = Family(pid, ours)
        self._families[ours.fileno()] = family
        self._watched.register(ours.fileno(), select.POLLIN)
        return pid

    def _hear(self, fd: int, events: int) -> None:
        family = self._families[fd]
        if fd != family.listener:
            self._watch(family)
        elif events & select.POLLIN:
            family.rule()
        else:  # the last who could ask is gone
            self._forget(family)
            family.lose_listener()
            self._families[family.post.fileno()] = family

    def _watch(self, family: Family) -> None:
        """Goes over to the listener once it is there; a process that ended before has none."""
        post = family.post.fileno()
        if self._families.get(post) is family and family.take_listener():
            self._forget(family)
            self._families[family.listener] = family
            self._watched.register(family.listener, select.POLLIN)

    def _family_of(self, pid: int) -> Family | None:
        return next((each for each in self._families.values() if pid in each.members), None)

    def _forget(self, family: Family) -> None:
        for fd in [fd for fd, each in self._families.items() if each is family]:
            del self._families[fd]
            try:  # noqa: SIM105 - contextlib is not loaded otherwise
                self._watched.unregister(fd)
            except KeyError:
                pass

    def _leave(self) -> None:
        for family in self._families.values():
            family.kill()
        os._exit(0)


def _reap(pid: int) -> tuple[int, float]:
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return 0, 0.0
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ended_by, usage.ru_utime + usage.ru_stime

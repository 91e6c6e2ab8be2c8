"""The process that workers are forked from: it has loaded the engine and run the prelude, once.

It speaks with the host over descriptor 0, a socket that keeps messages apart; ``host.pool`` is the
other end. An order is one message, and so is its answer::

    ORDER: b"F", heap bytes, CPU seconds; with it the worker's socket   ->  ANSWER: pid, 0
    ORDER: b"R", pid, 0                                                 ->  ANSWER: signal, seconds

Its first message is unasked for: ``READY``, or ``NOT_LOCKED`` or ``NOT_LOADED`` and why.

It reaps a worker only when it is told to, so until then the worker's pid is nobody else's. It never
sees a guest, and it ends with its host: their control socket may live on in a fork of the host, so
it watches the host itself.

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
from nocturn.worker.serve import Lines, serve

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
    watched = select.poll()
    watched.register(control.fileno(), select.POLLIN)
    watched.register(host, select.POLLIN)
    parent = os.getpid()
    patience: int | None = IDLE_MILLISECONDS
    while True:
        ready = dict(watched.poll(patience))
        if not ready:
            # Nobody waits: what a cold start has no time for is done now, for later forks.
            engine.load_ahead()
            patience = None
            continue
        if host in ready:
            os._exit(0)
        data, ancillary, _, _ = control.recvmsg(ORDER.size, _socket.CMSG_SPACE(4))
        if not data:
            os._exit(0)
        verb, number, cpu_seconds = ORDER.unpack(data)
        if verb == b"R":
            control.send(_reap(number))
            continue
        (fd,) = struct.unpack("i", ancillary[0][2])
        pid = os.fork()
        if pid == 0:
            os.dup2(fd, 0)
            serve(engine, lines, heap_bytes=number, cpu_seconds=cpu_seconds, parent_pid=parent)
            os._exit(0)
        os.close(fd)
        control.send(ANSWER.pack(pid, 0.0))


def _reap(pid: int) -> bytes:
    try:
        _, status, usage = os.wait4(pid, 0)
    except ChildProcessError:
        return ANSWER.pack(0, 0.0)
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ANSWER.pack(ended_by, usage.ru_utime + usage.ru_stime)

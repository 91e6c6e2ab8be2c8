"""A worker's life: lock down, say so, run one guest, say how it ended."""

from __future__ import annotations

import os
import sys
from _json import encode_basestring_ascii as quoted  # json itself costs 7 ms of a cold start

from nocturn.wire.frames import BRANCH, LINE, ORDER, Channel
from nocturn.worker import kernel, lockdown

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Protocol

    class Runner(Protocol):
        """What a worker runs: QuickJS, or a parser."""

        def load_ahead(self) -> None:
            """Does what a cold start has no time for, in the process that others fork from."""

        def warm_up(self) -> None:
            """Touches what every run touches, before it."""

        def run(self, start: str, heap_bytes: int) -> str:
            """Runs one source, given the host's frame; returns the ``done`` frame's text."""
            ...

    class Listener(Runner, Protocol):
        """What a session's worker runs: QuickJS, whose every ``run`` is one line more."""

        def open_session(self) -> None:
            """Gets ready for lines that follow one another."""

        def ask(self, question: str) -> str:
            """Answers a question about what is there; runs nothing of the guest's."""
            ...


__all__ = ["Lines", "main", "serve", "serve_session"]


class Lines:
    """The worker's end of the wire, as the engine wants it: text, and nothing ever raised.

    An exception out of a host function would end the engine in ``SystemError``; a host that is gone
    ends the process.
    """

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def send(self, text: str) -> None:
        """Sends one frame."""
        if not self._channel.write(text.encode()):
            os._exit(0)

    def receive(self) -> bytes:
        """Returns the next frame."""
        payload = self._channel.read()
        if payload is None:
            os._exit(0)
        return payload

    def receive_text(self) -> str:
        """Returns the next frame's text."""
        return self.receive().decode()

    def receive_within(self, milliseconds: float | None) -> str:
        """Returns the next frame's text; empty where none came in that time.

        Args:
            milliseconds: How long to wait; None for as long as it takes.
        """
        if milliseconds is None or self._channel.wait(milliseconds):
            return self.receive_text()
        return ""

    def exchange(self, text: str) -> str:
        """Sends one frame and returns the next."""
        self.send(text)
        return self.receive_text()


def serve(
    engine: Runner, lines: Lines, *, heap_bytes: int, cpu_seconds: float, parent_pid: int
) -> None:
    """Runs one guest in an engine that no guest has been in.

    Args:
        engine: The engine, loaded.
        lines: Its wire.
        heap_bytes: The guest's heap.
        cpu_seconds: Its CPU time.
        parent_pid: The process that must outlive this one.
    """
    try:
        locked = lockdown.lock_worker(
            heap_bytes=heap_bytes, cpu_seconds=cpu_seconds, parent_pid=parent_pid
        )
    except lockdown.LockdownError as problem:
        refuse(lines, problem)
        return
    engine.warm_up()
    # The host reads this before it sends a guest, so that none runs with less than was asked for.
    start = lines.exchange(_ready(locked))
    # Nothing of the guest's runs after the result; the host, having read it, ends this process.
    lines.exchange(engine.run(start, heap_bytes))


def serve_session(
    engine: Listener,
    lines: Lines,
    *,
    heap_bytes: int,
    cpu_seconds: float,
    parent_pid: int,
    supervisor: Callable[[int], None],
) -> None:
    """Runs a session's lines, in an engine that no guest has been in, until its host hangs up.

    Args:
        engine: The engine, loaded.
        lines: Its wire.
        heap_bytes: The guest's heap.
        cpu_seconds: CPU time of a line; a fork's begins anew.
        parent_pid: The process that must outlive this one and its forks.
        supervisor: Is given the descriptor that tells of forks.
    """
    try:
        locked = lockdown.lock_worker(
            heap_bytes=heap_bytes,
            cpu_seconds=cpu_seconds,
            parent_pid=parent_pid,
            supervisor=supervisor,
        )
    except lockdown.LockdownError as problem:
        refuse(lines, problem)
        return
    engine.warm_up()
    engine.open_session()
    ready = _ready(locked)
    frame = lines.exchange(ready)
    while True:
        kind, text = frame[:1].encode(), frame[1:]
        if kind == BRANCH:
            # The child has a socket of its own by now; this process has nothing to say.
            frame = lines.exchange(ready) if lockdown.branch() else lines.receive_text()
        elif kind == LINE:
            frame = lines.exchange(engine.run(text, heap_bytes))
        else:
            frame = lines.exchange(engine.ask(text))


def _ready(locked: lockdown.Report) -> str:
    steps = ",".join(f"{quoted(name)}:{quoted(state)}" for name, state in locked["steps"].items())
    return f'{{"type":"ready","level":{quoted(locked["level"])},"steps":{{{steps}}}}}'


def refuse(lines: Lines, problem: lockdown.LockdownError) -> None:
    """Says that the lock-down failed; no guest will run."""
    lines.send(f'{{"type":"refused","reason":{quoted(str(problem))}}}')


def main(load: Callable[[str, Lines], Runner], file: str, write_fd: int) -> None:
    """Serves one run over descriptor 0, where there is no zygote: a process of its own.

    Args:
        load: Loads what it runs.
        file: What that is loaded from.
        write_fd: Where frames go: 0 where descriptor 0 is a socket, else a pipe's.
    """
    # The host is trusted, so its frames are not capped; the guest has not run yet.
    lines = Lines(Channel(0, write_fd, sys.maxsize))
    engine = load(file, lines)
    verb, heap_bytes, cpu_seconds = ORDER.unpack(lines.receive())
    try:
        lockdown.lock_zygote()
    except lockdown.LockdownError as problem:
        refuse(lines, problem)
        return
    parent = os.getppid()
    if verb == b"S":
        serve_session(
            engine,  # type: ignore[arg-type]
            lines,
            heap_bytes=heap_bytes, cpu_seconds=cpu_seconds, parent_pid=parent, supervisor=_nobody,
        )  # fmt: skip
    else:
        serve(engine, lines, heap_bytes=heap_bytes, cpu_seconds=cpu_seconds, parent_pid=parent)


def _nobody(_: int) -> None:
    raise kernel.Unsupported("there is no zygote that would rule on single forks")

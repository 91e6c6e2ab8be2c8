"""Threads that answer workers, kept for the next run: a new one each time costs 0.1 ms of it."""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue  # queue itself is not loaded otherwise

from nocturn.limits import SIGNAL_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Final, TypeVar

    T = TypeVar("T")

__all__ = ["Crew"]

IDLE_SECONDS: Final = 10.0
"""How long a thread waits for more to do before it ends."""
HURRY_SECONDS: Final = 0.02
"""How long after Ctrl-C it is told again: what it ends may not have begun the first time."""


class Crew:
    """Daemon threads, as many as there is work at one time; one that hangs holds nobody else up."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[Callable[[], None] | None]] = []
        self._closed = False

    def start(self, work: Callable[[], None]) -> None:
        """Has a thread do ``work``, which must not raise."""
        queue: SimpleQueue[Callable[[], None] | None]
        try:
            queue = self._idle.pop()
        except IndexError:
            queue = SimpleQueue()
            threading.Thread(
                target=self._serve, args=(queue,), name="nocturn-run", daemon=True
            ).start()
        queue.put(work)

    def finish(self, work: Callable[[], T], hurry: Callable[[], None]) -> tuple[T, bool]:
        """Has a thread do ``work``, where Ctrl-C does not reach it, and waits for its end.

        Args:
            work: What is not to be left half done.
            hurry: Called on Ctrl-C, again and again until the work is done.

        Returns:
            What it has returned, and whether Ctrl-C came; what it has raised is raised here.
        """
        ended = threading.Event()
        values: list[T] = []
        faults: list[BaseException] = []

        def do() -> None:
            try:
                values.append(work())
            except BaseException as fault:  # noqa: BLE001 - raised again where the caller waits
                faults.append(fault)
            ended.set()

        self.start(do)
        stopped = False
        while not ended.is_set():
            try:
                ended.wait(HURRY_SECONDS if stopped else SIGNAL_SECONDS)
                if stopped:
                    hurry()
            except KeyboardInterrupt:
                stopped = True
        if faults:
            raise faults[0]
        return values[0], stopped

    def close(self) -> None:
        """Lets the threads end, those at work when they are done."""
        self._closed = True
        while self._idle:
            self._idle.pop().put(None)

    def _serve(self, queue: SimpleQueue[Callable[[], None] | None]) -> None:
        while True:
            try:
                work = queue.get(timeout=IDLE_SECONDS)
            except Empty:
                try:
                    self._idle.remove(queue)
                except ValueError:
                    continue  # somebody has just taken it: there is work on its way
                return
            if work is None:
                return
            work()
            del work  # and with it the run's source and result
            self._idle.append(queue)
            if self._closed:
                self.close()

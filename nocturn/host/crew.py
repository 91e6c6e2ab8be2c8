"""Threads that answer workers, kept for the next run: a new one each time costs 0.1 ms of it."""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue  # queue itself is not loaded otherwise

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Final

__all__ = ["Crew"]

IDLE_SECONDS: Final = 10.0
"""How long a thread waits for more to do before it ends."""


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

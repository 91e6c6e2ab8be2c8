"""How long a run may go on: until its deadline, or until somebody stops it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

__all__ = ["Span", "StoppedError"]


class StoppedError(Exception):
    """The run must not go on.

    Attributes:
        status: What it ends as.
        why: One sentence.
    """

    def __init__(self, status: Literal["interrupted", "timeout"], why: str) -> None:
        super().__init__(why)
        self.status: Literal["interrupted", "timeout"] = status
        self.why = why


class Span:
    """A run's time, from now on. It stands still while a person decides. For many threads.

    Args:
        seconds: How long it is.

    Attributes:
        changed: Held by whoever changes what somebody waits for here.
    """

    def __init__(self, seconds: float) -> None:
        self.changed = threading.Condition()
        self._seconds = seconds
        self._left = seconds
        self._since = time.monotonic()
        self._pauses = 0
        self._stopped = False
        self._wakers: list[Callable[[], None]] = []

    @property
    def stopped(self) -> bool:
        """Whether somebody has stopped it."""
        return self._stopped

    def left(self) -> float:
        """Returns the seconds that are left; below 0 once it is over."""
        with self.changed:
            gone = 0.0 if self._pauses else time.monotonic() - self._since
            return self._left - gone

    def pause(self) -> None:
        """Stands still, since a person is asked; as often as it is resumed."""
        with self.changed:
            self._left = self.left()
            self._pauses += 1

    def resume(self) -> None:
        """Goes on, once for each pause."""
        with self.changed:
            self._pauses -= 1
            self._since = time.monotonic()
            self.changed.notify_all()

    def stop(self) -> None:
        """Stops it for good; whoever waits is woken."""
        with self.changed:
            self._stopped = True
            wakers = tuple(self._wakers)
            self.changed.notify_all()
        for wake in wakers:
            wake()

    def on_stop(self, wake: Callable[[], None]) -> None:
        """Has ``wake`` called when it is stopped, or now where it is; from another thread."""
        with self.changed:
            self._wakers.append(wake)
            stopped = self._stopped
        if stopped:
            wake()

    def check(self) -> None:
        """Raises ``StoppedError`` where the run must not go on."""
        if self._stopped:
            raise StoppedError("interrupted", "the run was cancelled")
        if self.left() <= 0:
            raise self.over()

    def over(self) -> StoppedError:
        """Returns what is raised at the deadline."""
        return StoppedError("timeout", f"the run took longer than its {self._seconds:g} s")

    def wait(self, done: Callable[[], bool]) -> None:
        """Waits until ``done``, which is looked at whenever something changed.

        Raises:
            StoppedError: The run must not go on.
        """
        with self.changed:
            while not done():
                self.check()
                self.changed.wait(None if self._pauses else self.left())

"""A run's wall clock, which stands still while a person decides."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

__all__ = ["RunClock"]


class RunClock:
    """Counts the seconds of a run, without those in which it was paused.

    Args:
        condition: Notified when the clock goes on: who waits for a deadline looks again.
        telling: Held while somebody is told of what the run does: then it does not begin to stand.
        on_resume: Called when it goes on; must not raise.
    """

    def __init__(
        self,
        condition: threading.Condition,
        telling: threading.Lock,
        on_resume: Callable[[], None],
    ) -> None:
        self._condition = condition
        self._telling = telling
        self._on_resume = on_resume
        self._started = time.monotonic()
        self._pauses = 0
        self._paused_at = 0.0
        self._waited = 0.0
        self._stood = 0.0

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._pauses > 0

    @property
    def waited_seconds(self) -> float:
        """Seconds in which a person was deciding."""
        return self._waited + (time.monotonic() - self._paused_at if self._pauses else 0.0)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the start in which it did not stand still."""
        now = time.monotonic()
        return now - self._started - self._stood - (now - self._paused_at if self._pauses else 0.0)

    def restart(self) -> None:
        """Counts from now: the worker is ready, and the guest begins."""
        with self._condition:
            self._started = time.monotonic()

    def pause(self) -> None:
        """Stands still; pauses may overlap."""
        with self._telling, self._condition:
            if self._pauses == 0:
                self._paused_at = time.monotonic()
            self._pauses += 1

    def resume(self, *, waited: bool = True) -> None:
        """Goes on, once the last of the pauses is over.

        Args:
            waited: Whether that was for a person; if not, it was for something else that is not
                the guest's, such as what the host has to load.
        """
        with self._condition:
            self._pauses -= 1
            if self._pauses == 0:
                lasted = time.monotonic() - self._paused_at
                self._stood += lasted
                self._waited += lasted if waited else 0.0
            self._condition.notify_all()
        self._on_resume()

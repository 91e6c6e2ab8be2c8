"""Puts one question at a time to an approver that may hang, break or answer too late."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from typing import TYPE_CHECKING, Final

from nocturn.errors import INTERNAL, NocturnError
from nocturn.guard.ports import NO_ANSWER
from nocturn.limits import ASK_SECONDS
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.guard.ports import Approver
    from nocturn.guard.question import Question

__all__ = ["Asking", "seconds_of"]

_LOG: Final = logging.getLogger("nocturn")
_LOOK_SECONDS: Final = 1.0
"""How often it is looked whether a person is at work on an answer."""


class Asking:
    """The one place in which a question is open. The caller holds ``turn`` around :meth:`ask`.

    Args:
        approver: Who is asked.
        redact: Strikes secrets out of the log.

    Attributes:
        turn: Held while a question is put, and while it is looked whether one is needed at all.
        patience_seconds: How long a person has: the approver's ``timeout_seconds``, else 120 s.
    """

    def __init__(self, approver: Approver, redact: Callable[[str], str]) -> None:
        self.turn: Final = threading.Lock()
        self.patience_seconds: Final = (
            seconds_of(getattr(approver, "timeout_seconds", None)) or ASK_SECONDS
        )
        self._approver = approver
        self._grace_seconds = seconds_of(getattr(approver, "grace_seconds", None)) or 0.0
        self._redact = redact
        self._open: threading.Thread | None = None

    def ask(self, question: Question) -> object:
        """Returns what the approver answered, or :data:`NO_ANSWER`.

        The approver runs in a thread of its own, since nothing else ends one that hangs. An answer
        that comes later is dropped with its question. Until then that question is still open, so
        the next one waits for it within its own time.

        Raises:
            NocturnError: ``INTERNAL``, the approver broke: neither a yes nor a no. Or what the
                approver raised: the place where it asks is not usable.
        """
        deadline = time.monotonic() + self.patience_seconds + self._grace_seconds
        if self._open is not None:
            self._open.join(max(0.0, deadline - time.monotonic()))
            if self._open.is_alive():
                return NO_ANSWER
        answers: list[object] = []
        faults: list[NocturnError] = []

        def put() -> None:
            try:
                answers.append(self._approver.ask(question))
            except NocturnError as fault:  # its words are made to be shown
                faults.append(fault)
            except BaseException:  # noqa: BLE001 - not even SystemExit in an approver is an answer
                _LOG.error("the approver broke\n%s", visible(self._redact(traceback.format_exc())))

        self._open = threading.Thread(target=put, name="nocturn-question", daemon=True)
        self._open.start()
        if not self._is_done(self._open):
            return NO_ANSWER
        self._open = None
        if faults:
            raise faults[0]
        if not answers:
            msg = "the approver broke, so there is no answer and nothing was done"
            raise NocturnError(INTERNAL, msg, tool=question.tool)
        return answers[0]

    def _is_done(self, thread: threading.Thread) -> bool:
        """Waits for the approver; not while a person is at work, whose time it would be."""
        patience = self.patience_seconds + self._grace_seconds
        deadline = time.monotonic() + patience
        while thread.is_alive():
            if getattr(self._approver, "attended", False) is True:
                deadline = time.monotonic() + patience
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            thread.join(min(left, _LOOK_SECONDS))
        return True


def seconds_of(value: object) -> float | None:
    """Returns a time that can be waited; None for what is none: zero, NaN, too long, no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value <= threading.TIMEOUT_MAX else None

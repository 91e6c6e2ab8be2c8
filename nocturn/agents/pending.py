"""Who asks a person in a run: the approver that there is, or nobody yet: an open question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nocturn.agents.events import Asked
from nocturn.limits import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.agents.events import Event
    from nocturn.agents.span import Span
    from nocturn.guard.ports import Approver
    from nocturn.guard.question import Question

__all__ = ["AskingAloud", "OpenQuestion"]


class OpenQuestion:
    """An approver that leaves a question open until the run is resumed with an answer.

    The gate asks one question at a time, so there is never more than one.

    Args:
        span: The run's; to stop it is a no.
    """

    timeout_seconds = float(MOST_SECONDS)
    """Nobody looks on, so that no answer is late."""

    def __init__(self, span: Span) -> None:
        self._span = span
        self._answers: list[object] = []
        self.question: Question | None = None

    def ask(self, question: Question) -> object:
        """Returns the answer that came, None where the run was stopped."""
        with self._span.changed:
            self._answers.clear()
            self.question = question
            self._span.changed.notify_all()
            self._span.changed.wait_for(lambda: self._answers or self._span.stopped)
            self.question = None
            return self._answers[0] if self._answers and not self._span.stopped else None

    def answer(self, answer: object) -> bool:
        """Gives the answer to the open question; returns whether there was one."""
        with self._span.changed:
            if self.question is None or self._span.stopped:
                return False
            self.question = None  # at once: the asking thread may take a moment to wake
            self._answers.append(answer)
            self._span.changed.notify_all()
            return True


class AskingAloud:
    """An approver that tells of each question and lets the run's time stand still meanwhile.

    Args:
        approver: Who asks.
        span: The run's.
        tell: Told of the question.
    """

    def __init__(self, approver: Approver, span: Span, tell: Callable[[Event], None]) -> None:
        self._approver = approver
        self._span = span
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        """Has what an approver may carry: ``timeout_seconds``, ``grace_seconds``, ``attended``."""
        return getattr(self._approver, name)

    def ask(self, question: Question) -> object:
        """Returns what the approver says."""
        self._span.pause()
        try:
            self._tell(Asked(question))
            return self._approver.ask(question)
        finally:
            self._span.resume()

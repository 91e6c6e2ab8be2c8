"""Asks a person who is elsewhere: the question waits in a box until somebody answers there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.guard.ports import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.guard.ports import QuestionBox
    from nocturn.guard.question import Question

__all__ = ["BoxApprover"]


class BoxApprover:
    """Asks for one run.

    Args:
        box: Gives the place where questions wait; called when there is one.
        alive: Whether the run still wants an answer: the question is withdrawn when it does not.
        timeout_seconds: How long a question waits.
        tell: Told of each question's id, so that somebody comes and looks.
    """

    grace_seconds: Final = 30.0
    """The box decides who came first, an answer or the end; a busy disk may take that long."""

    def __init__(
        self,
        box: Callable[[], QuestionBox],
        alive: Callable[[], bool],
        timeout_seconds: float,
        tell: Callable[[str], None],
    ) -> None:
        self._box = box
        self._alive = alive
        self._tell = tell
        self.timeout_seconds = timeout_seconds

    def ask(self, question: Question) -> object:
        """Returns the value of the option that was chosen, None for a no, or ``NO_ANSWER``."""
        with self._box().ask(question.to_dict(), self.timeout_seconds) as waiting:
            self._tell(waiting.id)
            outcome = waiting.wait(self._alive)
        return outcome.answer if outcome.state == "answered" else NO_ANSWER

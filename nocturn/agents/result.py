"""What a run of an agent came to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nocturn.guard.question import Question

__all__ = ["CallMade", "Status", "TaskResult", "Usage"]

Status: TypeAlias = Literal["error", "done", "pending", "incomplete", "interrupted", "timeout"]


@dataclass(frozen=True, slots=True)
class CallMade:
    """A call that the model made.

    Attributes:
        tool: The tool's name.
        is_error: Whether it was told what went wrong.
        ruling: What the gate said; empty where nothing was ruled on.
    """

    tool: str
    is_error: bool
    ruling: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used.

    Attributes:
        requests: Requests to the model, those too that were made again.
        input_tokens: As the endpoint counts them; 0 where it does not say.
        output_tokens: Likewise.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a run came to; a failure is one, too.

    Attributes:
        status: ``done``; ``pending``, a question is open; ``incomplete``, the turns were used up or
            the model stopped short; ``interrupted``; ``timeout``, the deadline; ``error``.
        text: What the model said last; whatever there is of it unless ``done``.
        turns: How often the model answered.
        calls: The calls that it made, in order.
        usage: What it used.
        error: What happened unless ``done``, one sentence; empty else.
        messages: The conversation without the system prompt, redacted: ``run(…, after=result)``
            goes on from it.
        question: The open one of a ``pending`` run.
    """

    status: Status
    text: str = ""
    turns: int = 0
    calls: tuple[CallMade, ...] = ()
    usage: Usage = Usage()
    error: str = ""
    messages: tuple[Mapping[str, Any], ...] = ()
    question: Question | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as dicts, lists and plain values."""
        asked = None if self.question is None else self.question.to_dict()
        return {**asdict(replace(self, question=None)), "question": asked}

"""What is told of a run while it goes on: to whoever shows it, and to nobody's decision.

Events come one at a time, from other threads than the caller's. A listener that raises is logged
and no more: it changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nocturn.agents.result import TaskResult
    from nocturn.guard.question import Question

__all__ = ["Asked", "CallBegan", "CallEnded", "Done", "Event", "Retrying", "TextDelta"]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model said something more; comes only with ``stream``.

    Attributes:
        text: What it said, redacted; never empty. Not made safe for a terminal.
    """

    text: str


@dataclass(frozen=True, slots=True)
class CallBegan:
    """The model calls a tool.

    Attributes:
        id: What the call is called in this turn.
        tool: The tool's name.
        arguments: What it is given, redacted.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The outcome of a call is in.

    Attributes:
        id: What the call is called in this turn.
        tool: The tool's name.
        output: What the model is told.
        is_error: Whether that says what went wrong.
        ruling: What the gate said; empty where nothing was ruled on.
    """

    id: str
    tool: str
    output: str
    is_error: bool
    ruling: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A person is asked, by the approver or by leaving the question open.

    Attributes:
        question: What is asked.
    """

    question: Question


@dataclass(frozen=True, slots=True)
class Retrying:
    """A request is made again; what was streamed of this turn so far is void.

    Attributes:
        attempt: Which attempt comes: 2 is the first that is a retry.
        wait_seconds: How long it waits before.
        why: What went wrong, one sentence.
    """

    attempt: int
    wait_seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """The run ended; nothing comes after it.

    Attributes:
        result: What ``run`` or ``resume`` returns.
    """

    result: TaskResult


Event: TypeAlias = TextDelta | CallBegan | CallEnded | Asked | Retrying | Done

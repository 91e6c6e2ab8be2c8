"""What a model is offered: a tool as the loop knows it, and what a call of it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["AgentTool", "ToolContext", "ToolResult"]


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know of the agent's run that it is part of.

    Attributes:
        call_id: What the model calls the call.
        agent: Whose run it is; empty for one without a name.
        alive: Whether the run still waits for the outcome.
    """

    call_id: str = ""
    agent: str = ""
    alive: Callable[[], bool] = _always


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told.

    Attributes:
        output: The text.
        is_error: Whether it says what went wrong.
        ruling: What the gate said; empty where nothing was ruled on. Not for the model.
    """

    output: str
    is_error: bool = False
    ruling: str = ""


class AgentTool(Protocol):
    """A tool as a model sees it."""

    @property
    def name(self) -> str:
        """What the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
        ...

    def execute(self, arguments: Mapping[str, Any], ctx: ToolContext | None = None) -> ToolResult:
        """Does it; what goes wrong is a result, too."""
        ...

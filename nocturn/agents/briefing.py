"""What a model is told before it is asked anything: the soul, and the catalog of its notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nocturn.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.agents.tool import AgentTool
    from nocturn.stage import Stage

__all__ = ["briefing", "offers"]


def briefing(soul: str, stage: Stage, tools: Iterable[AgentTool]) -> str:
    """Returns the system prompt of a run, as the notes are now; every secret is taken out.

    Args:
        soul: The persona's, as it was when the session began.
        stage: The workspace whose catalog it gets; a stage without notes adds nothing.
        tools: What the agent has.

    Raises:
        NocturnError: The notes cannot be looked at.
    """
    if isinstance(stage, Workspace):
        soul = stage.memory.in_prompt(soul, [each.name for each in tools])
    said: str = stage.redacted(soul)
    return said


def offers(stage: Stage, tools: Iterable[AgentTool]) -> list[dict[str, object]]:
    """Returns the tools as ``/chat/completions`` takes them; every secret is taken out.

    Args:
        stage: Whose secrets.
        tools: What the agent has.
    """
    return [
        {
            "type": "function",
            "function": {
                "name": each.name,
                "description": stage.redacted(each.description),
                "parameters": stage.redacted(dict(each.parameters)),
            },
        }
        for each in tools
    ]

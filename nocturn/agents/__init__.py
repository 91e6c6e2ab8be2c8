"""Agents: a persona that lives in files, the model that speaks for it, and what it may do.

::

    from nocturn.agents import AgentSpec, RuntimeOptions, agent_from_dir

    with agent_from_dir("ava", AgentSpec(model="…")) as ava:
        print(ava.run(RuntimeOptions(base_url="…"), "remember that I like dark roast").text)

What may enter: the loop between a model and tools, and what the model is told. What a call may do
is the guard's business, and what becomes of it the store's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nocturn.agents.agent import Agent, agent_from_dir
    from nocturn.agents.home import compose_soul, memory_tool
    from nocturn.agents.result import TaskResult
    from nocturn.agents.spec import AgentSpec, RuntimeOptions, vault
    from nocturn.agents.tool import AgentTool, ToolContext, ToolResult

__all__ = [
    "Agent",
    "AgentSpec",
    "AgentTool",
    "RuntimeOptions",
    "TaskResult",
    "ToolContext",
    "ToolResult",
    "agent_from_dir",
    "compose_soul",
    "memory_tool",
    "vault",
]

_HOMES: Final = {
    "Agent": "agent",
    "AgentSpec": "spec",
    "AgentTool": "tool",
    "RuntimeOptions": "spec",
    "TaskResult": "result",
    "ToolContext": "tool",
    "ToolResult": "tool",
    "agent_from_dir": "agent",
    "compose_soul": "home",
    "memory_tool": "home",
    "vault": "spec",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module nocturn.agents has no attribute {name}")
    from importlib import import_module

    return getattr(import_module(f"nocturn.agents.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

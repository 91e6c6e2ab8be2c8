"""What an agent has: the tools of one of its runs, all of which take the same road.

``memory`` where it is wired, ``code_run``, the host's own, and in a workspace those of its notes.
They are one conversation to the guard, so that what a script is refused counts for the model, too.
"""

from __future__ import annotations

import inspect
import json
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.code_run import code_run_tool
from nocturn.agents.saying import as_text, plain_schema
from nocturn.agents.tool import ToolContext, ToolResult
from nocturn.conversation import call_of
from nocturn.errors import INTERNAL, ConfigurationError, NocturnError
from nocturn.names import is_tool_name
from nocturn.registry.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from typing import Self

    from nocturn.agents.tool import AgentTool
    from nocturn.conversation import Conversation
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver
    from nocturn.host.result import RunResult
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.stage import Stage

__all__ = ["NOTE_TOOLS", "Belongings", "host_tools"]

NOTE_TOOLS: Final = (
    "memory_append",
    "memory_list",
    "memory_read",
    "memory_search",
    "memory_write",
)
"""What an agent has of a workspace."""
_CONTEXT: ContextVar[ToolContext] = ContextVar("nocturn_tool_context")
"""What a tool of another kind is told of the call that it is in; a script's calls have no id."""
SAID_BYTES: Final = 262_144
"""What a script may print, and return; all of it is searched for secrets before it is cut."""


class Belongings:
    """The tools of one run of an agent. Safe to use from many threads.

    Args:
        stage: Where its scripts run: a workspace, or the agent's own.
        tools: The host's tools, and ``memory`` where it is wired.
        gates: What rules on a tool's effects in place of the stage's gate, by the tool's name.
        notes: The names of the stage's own tools that it has.
        mode: Who is there to ask.
        agent: The agent's name; grants belong to it.
        approver: Who asks a person for it; None for whoever does on the stage.
        nature: What one without a name is known by: its soul.

    Raises:
        ConfigurationError: Two tools have one name, or an argument is wrong.
    """

    def __init__(
        self,
        stage: Stage,
        *,
        tools: Iterable[Tool] = (),
        gates: Mapping[str, Gate] | None = None,
        notes: Iterable[str] = (),
        mode: ModeName = "strict",
        agent: str | None = None,
        approver: Approver | Callable[[Any], Any] | None = None,
        nature: str = "",
    ) -> None:
        code_run = code_run_tool(self._run, stage.redacted)
        self.conversation: Final[Conversation] = stage.conversation(
            agent=agent,
            mode=mode,
            tools=notes,
            more=(*tools, code_run),
            gates=gates,
            limits=_limits(stage.limits),
            approver=approver,
            nature=nature,
        )

    @cached_property
    def tools(self) -> tuple[AgentTool, ...]:
        """The tools as a model is offered them, by name."""
        kept = sorted(self.conversation.tools, key=lambda each: each.name)
        return tuple(_Offered(each, self.conversation) for each in kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what its tools are at; none of them begins any more. Safe from any thread."""
        self.conversation.close()

    def _run(self, code: str) -> RunResult:
        return self.conversation.run(code, filename="code_run.js")


def host_tools(given: Iterable[Tool | AgentTool]) -> list[Tool]:
    """Returns a host's tools as tools of ours.

    One that nocturn does not know declares no effects. To have handed it to the agent is the yes to
    all that it does; what goes in is scanned, what comes out redacted, and each call journalled.

    Args:
        given: Made with :func:`nocturn.tool`; or anything with ``name``, ``description``,
            ``parameters`` and ``execute``.

    Raises:
        ConfigurationError: One is neither.
    """
    return [each if isinstance(each, Tool) else _adopted(each) for each in given]


def _limits(limits: Limits) -> Limits:
    """Returns what a model's script may use: to print what the model is not told is of no use."""
    return replace(
        limits,
        console_bytes=min(limits.console_bytes, SAID_BYTES),
        value_bytes=min(limits.value_bytes, SAID_BYTES),
    )


@dataclass(frozen=True, slots=True)
class _Offered:
    """A tool of the registry, as a model is offered it."""

    _tool: Tool
    _conversation: Conversation

    @property
    def name(self) -> str:
        return self._tool.name

    @property
    def description(self) -> str:
        return self._tool.description

    @property
    def parameters(self) -> Mapping[str, Any]:
        if isinstance(self._tool, _Adopted):
            return self._tool.schema()
        return plain_schema(self._tool.schema())

    def execute(self, arguments: Mapping[str, Any], ctx: ToolContext | None = None) -> ToolResult:
        call = call_of(self.name, arguments)
        before = _CONTEXT.set(ctx or ToolContext())
        try:
            value = self._conversation.dispatch(call)
        except NocturnError as error:
            return ToolResult(as_text(str(error)), is_error=True, ruling=call.ruling or "")
        finally:
            _CONTEXT.reset(before)
        return ToolResult(as_text(value), ruling=call.ruling or "")


class _Adopted(Tool):
    """A tool of somebody's own making, whose schema is its own business."""

    def parse(self, text: str | bytes) -> dict[str, Any]:
        """Returns the arguments, an object of any fields: the tool looks at them itself."""
        return {"arguments": json.loads(text)}

    def schema(self) -> dict[str, Any]:
        """Returns what the tool says its arguments are."""
        return dict(self.page["parameters"])


def _adopted(given: AgentTool) -> Tool:
    name, execute = getattr(given, "name", None), getattr(given, "execute", None)
    parameters = getattr(given, "parameters", None)
    if not callable(execute) or not isinstance(name, str) or not hasattr(parameters, "items"):
        raise ConfigurationError(
            f"tools has a {type(given).__name__}: put @nocturn.tool on a function, or give "
            "something with name, description, parameters and execute"
        )
    try:
        json.dumps(parameters)
    except (TypeError, ValueError, RecursionError):
        raise ConfigurationError(f"tool {name}: its parameters are no JSON schema") from None
    if not is_tool_name(name):
        raise ConfigurationError(f"tool name {name!r} is not 1 to 64 of a-z, A-Z, 0-9, _ and -")

    def function(arguments: dict[str, Any]) -> Any:
        result: Any = given.execute(arguments, _CONTEXT.get(ToolContext()))
        return _later(result) if inspect.isawaitable(result) else _output(result)

    return _Adopted(
        name=name,
        description=str(getattr(given, "description", "")),
        axis="read",
        effects=(),
        function=function,
        page={"parameters": parameters},
    )


async def _later(result: Awaitable[Any]) -> str:
    return _output(await result)


def _output(result: Any) -> str:
    """Returns what a tool of another kind has said; a failure of its is one of ours."""
    if result.is_error is not False:
        raise NocturnError(INTERNAL, str(result.output))
    return str(result.output)

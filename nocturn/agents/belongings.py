"""What an agent has: the tools of one of its runs, all of which take the same road.

``memory`` where it is wired, ``code_run``, the host's own, and in a workspace those of its notes.
They are one conversation to the guard, so that what a script is refused counts for the model, too.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.bare import BareStage
from nocturn.agents.briefing import briefing
from nocturn.agents.code_run import code_run_tool
from nocturn.agents.home import compose_soul, memory_of, persona_folder
from nocturn.agents.saying import as_text
from nocturn.agents.tool import ToolContext, ToolResult
from nocturn.conversation import call_of
from nocturn.errors import INTERNAL, ConfigurationError, NocturnError
from nocturn.names import is_tool_name
from nocturn.registry.tool import Tool
from nocturn.workspace import Workspace

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from pathlib import Path
    from typing import Self

    from nocturn.agents.spec import AgentSpec
    from nocturn.agents.tool import AgentTool
    from nocturn.conversation import Conversation
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver, SecretSource
    from nocturn.host.result import RunResult
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.stage import Stage

__all__ = ["NOTE_TOOLS", "Belongings", "Stay", "belongings_of", "host_tools"]

NOTE_TOOLS: Final = (
    "memory_append",
    "memory_list",
    "memory_read",
    "memory_search",
    "memory_write",
)
"""What an agent has of a workspace."""
SAID_BYTES: Final = 262_144
"""What a script may print, and return; all of it is searched for secrets before it is cut."""


class Belongings:
    """What an agent has, for as long as it lives. Safe to use from many threads.

    Args:
        folder: The persona's folder.
        spec: What the agent is made of.

    Raises:
        ConfigurationError: Something in the spec is not usable.
        NocturnError: The persona's files cannot be read.
    """

    def __init__(self, folder: Path, spec: AgentSpec) -> None:
        given = spec.workspace
        self._stage: Stage = _stage_of(folder, spec)
        self._is_given = self._stage is given
        self._spec = spec
        self._tools = host_tools(spec.tools)
        self._gates: dict[str, Gate] = {}
        self._notes = () if given is None else NOTE_TOOLS
        if spec.memory:
            kept = memory_of(folder, self._stage)
            self._tools.insert(0, kept.tool)
            self._gates[kept.tool.name] = kept.gate
        self._soul = compose_soul(folder)
        with self.begin():  # what is wrong with the tools is said now
            pass

    def redact(self, text: str) -> str:
        """Takes every secret out of a text."""
        said: str = self._stage.redacted(text)
        return said

    def guard(self, sources: Iterable[SecretSource]) -> None:
        """Keeps what more sources of secrets have from leaving, from here on."""
        self._stage.guard(sources)

    def key(self, name: str) -> str:
        """Returns a value of the workspace's vault.

        Raises:
            ConfigurationError: There is no workspace, no vault, or nothing of this name in it.
        """
        if not isinstance(self._stage, Workspace):
            raise ConfigurationError("a key from a vault needs a workspace, whose vault it is in")
        for each in self._stage.vault.secrets():
            if each.name == name:
                return each.value
        raise ConfigurationError(f"the vault has no {name}: nocturn vault set {name}")

    def begin(self, approver: Approver | Callable[[Any], Any] | None = None) -> Stay:
        """Begins one run, which is one run to the guard.

        Args:
            approver: Who asks a person in it; None for whoever does in the workspace.
        """
        return Stay(
            self._stage,
            soul=self._soul,
            tools=self._tools,
            gates=self._gates,
            notes=self._notes,
            mode=self._spec.mode,
            agent=self._spec.name,
            approver=approver,
        )

    def close(self) -> None:
        """Ends all that runs; a workspace that was given stays open."""
        if not self._is_given:
            self._stage.close()


class Stay:
    """What an agent has in one of its runs. Safe to use from many threads.

    Args:
        stage: Where its scripts run: a workspace, or a stage of its own.
        soul: What it is told of itself.
        tools: The host's tools, and ``memory`` where it is wired.
        gates: What rules on a tool's effects in place of the stage's gate, by the tool's name.
        notes: The names of the stage's own tools that it has.
        mode: Who is there to ask.
        agent: The agent's name; grants belong to it.
        approver: Who asks a person for it; None for whoever does on the stage.

    Raises:
        ConfigurationError: Two tools have one name, or an argument is wrong.
    """

    def __init__(
        self,
        stage: Stage,
        *,
        soul: str = "",
        tools: Iterable[Tool] = (),
        gates: Mapping[str, Gate] | None = None,
        notes: Iterable[str] = (),
        mode: ModeName = "strict",
        agent: str | None = None,
        approver: Approver | Callable[[Any], Any] | None = None,
    ) -> None:
        self._stage, self._soul = stage, soul
        self.conversation: Final[Conversation] = stage.conversation(
            agent=agent,
            mode=mode,
            tools=notes,
            more=(*tools, code_run_tool(self._run, stage.redacted)),
            gates=gates,
            limits=_limits(stage.limits),
            approver=approver,
        )
        kept = sorted(self.conversation.tools, key=lambda each: each.name)
        self.tools: Final[tuple[AgentTool, ...]] = tuple(
            _Offered(each, self.conversation) for each in kept
        )

    @cached_property
    def system(self) -> str:
        """The system prompt, as the notes were when it was first asked for; empty for none.

        Raises:
            NocturnError: The notes cannot be looked at.
        """
        return briefing(self._soul, self._stage, self.tools)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what its tools are at; none of them begins any more. Safe from any thread."""
        self.conversation.close()

    def _run(self, code: str) -> RunResult:
        return self.conversation.run(code, filename="code_run.js")


def belongings_of(folder: str | os.PathLike[str], spec: AgentSpec) -> Belongings:
    """Returns what an agent of this folder has.

    Raises:
        ConfigurationError: The folder is missing or a file, or the spec is not usable.
        NocturnError: The persona's files cannot be read.
    """
    return Belongings(persona_folder(folder), spec)


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


def _stage_of(folder: Path, spec: AgentSpec) -> Stage:
    given = spec.workspace
    if given is None:
        return BareStage(folder, spec.secrets)
    if isinstance(given, Workspace):
        given.guard(spec.secrets)
        return given
    return Workspace(given, secrets=spec.secrets)


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
        told: dict[str, Any] = _told(self._tool.schema())
        return told

    def execute(self, arguments: Mapping[str, Any], ctx: ToolContext | None = None) -> ToolResult:
        del ctx  # the conversation knows whose it is, and whether it goes on
        call = call_of(self.name, arguments)
        try:
            value = self._conversation.dispatch(call)
        except NocturnError as error:
            return ToolResult(as_text(str(error)), is_error=True, ruling=call.ruling or "")
        return ToolResult(as_text(value), ruling=call.ruling or "")


def _told(schema: Any) -> Any:
    """Returns a schema without what pydantic adds: titles, and null where nothing need be given."""
    if isinstance(schema, dict):
        said: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType] - JSON's
        return {
            key: {name: _told(each) for name, each in value.items()}
            if key == "properties"
            else _told(value)
            for key, value in said.items()
            if key != "title" and not (key == "default" and value is None)
        }
    return [_told(each) for each in schema] if isinstance(schema, list) else schema  # pyright: ignore[reportUnknownVariableType] - JSON's


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
        result: Any = given.execute(arguments, ToolContext())
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

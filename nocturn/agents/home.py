"""A persona's folder: what it says, and the tool that writes in it.

To wire the tool, by hand or by making an agent, is the consent to what it does: it comes with a
gate of its own, which allows just that in every mode. A policy or grants in the folder, which may
be from elsewhere, are not read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.bare import BareStage, NoGrants
from nocturn.agents.saying import as_text, plain_schema
from nocturn.agents.tool import ToolContext, ToolResult
from nocturn.effects import Recall
from nocturn.errors import ConfigurationError, NocturnError
from nocturn.given import absolute
from nocturn.guard.gate import Gate
from nocturn.guard.policy import Decision, Policy, Rule
from nocturn.store.data import data_folder
from nocturn.store.keys import LocalKey
from nocturn.store.persona import KIND, PersonaStore, outer_of
from nocturn.store.soul import compose_soul as composed
from nocturn.tools.persona import persona_tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nocturn.guard.ports import SecretSource
    from nocturn.registry.tool import Tool
    from nocturn.stage import Stage

__all__ = ["MemoryTool", "compose_soul", "memory_of", "memory_tool"]

_CONSENT: Final = Policy(
    (Rule(KIND, frozenset({"write"}), None, Decision.ALLOW, Recall.ALWAYS, where="wired"),)
)


class MemoryTool:
    """The tool ``memory`` over one folder, wired by hand. Safe to use from many threads.

    Args:
        folder: The persona's folder.
        secrets: Where the values are that must not leave.
    """

    def __init__(self, folder: Path, secrets: Iterable[SecretSource] = ()) -> None:
        self._stage = BareStage(folder, secrets)
        (self._tool,), self._gates = memory_of(folder, self._stage)
        self.name: Final = self._tool.name
        self.description: Final = self._tool.description
        self.parameters: Final[Mapping[str, Any]] = plain_schema(self._tool.schema())

    def execute(self, arguments: Mapping[str, Any], ctx: ToolContext | None = None) -> ToolResult:
        """Does one action; what goes wrong is a result, too.

        Args:
            arguments: ``action`` and ``text``; ``target``, ``with``, ``all`` where needed.
            ctx: Whose call it is.
        """
        with self._stage.conversation(tools=(), more=[self._tool], gates=self._gates) as talk:
            if ctx is not None and not ctx.alive():
                talk.close()
            try:
                return ToolResult(as_text(talk.call(self.name, arguments)))
            except NocturnError as error:
                return ToolResult(as_text(error.message), is_error=True)


def memory_tool(
    directory: str | os.PathLike[str], *, secrets: Iterable[SecretSource] = ()
) -> MemoryTool:
    """Returns the tool ``memory`` over a folder, which the first entry makes where it is missing.

    Args:
        directory: The persona's folder.
        secrets: Where the values are that must not leave.

    Raises:
        ConfigurationError: It is a file.
    """
    return MemoryTool(_folder(directory), secrets)


def compose_soul(directory: str | os.PathLike[str]) -> str:
    """Returns what a persona's files say, as one text; nothing is taken out of it.

    Args:
        directory: The persona's folder.

    Raises:
        NocturnError: The folder cannot be opened.
    """
    return composed(Path(os.path.realpath(_folder(directory))))


def memory_of(folder: Path, stage: Stage) -> tuple[tuple[Tool, ...], Mapping[str, Gate]]:
    """Returns the tool ``memory`` over a folder, for a stage's conversations, and its gate.

    Args:
        folder: The persona's folder, absolute.
        stage: Whose secrets it must not write, nor match.
    """
    folder = Path(os.path.realpath(folder))  # it may be a link, which is the user's
    key, purpose = LocalKey(data_folder()), f"persona:{folder}"
    store = PersonaStore(
        folder,
        outer_of(folder),
        lambda data: key.token(purpose, data),
        stage.scanner.spans,
    )
    tool = persona_tool(store)
    return (tool,), {tool.name: Gate(_CONSENT, NoGrants(), None, stage.scanner.redact)}


def _folder(directory: str | os.PathLike[str]) -> Path:
    place = Path(absolute(directory))
    if place.exists() and not place.is_dir():
        raise ConfigurationError(f"the persona {place.name} is a file: name a folder")
    return place

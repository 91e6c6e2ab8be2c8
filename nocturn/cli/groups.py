"""Groups of options that commands share: each is read, and told in help, as if it were their own.

A command takes a group as one keyword-only parameter and stands under :func:`spread`, which shows
typer the group's fields in its place.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from nocturn.cli.options import (
    AgentName,
    DryRun,
    Folder,
    Guarded,
    Isolation,
    Json,
    Lang,
    Memory,
    SecretEnv,
    Timeout,
    Watched,
    Within,
    limits_of,
    mode_of,
    open_workspace,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.workspace import Workspace

__all__ = ["Acting", "Changing", "Running", "spread"]


@dataclass(kw_only=True)
class Acting:
    """Where a command acts, as whom, and who looks on."""

    workspace: Folder = None
    watched: Watched = None
    guarded: Guarded = False
    within: Within = None
    agent: AgentName = None
    secret_env: SecretEnv = None

    @property
    def mode(self) -> ModeName:
        """Who is there to ask."""
        return mode_of(self.watched, self.guarded)

    def open(self, isolation: str = "full") -> Workspace:
        """Returns the workspace; nothing is created.

        Raises:
            ConfigurationError: An option is not usable.
        """
        return open_workspace(
            self.workspace,
            secret_env=self.secret_env,
            mode=self.mode,
            within=self.within,
            isolation=isolation,
        )


@dataclass(kw_only=True)
class Changing(Acting):
    """How a command changes notes, and tells it."""

    dry_run: DryRun = False
    json: Json = False


@dataclass(kw_only=True)
class Running(Acting):
    """How a command runs scripts."""

    lang: Lang = None
    timeout: Timeout = None
    memory: Memory = None
    isolation: Isolation = "full"
    dry_run: DryRun = False

    @property
    def limits(self) -> Limits:
        """The limits of each run."""
        return limits_of(self.timeout, self.memory)


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """Returns a command that takes the fields of its groups in place of the groups."""
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type] = {}
    for each in inspect.signature(command, eval_str=True).parameters.values():
        if isinstance(each.annotation, type) and is_dataclass(each.annotation):
            groups[each.name] = each.annotation
            parameters += _parameters_of(each.annotation)
        else:
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def gathered(**given: Any) -> int:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        return command(**given)

    del gathered.__wrapped__  # typer would look through to it
    gathered.__dict__["__signature__"] = inspect.Signature(parameters)
    gathered.__annotations__ = {each.name: each.annotation for each in parameters}
    return gathered


@cache
def _parameters_of(group: type) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    return tuple(
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(group)
    )

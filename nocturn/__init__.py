"""Run JavaScript that you do not trust, and let it do useful things through guarded tools.

::

    from nocturn import Workspace

    with Workspace("notes") as ws:
        result = ws.run("nocturn.memory.read('people/lina.md')")

Names are loaded when they are first used: the worker starts in this package and must stay small,
and a first run must be quick.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

    from nocturn.effects import Effect
    from nocturn.errors import (
        ConfigurationError,
        IsolationError,
        NocturnError,
        RunFailed,
        RunInterrupted,
    )
    from nocturn.guard.ports import EnvironmentSecrets
    from nocturn.guard.question import Edited
    from nocturn.host.result import RunResult
    from nocturn.limits import Limits
    from nocturn.registry.tool import tool
    from nocturn.workspace import Workspace

__all__ = [
    "ConfigurationError",
    "Edited",
    "Effect",
    "EnvironmentSecrets",
    "IsolationError",
    "Limits",
    "NocturnError",
    "RunFailed",
    "RunInterrupted",
    "RunResult",
    "Workspace",
    "tool",
]

__version__: Final = "0.1.0"

_HOMES: Final = {
    "ConfigurationError": "nocturn.errors",
    "Edited": "nocturn.guard.question",
    "Effect": "nocturn.effects",
    "EnvironmentSecrets": "nocturn.guard.ports",
    "IsolationError": "nocturn.errors",
    "Limits": "nocturn.limits",
    "NocturnError": "nocturn.errors",
    "RunFailed": "nocturn.errors",
    "RunInterrupted": "nocturn.errors",
    "RunResult": "nocturn.host.result",
    "Workspace": "nocturn.workspace",
    "tool": "nocturn.registry.tool",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module nocturn has no attribute {name}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""Options that several commands have, and how a workspace is made of them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.guard.approver import TerminalApprover
    from nocturn.guard.ports import EnvironmentSecrets
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.workspace import Workspace

__all__ = [
    "READ_BYTES",
    "AgentName",
    "DryRun",
    "Folder",
    "Guarded",
    "Isolation",
    "Json",
    "Lang",
    "Memory",
    "SecretEnv",
    "Timeout",
    "Watched",
    "Within",
    "limits_of",
    "mode_of",
    "open_workspace",
    "person_of",
    "secrets_of",
]

READ_BYTES: Final = 16 * 1_048_576
"""What is read of a script or a note, far over what either may have; a device may never end."""
_WIDTH: Final = {"": 20, "M": 20, "G": 30, "K": 10}

Folder = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        envvar="NOCTURN_WORKSPACE",
        help="The workspace's folder; workspaces/default in your data folder where not given.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the whole result as JSON.")]
Lang = Annotated[
    Literal["js", "ts"] | None,
    typer.Option(
        "--lang", help="js or ts; where not given, by the file's name if there is one, else js."
    ),
]
Watched = Annotated[
    bool | None,
    typer.Option(
        "--watched/--strict",
        help="Whether you look on, and are asked. At a terminal you do; elsewhere nobody does.",
    ),
]
Guarded = Annotated[
    bool,
    typer.Option(
        "--guarded",
        help="Nobody looks on: what asks waits for an answer by nocturn approvals.",
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        "--answer-within", metavar="SECONDS", help="How long a question waits; 120 if not given."
    ),
]
AgentName = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Whose run it is; grants are its own.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Write nothing, and show as diffs what would be written."),
]
SecretEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--secret-env",
        metavar="NAME",
        help="An environment variable whose value must not leave; may be given again.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="Wall clock and CPU time."),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="The guest's heap: 64M, 1G; a number is MiB."),
]
Isolation = Annotated[
    str,
    typer.Option(
        "--isolation",
        metavar="LEVEL",
        help="full, or best-effort to run with what protection this machine has.",
    ),
]


def open_workspace(
    folder: str | None,
    *,
    secret_env: list[str] | None = None,
    mode: ModeName = "strict",
    within: float | None = None,
    isolation: str = "full",
) -> Workspace:
    """Returns the workspace that the options name; nothing is created.

    Raises:
        ConfigurationError: It is a file, or an option is not usable.
    """
    from nocturn.workspace import Workspace

    return Workspace(
        folder or _default_folder(),
        approver=person_of(mode, within),
        secrets=secrets_of(secret_env),
        isolation="best-effort" if isolation == "best-effort" else _full(isolation),
        ask_seconds=within,
    )


def person_of(mode: ModeName, within: float | None) -> TerminalApprover | None:
    """Returns who is asked at the terminal; None where nobody looks on."""
    if mode != "watched":
        return None
    from nocturn.guard.approver import TerminalApprover
    from nocturn.limits import ASK_SECONDS

    return TerminalApprover(timeout_seconds=ASK_SECONDS if within is None else within)


def secrets_of(secret_env: list[str] | None) -> list[EnvironmentSecrets]:
    """Returns the secrets that the options name.

    Raises:
        ConfigurationError: A variable is not set, or not usable.
    """
    from nocturn.guard.ports import EnvironmentSecrets

    return [EnvironmentSecrets(*secret_env)] if secret_env else []


def mode_of(watched: bool | None, guarded: bool) -> ModeName:
    """Returns the mode: what was asked for, else watched where a person is at the terminal.

    Raises:
        ConfigurationError: Two were asked for.
    """
    if guarded:
        if watched is not None:
            raise ConfigurationError("two modes were given: give --guarded, --watched or --strict")
        return "guarded"
    if watched is None:
        watched = sys.stdin.isatty() and sys.stderr.isatty()
    return "watched" if watched else "strict"


def limits_of(timeout: float | None, memory: str | None) -> Limits:
    """Returns the default limits with what the options change.

    Raises:
        ConfigurationError: A value is not above 0, or not a size.
    """
    from dataclasses import replace

    from nocturn.limits import Limits

    limits = Limits()
    if timeout is not None:
        limits = replace(limits, wall_seconds=timeout, cpu_seconds=timeout)
    if memory is not None:
        digits, unit = memory.strip().upper().removesuffix("IB").removesuffix("B"), ""
        if digits[-1:] in ("K", "M", "G"):
            digits, unit = digits[:-1], digits[-1]
        if not digits.isascii() or not digits.isdigit():
            raise ConfigurationError(f"--memory is {memory!r}: give a size such as 64M or 1G")
        limits = replace(limits, heap_bytes=int(digits) << _WIDTH[unit])
    return limits


def _default_folder() -> str:
    from nocturn.store.data import data_folder

    return str(data_folder() / "workspaces" / "default")


def _full(isolation: str) -> Literal["full"]:
    if isolation != "full":
        raise ConfigurationError(f"--isolation is {isolation!r}: give full or best-effort")
    return "full"

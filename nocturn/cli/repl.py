"""``nocturn repl``: a session at the terminal, or piped in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nocturn.cli import codes
from nocturn.cli.options import (
    AgentName,
    DryRun,
    Folder,
    Guarded,
    Isolation,
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
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.workspace import Workspace

__all__ = ["repl", "talk"]


def repl(
    lang: Lang = None,
    workspace: Folder = None,
    watched: Watched = None,
    guarded: Guarded = False,
    within: Within = None,
    agent: AgentName = None,
    timeout: Timeout = None,
    memory: Memory = None,
    secret_env: SecretEnv = None,
    isolation: Isolation = "full",
    dry_run: DryRun = False,
) -> int:
    """Script your memory by hand: a session whose names live on from line to line.

    A line that runs away is taken back, and the session is as it was before it. What is piped in
    runs statement by statement, up to the first that fails; the exit status tells.
    """
    mode = mode_of(watched, guarded)
    with open_workspace(
        workspace, secret_env=secret_env, mode=mode, within=within, isolation=isolation
    ) as ws:
        return talk(ws, mode, agent, limits_of(timeout, memory), lang=lang, dry_run=dry_run)


def talk(
    workspace: Workspace,
    mode: ModeName,
    agent: str | None,
    limits: Limits,
    *,
    lang: str | None,
    dry_run: bool,
    first: tuple[str | bytes, str, str | None, list[str]] | None = None,
) -> int:
    """Opens a session, and stays in it; returns the exit status.

    Args:
        workspace: Where.
        mode: Who is there to ask.
        agent: Whose session it is.
        limits: Of each line.
        lang: ``js`` or ``ts``.
        dry_run: Whether nothing is written.
        first: A script to begin with: its text, its name, its folder, its arguments.
    """
    from nocturn.repl.desk import Desk
    from nocturn.repl.prompt import converse, read_through

    is_typed = sys.stdin.isatty() and sys.stdout.isatty()
    desk = Desk(
        workspace,
        mode=mode,
        agent=agent,
        limits=limits,
        dry_run=dry_run,
        lang=lang,
        folder=None if first is None else first[2],
        args=() if first is None else first[3],
        barred=is_typed,
    )
    if first is not None:
        result = desk.run(first[0], filename=first[1])
        if not is_typed and not result.ok:
            return codes.of_result(result)
    if is_typed:
        converse(desk)
        return 0
    outcome = read_through(desk, sys.stdin.buffer)
    return int(not outcome) if isinstance(outcome, bool) else codes.of_result(outcome)

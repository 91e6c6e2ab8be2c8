"""Changing notes from the command line, by the road that a script's calls take, and telling it."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any

from nocturn.cli.options import mode_of, open_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.memory import Memory

__all__ = ["change"]


def change(
    act: Callable[[Memory, dict[str, Any]], dict[str, Any]],
    in_words: Callable[[dict[str, Any]], str],
    *,
    workspace: str | None,
    watched: bool | None,
    guarded: bool,
    within: float | None,
    agent: str | None,
    secret_env: list[str] | None,
    dry_run: bool,
    json: bool,
) -> int:
    """Makes one change as the options say, and prints what has become of it.

    Args:
        act: Makes it; it is given the notes, and what each call takes: mode, agent, dry run.
        in_words: Says it in words.
        workspace: The option, as all that follow.
        watched: As above.
        guarded: As above.
        within: As above.
        agent: As above.
        secret_env: As above.
        dry_run: As above.
        json: As above.

    Returns:
        The exit status.
    """
    mode = mode_of(watched, guarded)
    with open_workspace(workspace, secret_env=secret_env, mode=mode, within=within) as ws:
        done = act(ws.memory, {"mode": mode, "agent": agent, "dry_run": dry_run})
    return _say_done(done, json, in_words)


def _say_done(done: dict[str, Any], json: bool, in_words: Callable[[dict[str, Any]], str]) -> int:
    from nocturn.layout import diff_lines, say
    from nocturn.visible import visible

    if json:
        say(dumps(done))
    elif "would_write" in done:
        for each in done["would_write"]:
            say(diff_lines(each["diff"]))
    else:
        say(visible(in_words(done)))
    return 0

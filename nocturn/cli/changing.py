"""Changing notes from the command line, by the road that a script's calls take, and telling it."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.cli.groups import Changing
    from nocturn.memory import Memory

__all__ = ["change"]


def change(
    given: Changing,
    act: Callable[[Memory, dict[str, Any]], dict[str, Any]],
    in_words: Callable[[dict[str, Any]], str],
) -> int:
    """Makes one change as the options say, and prints what has become of it.

    Args:
        given: The options.
        act: Makes it; it is given the notes, and what each call takes: mode, agent, dry run.
        in_words: Says it in words.

    Returns:
        The exit status.
    """
    told = {"mode": given.mode, "agent": given.agent, "dry_run": given.dry_run}
    with given.open() as ws:
        done = act(ws.memory, told)
    return _say_done(done, given.json, in_words)


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

"""``nocturn repl``: a session at the terminal, or piped in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from nocturn.cli import codes
from nocturn.cli.groups import Running, spread

if TYPE_CHECKING:
    from io import BufferedReader

__all__ = ["repl", "talk"]


@spread
def repl(*, given: Running) -> int:
    """Script your memory by hand: a session whose names live on from line to line.

    A line that runs away is taken back, and the session is as it was before it. What is piped in
    runs statement by statement, up to the first that fails; the exit status tells.
    """
    return talk(given)


def talk(
    given: Running, first: tuple[str | bytes, str, str | None, list[str]] | None = None
) -> int:
    """Opens a session, and stays in it; returns the exit status.

    Args:
        given: The options.
        first: A script to begin with: its text, its name, its folder, its arguments.
    """
    from nocturn.repl.desk import Desk
    from nocturn.repl.prompt import converse, read_through

    is_typed = sys.stdin.isatty() and sys.stdout.isatty()
    with given.open(given.isolation) as workspace:
        desk = Desk(
            workspace,
            mode=given.mode,
            agent=given.agent,
            limits=given.limits,
            dry_run=given.dry_run,
            lang=given.lang,
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
        outcome = read_through(desk, cast("BufferedReader", sys.stdin.buffer))
        return int(not outcome) if isinstance(outcome, bool) else codes.of_result(outcome)

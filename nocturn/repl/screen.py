"""What a person sees of a session: their own words plain, the guest's and a note's behind a bar.

At a terminal each row of the guest's stands behind a bar that it cannot leave out, since rows are
folded here and not by the terminal, and what hides or moves text is shown as an escape. So nothing
that it prints looks like a question, a ruling or a word of ours. Elsewhere there is no bar: what is
piped on is what was printed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from nocturn.layout import call_line, diff_lines, error_lines, say, tell
from nocturn.visible import BAR, folded, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.host.result import CallRecord, ConsoleLine, RunError, RunResult

__all__ = ["Screen", "columns"]

_COLUMNS: Final = 80
_NARROWEST: Final = 20
_TAB: Final = 4


class Screen:
    """Shows what happens in a session, as it happens.

    Args:
        barred: Whether the guest's words carry the bar, since a person reads them among ours.
    """

    def __init__(self, *, barred: bool) -> None:
        self._barred = barred

    def show(self, text: str) -> None:
        """Shows what was asked for and is not ours: a note, a list of notes, the journal."""
        self._put(say, visible(text))

    def console(self, line: ConsoleLine) -> None:
        """Shows a line that the guest has printed."""
        self._put(say, visible(line.text))

    def call(self, call: CallRecord) -> None:
        """Shows a call that has ended: what it would do, and the ruling."""
        line = call_line(call)
        if self._barred:
            mark, _, line = line.partition(" ")
            self._put(tell, line, f"{mark} ")
        else:
            tell(line)

    def result(self, result: RunResult) -> None:
        """Shows what a line gave: its value, or its error with a caret, and what was left over."""
        if result.shown is not None:
            self._put(say, visible(result.shown), "= ")
        if result.error is not None:
            self.error(result.error)
        for rejection in result.unhandled_rejections:
            tell("nobody looked at this rejection:")
            self.error(rejection)
        for each in result.would_write or ():
            ours, _, diff = diff_lines(each.diff).partition("\n")
            tell(ours)
            if diff:
                self._put(tell, diff)

    def error(self, error: RunError) -> None:
        """Shows an error with its place, the line and a caret under it, and its causes."""
        self._put(tell, error_lines(error))

    def _put(self, out: Callable[[str], None], text: str, first: str = BAR) -> None:
        """Puts out what is visible by now; its first row begins with a mark of its own."""
        if not self._barred:
            out(text)
            return
        width = columns()
        # A sign more at its end would have some terminals fold the row.
        rows = [
            row for line in text.expandtabs(_TAB).split("\n") for row in folded(line, width - 1)
        ]
        rows[0] = first + rows[0].removeprefix(BAR)
        out("\n".join(rows))


def columns() -> int:
    """Returns how wide the terminal is, in cells."""
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, _NARROWEST)
    except OSError:
        return _COLUMNS

"""What a line does at the prompt, whether a person types it or a file is piped in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import RunInterrupted
from nocturn.layout import call_line, console_line, error_lines, say, tell
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nocturn.host.result import CallRecord, ConsoleLine, RunResult
    from nocturn.host.session import Session
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.workspace import Workspace

__all__ = ["Desk", "statements"]

GUEST: Final = "│ "
"""Before each line that the guest has written, at a terminal."""
VALUE: Final = "= "
_MORE: Final = "  "


class Desk:
    """One session, and how what becomes of its lines is shown.

    Args:
        workspace: Where it runs.
        mode: Who is there to ask.
        agent: Whose session it is; None for nobody's in particular.
        limits: The limits of a line; None for the workspace's.
        dry_run: Whether nothing is written.
        lang: ``js`` or ``ts``.
        folder: Where its scripts are, out of which they may import.
        args: ``nocturn.args`` in the guest.
        marked: Whether a guest's lines carry a mark, since a person reads them among ours.

    Attributes:
        kept: The lines that ended well, in order.
        last_run: The run that has last changed something; empty where none has.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        mode: ModeName,
        agent: str | None = None,
        limits: Limits | None = None,
        dry_run: bool = False,
        lang: str | None = None,
        folder: str | None = None,
        args: Sequence[str] = (),
        marked: bool = False,
    ) -> None:
        self.workspace = workspace
        self.mode: ModeName = mode
        self.agent = agent
        self.limits = limits or workspace.limits
        self.kept: list[str] = []
        self.last_run = ""
        self._marked = marked
        self.session: Session = workspace.session(
            mode=mode,
            agent=agent,
            limits=limits,
            dry_run=dry_run,
            lang="ts" if lang == "ts" else "js" if lang == "js" else None,
            folder=folder,
            args=args,
            on_call=self._told_call,
            on_console=self._told_line,
        )

    def run(self, source: str | bytes, *, filename: str | None = None) -> RunResult:
        """Runs a line and shows what became of it. Ctrl-C ends the line, not the session."""
        try:
            result = self.session.eval(source, filename=filename)
        except RunInterrupted as stop:
            result = stop.result
        self._show(result)
        if result.ok and isinstance(source, str):
            self.kept.append(source.rstrip("\n"))
        if any(call.code is None and call.effects for call in result.calls):
            self.last_run = result.run
        return result

    def notes(self) -> Iterator[dict[str, Any]]:
        """Yields the notes, by path, as ``memory_list`` has them."""
        cursor = None
        while True:
            found = self.workspace.memory.list(cursor=cursor)
            yield from found["notes"]
            cursor = found["cursor"]
            if cursor is None:
                return

    def reset(self) -> None:
        """Begins anew, with nothing declared."""
        self.session.reset()
        self.kept.clear()

    def _show(self, result: RunResult) -> None:
        if result.shown is not None:
            say(
                self._after(VALUE, visible(result.shown)) if self._marked else visible(result.shown)
            )
        if result.error is not None:
            tell(self._theirs(error_lines(result.error)))
        for rejection in result.unhandled_rejections:
            tell("nobody looked at this rejection:")
            tell(self._theirs(error_lines(rejection)))
        for each in result.would_write or ():
            tell("nothing was written; this would have been:")
            tell(self._theirs(visible(each.diff).rstrip()))

    def _told_call(self, call: CallRecord) -> None:
        tell(call_line(call))

    def _told_line(self, line: ConsoleLine) -> None:
        say(self._theirs(console_line(line)))

    def _theirs(self, text: str) -> str:
        return self._after(GUEST, text, GUEST) if self._marked else text

    @staticmethod
    def _after(mark: str, text: str, more: str = _MORE) -> str:
        return mark + text.replace("\n", "\n" + more)


def statements(lines: Callable[[], str | None], session: Session) -> Iterator[str]:
    """Yields one statement after another out of lines.

    Args:
        lines: Gives the next line; None at the end.
        session: Tells whether a statement is whole.
    """
    pending: list[str] = []
    while (line := lines()) is not None:
        pending.append(line)
        text = "\n".join(pending)
        if len(pending) == 1 and line.lstrip().startswith("."):
            yield text
        elif not text.strip() or session.unfinished(text):
            continue
        else:
            yield text
        pending = []
    if pending and (text := "\n".join(pending)).strip():
        yield text

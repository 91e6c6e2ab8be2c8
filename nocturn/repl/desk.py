"""What a line does at the prompt, whether a person types it or a file is piped in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nocturn.errors import RunInterrupted
from nocturn.repl.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nocturn.host.result import RunResult
    from nocturn.host.session import Session
    from nocturn.limits import Limits
    from nocturn.memory import ModeName
    from nocturn.store.listing import NoteStat
    from nocturn.workspace import Workspace

__all__ = ["Desk", "statements"]

_PAGE: Final = 200


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
        barred: Whether the guest's words carry a bar, since a person reads them among ours.

    Attributes:
        screen: Where all of it is shown.
        kept: The lines that ended well, in order.
        last_run: The run that has last changed something; empty where none has.
        typed: Whether its lines are TypeScript.
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
        barred: bool = False,
    ) -> None:
        self.workspace = workspace
        self.mode: ModeName = mode
        self.agent = agent
        self.limits = limits or workspace.limits
        self.kept: list[str] = []
        self.last_run = ""
        self._dry_run = dry_run
        self.typed = lang == "ts"
        self.screen = Screen(barred=barred)
        self.session: Session = workspace.session(
            mode=mode,
            agent=agent,
            limits=limits,
            dry_run=dry_run,
            lang="ts" if lang == "ts" else "js" if lang == "js" else None,
            folder=folder,
            args=args,
            on_call=self.screen.call,
            on_console=self.screen.console,
        )

    def run(self, source: str | bytes, *, filename: str | None = None) -> RunResult:
        """Runs a line and shows what became of it. Ctrl-C ends the line, not the session.

        Raises:
            RunInterrupted: Ctrl-C, when the line had just ended.
        """
        late: RunInterrupted | None = None
        try:
            result = self.session.eval(source, filename=filename)
        except RunInterrupted as stop:
            result = stop.result
            late = stop if result.ok else None
        self.screen.result(result)
        if result.ok and isinstance(source, str):
            self.kept.append(source.rstrip("\n"))
        if any(call.code is None and call.effects for call in result.calls):
            self.last_run = result.run
        if late is not None:
            raise late
        return result

    def about(self) -> str:
        """Returns what a person should have before their eyes while they type."""
        dry = ", dry run" if self._dry_run else ""
        return f"{self.workspace.path.name}: {self.mode}{dry}, as {self.agent or 'nobody by name'}"

    def begin(self) -> None:
        """Has the session's globals made, so that they can be completed before a first line."""
        self.session.eval("")

    def reset(self) -> None:
        """Begins anew, with nothing declared."""
        self.session.reset()
        self.begin()
        self.kept.clear()

    def is_unfinished(self, text: str) -> bool:
        """Returns whether a text goes on in a next line; the engine tells, which runs nothing."""
        return self.session.unfinished(text) or (self.typed and _opens(text))

    def notes(self, prefix: str = "", *, most: int | None = None) -> Iterator[NoteStat]:
        """Yields notes by path, redacted. No call, so that looking leaves no line in the journal.

        Args:
            prefix: What their paths begin with.
            most: How many; None for all.
        """
        cursor, left = None, most
        while left is None or left > 0:
            found, cursor = self.workspace.notes.list(
                _PAGE if left is None else min(left, _PAGE),
                cursor,
                lambda paths: self.workspace.redacted(list(paths)),
                lambda path: path.startswith(prefix),
            )
            for each in found:
                yield replace(each, summary=self.workspace.redacted(each.summary))
            if cursor is None:
                return
            left = None if left is None else left - len(found)


def statements(lines: Callable[[], str | None], unfinished: Callable[[str], bool]) -> Iterator[str]:
    """Yields one statement after another out of lines.

    Args:
        lines: Gives the next line; None at the end.
        unfinished: Tells whether a text goes on in a next line.
    """
    pending: list[str] = []
    while (line := lines()) is not None:
        if not pending and not line.strip():
            continue
        pending.append(line)
        text = "\n".join(pending)
        is_command = len(pending) == 1 and line.lstrip().startswith(".")
        if is_command or not unfinished(text):
            yield text
            pending = []
    if pending:
        yield "\n".join(pending)


def _opens(text: str) -> bool:
    """Returns whether brackets are open: to the engine TypeScript is an error, not a beginning."""
    from pygments.lexers.javascript import TypeScriptLexer
    from pygments.token import Punctuation, is_token_subtype

    signs = (
        each
        for kind, each in TypeScriptLexer().get_tokens(text)
        if is_token_subtype(kind, Punctuation)
    )
    depth = 0
    for sign in "".join(signs):
        depth += (sign in "([{") - (sign in ")]}")
    return depth > 0

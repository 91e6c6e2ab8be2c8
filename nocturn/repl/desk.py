"""What a line does at the prompt, whether a person types it or a file is piped in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nocturn.errors import RunInterrupted
from nocturn.repl.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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

    def ends(self, lines: Sequence[str], known: int) -> tuple[int, list[int]]:
        """Returns how many lines were looked at, and after which of those a statement ends.

        Args:
            lines: The lines; a statement begins with the first.
            known: So many of them are known to be the beginning of one, and no more.
        """
        if not self.typed:
            return self.session.ends(lines, known)
        seen = known + 1
        return seen, [] if self.is_unfinished("\n".join(lines[:seen])) else [seen]

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


def statements(
    batches: Iterable[Sequence[str]],
    ends: Callable[[Sequence[str], int], tuple[int, list[int]]],
) -> Iterator[str]:
    """Yields one statement or command after another out of lines; empty ones too.

    Args:
        batches: The lines, as many at a time as are there.
        ends: Tells how many lines were looked at and where a statement ends, given lines of which
            the first begins one, and how many of them are known to be a beginning.
    """
    waiting: list[str] = []
    known = 0
    for batch in batches:
        waiting += batch
        while known < len(waiting):
            if known == 0 and _is_command(waiting[0]):
                yield waiting.pop(0)
                continue
            known, found = ends(waiting, known)
            begin = 0
            for end in found:
                if begin and _is_command(waiting[begin]):
                    known = begin  # what stands behind it was taken for a part of it
                    break
                yield "\n".join(waiting[begin:end])
                begin = end
            del waiting[:begin]
            known -= begin
    if waiting:
        yield "\n".join(waiting)


def _is_command(line: str) -> bool:
    return line.lstrip().startswith(".")


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

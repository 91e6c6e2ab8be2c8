"""A talk with an agent at the terminal: what is said, and what it does meanwhile."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from nocturn.agents.events import CallBegan, CallEnded, Retrying, TextDelta
from nocturn.errors import ConfigurationError, RunInterrupted
from nocturn.layout import say, tell
from nocturn.repl.screen import columns
from nocturn.visible import BAR, folded, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.agents.agent import Agent
    from nocturn.agents.events import Event
    from nocturn.agents.result import TaskResult
    from nocturn.agents.spec import RuntimeOptions

__all__ = ["Transcript", "at_terminal", "converse"]

_PROMPT: Final = "> "
_SHOWN: Final = 100
"""How many characters of a call's arguments and of its outcome are shown."""


class Transcript:
    """Shows a run as it goes on: the model's words on stdout, its calls on stderr.

    What a model says is text of anybody's by now, so that all of it is shown through `visible`.

    Args:
        marked: Whether its lines carry a mark, since a person reads them among ours.
    """

    def __init__(self, *, marked: bool = False) -> None:
        self._mark = BAR if marked else ""
        self._open = False
        self._used = 0
        self._streamed = False

    def __call__(self, event: Event) -> None:
        """Shows one event."""
        with suppress(BrokenPipeError):  # nobody reads any more: `end` meets it, and says so
            self._show(event)

    def _show(self, event: Event) -> None:
        match event:
            case TextDelta(text=text):
                self._write(text)
            case CallBegan(tool=tool, arguments=arguments):
                given = json.dumps(dict(arguments), ensure_ascii=False)
                self._line(f"· {tool} {_short(given)}")
            case CallEnded(tool=tool, output=output, is_error=is_error, ruling=ruling):
                outcome = " ".join(each for each in ("failed" if is_error else "", ruling) if each)
                self._line(f"· {tool} → {outcome or 'done'}: {_short(output)}")
            case Retrying(wait_seconds=seconds, why=why):
                self._line(f"nocturn: {why}; again in {seconds:.1f} s")
            case _:
                pass

    def end(self, result: TaskResult) -> None:
        """Shows what is left to show of a run: its text where that has not come yet, its end."""
        self._close()
        if result.text and not self._streamed:
            self._write(result.text)
            self._close()
        self._streamed = False
        if result.status != "done":
            tell(visible(f"nocturn: {result.status}: {result.error}"))

    def _write(self, text: str) -> None:
        text = visible(text)
        if self._mark:
            text = self._barred(text)
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
        self._open = self._streamed = True

    def _barred(self, text: str) -> str:
        """Returns text that goes on where the last ended, in rows that no terminal folds."""
        room = columns() - 1 - len(self._mark)
        out = "" if self._open else self._mark
        if not self._open:
            self._used = 0
        for each in text.expandtabs(1):
            cells = 1 if each.isascii() else 2
            if each == "\n" or self._used + cells > room:
                out += f"\n{self._mark}"
                self._used = 0
            if each != "\n":
                out += each
                self._used += cells
        return out

    def _line(self, text: str) -> None:
        self._close()
        text = visible(text, keep="")
        if self._mark:
            first, *others = folded(text, columns() - 1)
            text = "\n".join([first.removeprefix(self._mark), *others])
        tell(text)

    def _close(self) -> None:
        if self._open:
            say("")
        self._open = False


def converse(agent: Agent, options: RuntimeOptions, shown: Transcript) -> str:
    """Talks until the person leaves, or until what is piped in has ended.

    Args:
        agent: Whom with.
        options: Of each run; its events go to ``shown``.
        shown: Shows them, and how each run ended.

    Returns:
        ``done``; where lines are piped in, how the first run ended that did not end so.
    """
    typed = at_terminal()
    before: TaskResult | None = None
    for text in _typed() if typed else _piped():
        try:
            result = agent.run(options, text, after=before)
        except RunInterrupted as stop:
            result = stop.result
        shown.end(result)
        if result.messages:
            before = result
        if not typed and result.status != "done":
            return result.status
    return "done"


def at_terminal() -> bool:
    """Returns whether a person types what is said, and reads the answers."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _typed() -> Iterator[str]:
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession()
    say("nocturn: say something; Ctrl-C ends an answer, Ctrl-D leaves")
    while True:
        try:
            text = session.prompt(_PROMPT)
        except KeyboardInterrupt:  # the line is dropped, the talk goes on
            continue
        except EOFError:
            return
        if text.strip():
            yield text


def _piped() -> Iterator[str]:
    for line in sys.stdin.buffer:
        try:
            text = line.decode().strip()
        except UnicodeDecodeError:
            text = None  # raised out here: the decoder's error would carry the text along
        if text is None:
            raise ConfigurationError("a line from stdin is not UTF-8: save it as UTF-8")
        if text:
            yield text


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

"""A talk with an agent at the terminal: what is said, and what it does meanwhile."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from nocturn.agents.events import CallBegan, CallEnded, Retrying, TextDelta
from nocturn.layout import say, tell
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.agents.agent import Agent
    from nocturn.agents.events import Event
    from nocturn.agents.result import TaskResult
    from nocturn.agents.spec import RuntimeOptions

__all__ = ["Transcript", "converse"]

_PROMPT: Final = "> "
_SHOWN: Final = 100
"""How many characters of a call's arguments and of its outcome are shown."""


class Transcript:
    """Shows a run as it goes on: the model's words on stdout, its calls on stderr.

    What the model says is text of anybody's by now, so that all of it is shown through `visible`.
    """

    def __init__(self) -> None:
        self._open = False

    def __call__(self, event: Event) -> None:
        """Shows one event."""
        match event:
            case TextDelta(text=text):
                self._write(text)
            case CallBegan(tool=tool, arguments=arguments):
                self._line(f"· {tool} {_short(str(dict(arguments)))}")
            case CallEnded(tool=tool, output=output, is_error=is_error, ruling=ruling):
                outcome = " ".join(each for each in ("failed" if is_error else "", ruling) if each)
                self._line(f"· {tool} → {outcome or 'done'}: {_short(output)}")
            case Retrying(wait_seconds=seconds, why=why):
                self._line(f"nocturn: {why}; again in {seconds:.1f} s")
            case _:
                pass

    def end(self, result: TaskResult) -> None:
        """Shows what is left to show of a run: its text where that has not come yet, its end."""
        if self._open:
            self._close()
        elif result.text:
            say(visible(result.text))
        if result.status != "done":
            tell(visible(f"nocturn: {result.status}: {result.error}"))

    def _write(self, text: str) -> None:
        stream = sys.stdout
        encoding = stream.encoding or "utf-8"
        stream.write(visible(text).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
        self._open = True

    def _line(self, text: str) -> None:
        self._close()
        tell(visible(text, keep=""))

    def _close(self) -> None:
        if self._open:
            say("")
        self._open = False


def converse(agent: Agent, options: RuntimeOptions, shown: Transcript) -> str:
    """Talks until the person leaves, or until what is piped in has ended.

    Args:
        agent: Whom with.
        options: Of each run; its events go to ``shown``.
        shown: Shows them.

    Returns:
        ``done``; where lines are piped in, how the first run ended that did not end so.
    """
    typed = sys.stdin.isatty() and sys.stdout.isatty()
    before: TaskResult | None = None
    for text in _typed() if typed else _piped():
        try:
            result = agent.run(options, text, after=before)
        except KeyboardInterrupt:
            agent.cancel()
            tell("interrupted")
            continue
        shown.end(result)
        if result.messages:
            before = result
        if not typed and result.status != "done":
            return result.status
    return "done"


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
    for line in sys.stdin:
        if text := line.strip():
            yield text


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

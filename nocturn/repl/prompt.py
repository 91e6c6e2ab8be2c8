"""The prompt itself: at a terminal line after line, elsewhere statement after statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.errors import NocturnError
from nocturn.layout import say, tell
from nocturn.repl.commands import Leave, obey
from nocturn.repl.desk import statements
from nocturn.visible import visible

if TYPE_CHECKING:
    from typing import TextIO

    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from nocturn.host.result import RunResult
    from nocturn.repl.desk import Desk

__all__ = ["converse", "read_through"]

_PROMPT: Final = "> "
_GOES_ON: Final = "… "


def converse(desk: Desk) -> None:
    """Reads lines at the terminal until the person leaves."""
    session = _prompt(desk)
    say("nocturn: a session of its own; .help lists the commands, Ctrl-D leaves")
    while True:
        try:
            text = session.prompt(_PROMPT)
        except KeyboardInterrupt:  # the line is dropped, the session is not
            continue
        except EOFError:
            return
        try:
            take(desk, text)
        except Leave:
            return
        except KeyboardInterrupt:
            tell("interrupted")
        except NocturnError as error:
            tell(visible(f"nocturn: {error.message}"))


def read_through(desk: Desk, stream: TextIO) -> RunResult | bool:
    """Runs what a stream has, statement by statement, up to the first that fails.

    Returns:
        The run that failed; else whether the commands among them went well.
    """

    def line() -> str | None:
        text = stream.readline()
        return text.rstrip("\n") if text else None

    for text in statements(line, desk.session):
        try:
            outcome = take(desk, text)
        except Leave:
            break
        if outcome is False or (not isinstance(outcome, bool) and not outcome.ok):
            return outcome
    return True


def take(desk: Desk, text: str) -> RunResult | bool:
    """Runs one statement or one command.

    Returns:
        What the run was; for a command whether it went well.

    Raises:
        Leave: The person wants to go.
    """
    if not text.strip():
        return True
    return obey(desk, text) if text.lstrip().startswith(".") else desk.run(text)


def _prompt(desk: Desk) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.javascript import JavascriptLexer

    from nocturn.repl.completion import NameCompleter, signature
    from nocturn.repl.history import LineHistory

    def hint() -> str:
        before = session.default_buffer.document.text_before_cursor
        return visible(signature(desk, before), keep="")

    session: PromptSession[str] = PromptSession(
        history=LineHistory(desk.workspace),
        completer=NameCompleter(desk),
        complete_while_typing=False,
        lexer=PygmentsLexer(JavascriptLexer),
        multiline=True,
        prompt_continuation=_GOES_ON,
        key_bindings=_keys(desk),
        bottom_toolbar=lambda: hint() or None,
    )
    return session


def _keys(desk: Desk) -> KeyBindings:
    from prompt_toolkit.filters import has_completions
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        """Runs what is there if it is whole; else the statement goes on in the next line."""
        buffer = event.current_buffer
        text = buffer.text
        if text.startswith(".") or not desk.session.unfinished(text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys

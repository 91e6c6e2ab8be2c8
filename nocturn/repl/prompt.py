"""The prompt itself: at a terminal line after line, elsewhere statement after statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.layout import say, tell
from nocturn.limits import Limits
from nocturn.repl.commands import Leave, obey
from nocturn.repl.desk import statements
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

    from prompt_toolkit import PromptSession
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from nocturn.host.result import RunResult
    from nocturn.repl.desk import Desk

__all__ = ["converse", "read_through"]

_PROMPT: Final = "> "
_GOES_ON: Final = "… "
_INDENT: Final = "  "
_LINE_BYTES: Final = 2 * Limits().source_bytes
_READ_BYTES: Final = 65_536


def converse(desk: Desk) -> None:
    """Reads lines at the terminal until the person leaves."""
    prompt = _prompt(desk)
    desk.begin()
    say("nocturn: .help lists the commands, Ctrl-D leaves")
    while True:
        try:
            take(desk, prompt.prompt(_PROMPT))
        except (EOFError, Leave):
            return
        except KeyboardInterrupt:  # the line is dropped, the session is not
            continue
        except NocturnError as error:
            tell(visible(f"nocturn: {error.message}"))


def read_through(desk: Desk, stream: BufferedIOBase) -> RunResult | bool:
    """Runs what a stream has, statement by statement, up to the first that fails.

    Returns:
        The run that failed; else whether the commands among them went well.

    Raises:
        ConfigurationError: It is not UTF-8, or a line of it is too long.
    """
    for text in statements(_batches(stream), desk.ends):
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


def _batches(stream: BufferedIOBase) -> Iterator[list[str]]:
    """Yields the lines of a stream, as many at a time as are there."""
    rest = b""
    while data := stream.read1(_READ_BYTES):
        *whole, rest = (rest + data).split(b"\n")
        yield from _texts(whole)
        if len(rest) > _LINE_BYTES:
            _text(rest)  # which says so, before all of it is here
    yield from _texts([rest] if rest else [])


def _texts(lines: list[bytes]) -> Iterator[list[str]]:
    texts: list[str] = []
    fault: ConfigurationError | None = None
    for line in lines:
        try:
            texts.append(_text(line))
        except ConfigurationError as error:
            fault = error
            break
    yield texts  # what stands before it is run
    if fault is not None:
        raise fault


def _text(line: bytes) -> str:
    if len(line) > _LINE_BYTES:
        raise ConfigurationError(f"a line is over {_LINE_BYTES:,} bytes: give it in parts")
    try:
        return line.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise ConfigurationError("the input is not UTF-8: give it as UTF-8") from None


def _prompt(desk: Desk) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.styles import Style

    from nocturn.repl.completion import NameCompleter, signature
    from nocturn.repl.history import LineHistory
    from nocturn.repl.painting import HiddenShown, colours

    def hint() -> str:
        before = session.default_buffer.document.text_before_cursor
        return visible(signature(desk, before) or desk.about(), keep="")

    session: PromptSession[str] = PromptSession(
        history=LineHistory(desk.workspace),
        completer=NameCompleter(desk),
        complete_while_typing=False,
        lexer=colours(typed=desk.typed),
        input_processors=[HiddenShown()],
        multiline=True,
        prompt_continuation=_GOES_ON,
        key_bindings=_keys(desk),
        bottom_toolbar=hint,
        style=Style.from_dict({"bottom-toolbar": "noreverse", "escaped": "reverse"}),
    )
    return session


def _keys(desk: Desk) -> KeyBindings:
    from prompt_toolkit.application.current import get_app
    from prompt_toolkit.filters import Condition, completion_is_selected
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter", filter=completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        """Takes the completion; the next Enter runs the line."""
        event.current_buffer.complete_state = None

    @keys.add("enter", filter=~completion_is_selected)
    def _(event: KeyPressEvent) -> None:
        """Runs what is there if it is whole; else the statement goes on in the next line."""
        buffer = event.current_buffer
        inside = buffer.document.text_after_cursor.strip() != ""
        if buffer.text.startswith(".") or not (inside or desk.is_unfinished(buffer.text)):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        """Goes on in the next line, whole or not."""
        event.current_buffer.newline()

    def begins_a_row() -> bool:
        return not get_app().current_buffer.document.current_line_before_cursor.strip()

    @keys.add("tab", filter=Condition(begins_a_row))
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(_INDENT)

    return keys

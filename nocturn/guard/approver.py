"""Those who ask a person: a function of the library's user, or the terminal."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, cast

from nocturn.errors import ConfigurationError
from nocturn.guard.asking import seconds_of
from nocturn.guard.ports import NO_ANSWER
from nocturn.limits import ASK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

    from nocturn.guard.ports import Approver
    from nocturn.guard.question import Option, Question
    from nocturn.guard.terminal import Terminal

__all__ = ["CallbackApprover", "TerminalApprover", "approver_of"]


class CallbackApprover:
    """Asks a function.

    Args:
        function: Takes the question and returns the answer; see ``Approver.ask``.
        timeout_seconds: How long the gate waits for it.

    Raises:
        ConfigurationError: It cannot be called, or is async; or the time is not above 0, or longer
            than can be waited.
    """

    def __init__(
        self, function: Callable[[Question], object], timeout_seconds: float = ASK_SECONDS
    ) -> None:
        _require_plain(function)
        self._function = function
        self.timeout_seconds = _checked(timeout_seconds)

    def ask(self, question: Question) -> object:
        """Returns what the function says."""
        return self._function(question)


def approver_of(given: Approver | Callable[[Question], object]) -> Approver:
    """Returns who asks, made of what a caller gave.

    Raises:
        ConfigurationError: It could not be asked: neither a function nor an approver, or async.
    """
    ask = getattr(given, "ask", None)
    if ask is None or isinstance(given, type):
        return CallbackApprover(cast("Callable[[Question], object]", given))
    _require_plain(ask)
    return cast("Approver", given)


class TerminalApprover:
    """Asks at the terminal, whatever stdin and stdout are.

    Args:
        reader: Where answers are read, a stream with a descriptor; None for ``/dev/tty``.
        writer: Where questions are written; None for ``/dev/tty``.
        timeout_seconds: How long a person has to answer; what is spent in a pager or an editor
            does not count.
        wanted: Whether an answer is still wanted: somebody may have answered elsewhere.

    Attributes:
        attended: Whether a person is at work on the question, in a pager or an editor.

    Raises:
        ConfigurationError: The time is not above 0, or longer than can be waited.
    """

    def __init__(
        self,
        reader: TextIO | None = None,
        writer: TextIO | None = None,
        *,
        timeout_seconds: float = ASK_SECONDS,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.timeout_seconds = _checked(timeout_seconds)
        self._wanted = wanted
        self.attended = False

    def ask(self, question: Question) -> object:
        """Shows the question and reads one line. End of file and Ctrl-C are a no.

        Returns:
            An option; an :class:`Edited` text; None for a no; :data:`NO_ANSWER`.

        Raises:
            OSError: There is no terminal.
        """
        from nocturn.guard.terminal import Terminal  # a run that asks nobody need not load it

        if self._reader is not None and self._writer is not None:
            terminal = Terminal(self._reader.fileno(), _number(self._writer))
            return self._put(question, terminal, self._writer)
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            terminal = Terminal(descriptor, descriptor)
            return self._put(question, terminal, _Unbuffered(descriptor))
        finally:
            os.close(descriptor)

    def _put(self, question: Question, terminal: Terminal, writer: _Writer) -> object:
        from nocturn.guard.page import page_of
        from nocturn.guard.question import Edited

        say = page_of(question, terminal.columns, keys=terminal.is_real)
        while True:
            line = self._answer(say, terminal, writer)
            if line is None:
                return NO_ANSWER
            typed = line.decode("utf-8", "replace").strip().lower()
            if typed == "v" and terminal.is_real:
                say = self._view(question, terminal)
            elif typed == "e" and terminal.is_real and question.text is not None:
                text, say = self._edit(question.text, terminal)
                if text is not None:
                    return Edited(text)
            else:
                return _option(typed, question.options)

    def _answer(self, say: str, terminal: Terminal, writer: _Writer) -> bytes | None:
        from nocturn.guard.page import PROMPT

        deadline = time.monotonic() + self.timeout_seconds
        writer.write(say)
        writer.flush()
        with terminal.fresh_line():
            writer.write(PROMPT)
            writer.flush()
            line = terminal.read_line(deadline, self._wanted)
        last_words = f"\nNobody answered in {self.timeout_seconds:g} s: no.\n"
        if line is not None:
            last_words = "" if line.endswith(b"\n") else "\n"
        elif not self._wanted():
            last_words = "\nNo answer is wanted any more.\n"
        with suppress(OSError):  # the terminal was closed, which changes no answer
            writer.write(last_words)
            writer.flush()
        return line

    def _view(self, question: Question, terminal: Terminal) -> str:
        from nocturn.guard.editing import view
        from nocturn.guard.page import page_of

        page = page_of(question, terminal.columns, whole=True)
        with self._attending():
            shown = view(terminal, page)
        short = page_of(question, terminal.columns, keys=True)
        return short if shown else f"{short}(no pager ran: set PAGER to one)\n"

    def _edit(self, text: str, terminal: Terminal) -> tuple[str | None, str]:
        from nocturn.guard.editing import edit

        with self._attending():
            edited, why = edit(terminal, text)
        return edited, f"{why}\n"

    @contextmanager
    def _attending(self) -> Generator[None]:
        self.attended = True
        try:
            yield
        finally:
            self.attended = False


class _Writer(Protocol):
    def write(self, text: str, /) -> object: ...
    def flush(self) -> None: ...


class _Unbuffered:
    """Writes to a descriptor; nothing is left to fail when it is closed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, text: str) -> None:
        left = text.encode("utf-8", "replace")
        while left:
            left = left[os.write(self._descriptor, left) :]

    def flush(self) -> None:
        """Does nothing: there is no buffer."""


def _number(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except OSError:  # a text in memory has none
        return -1


def _option(typed: str, options: tuple[Option, ...]) -> Option | None:
    for number, option in enumerate(options, start=1):
        if typed in (str(number), option.value):
            return option
    return None


def _require_plain(function: object) -> None:
    import inspect

    if not callable(function) or isinstance(function, type):
        msg = (
            f"the approver is {function!r}: give a function from the question to the answer, or "
            "an object that has ask(question)"
        )
        raise ConfigurationError(msg)
    if inspect.iscoroutinefunction(function):
        # Its coroutine would be taken for an answer that was not offered: a no that nobody said.
        msg = "the approver is async, and nobody would await it: give a plain function"
        raise ConfigurationError(msg)


def _checked(seconds: float) -> float:
    checked = seconds_of(seconds)
    if checked is None:
        msg = f"timeout_seconds is {seconds!r}: give a number of seconds above 0"
        raise ConfigurationError(msg)
    return checked

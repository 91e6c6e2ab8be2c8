"""Those who ask a person: a function of the library's user, or the terminal."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol, cast

from nocturn.errors import ConfigurationError
from nocturn.guard.asking import seconds_of
from nocturn.guard.page import PROMPT, page_of
from nocturn.guard.ports import NO_ANSWER
from nocturn.limits import ASK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

    from nocturn.guard.ports import Approver
    from nocturn.guard.question import Option, Question

__all__ = ["CallbackApprover", "TerminalApprover", "approver_of"]

_LINE_BYTES: Final = 4_096
_INTERRUPT: Final = b"\x03"
_COLUMNS: Final = 80


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
        timeout_seconds: How long a person has to answer.

    Raises:
        ConfigurationError: The time is not above 0, or longer than can be waited.
    """

    def __init__(
        self,
        reader: TextIO | None = None,
        writer: TextIO | None = None,
        *,
        timeout_seconds: float = ASK_SECONDS,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.timeout_seconds = _checked(timeout_seconds)

    def ask(self, question: Question) -> object:
        """Shows the question and reads one line. End of file and Ctrl-C are a no.

        Raises:
            OSError: There is no terminal.
        """
        if self._reader is not None and self._writer is not None:
            return self._put(question, self._reader.fileno(), self._writer)
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return self._put(question, descriptor, _Unbuffered(descriptor))
        finally:
            os.close(descriptor)

    def _put(self, question: Question, descriptor: int, writer: _Writer) -> object:
        deadline = time.monotonic() + self.timeout_seconds
        writer.write(page_of(question, _columns(descriptor)))
        writer.flush()
        with _fresh_line(descriptor):
            writer.write(PROMPT)
            writer.flush()
            line = _read_line(descriptor, deadline)
        last_words = f"\nNobody answered in {self.timeout_seconds:g} s: no.\n"
        if line is not None:
            last_words = "" if line.endswith(b"\n") else "\n"
        with suppress(OSError):  # the terminal was closed, which changes no answer
            writer.write(last_words)
            writer.flush()
        return NO_ANSWER if line is None else _option(line, question.options)


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


def _option(line: bytes, options: tuple[Option, ...]) -> Option | None:
    typed = line.decode("utf-8", "replace").strip().lower()
    for number, option in enumerate(options, start=1):
        if typed in (str(number), option.value):
            return option
    return None


def _read_line(descriptor: int, deadline: float) -> bytes | None:
    """Returns what was typed, empty at end of file; None where the time ran out."""
    import select

    line = b""
    while not line.endswith(b"\n") and _INTERRUPT not in line:
        patience = deadline - time.monotonic()
        if patience <= 0 or not select.select([descriptor], [], [], patience)[0]:
            return None
        try:
            typed = os.read(descriptor, _LINE_BYTES)
        except OSError:
            typed = b""  # the terminal was closed
        line += typed
        if not typed or len(line) > _LINE_BYTES:
            return b""
    return line


@contextmanager
def _fresh_line(descriptor: int) -> Generator[None]:
    """Drops what was typed before the question stood there, and makes Ctrl-C a character.

    Type-ahead must not answer. Ctrl-C would be a signal to the main thread, which waits for the
    answer; as an end-of-line character it is an answer, and it is a no.
    """
    if not os.isatty(descriptor):
        yield
        return
    import atexit
    import termios

    saved = termios.tcgetattr(descriptor)
    asking = termios.tcgetattr(descriptor)
    asking[3] = (asking[3] | termios.ICANON | termios.ECHO) & ~termios.ISIG
    asking[6][termios.VEOL] = _INTERRUPT

    def restore() -> None:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, saved)

    # A program that ends meanwhile takes this thread with it, but must leave a sane terminal.
    atexit.register(restore)
    try:
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, asking)
        yield
    finally:
        atexit.unregister(restore)
        with suppress(termios.error):  # the terminal was closed
            restore()


def _columns(descriptor: int) -> int:
    try:
        return os.get_terminal_size(descriptor).columns or _COLUMNS
    except OSError:
        return _COLUMNS


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

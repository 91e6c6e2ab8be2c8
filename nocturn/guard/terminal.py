"""A terminal with a question on it: one line is read, or a program of the person's runs."""

from __future__ import annotations

import os
import select
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

__all__ = ["Terminal"]

_LINE_BYTES: Final = 4_096
_INTERRUPT: Final = b"\x03"
_COLUMNS: Final = 80
_LOOK_SECONDS: Final = 0.5


class Terminal:
    """A descriptor to ask at; it may be a file or a pipe, where there is less to look after.

    Args:
        descriptor: Where answers are read.
        output: Where programs write; below 0 where there is no such place.

    Attributes:
        is_real: Whether a person can work at it.
    """

    def __init__(self, descriptor: int, output: int) -> None:
        self._descriptor = descriptor
        self._output = output
        self.is_real = os.isatty(descriptor) and output >= 0 and os.isatty(output)

    @property
    def columns(self) -> int:
        """How wide it is."""
        try:
            return os.get_terminal_size(self._descriptor).columns or _COLUMNS
        except OSError:
            return _COLUMNS

    def read_line(self, deadline: float, wanted: Callable[[], bool]) -> bytes | None:
        """Returns what was typed, empty at end of file; None where the time ran out.

        Args:
            deadline: When it does, by ``time.monotonic``.
            wanted: Whether a line is still wanted; looked at while nothing is typed.
        """
        line = b""
        while not line.endswith(b"\n") and _INTERRUPT not in line:
            patience = deadline - time.monotonic()
            if patience <= 0 or not wanted():
                return None
            if not select.select([self._descriptor], [], [], min(patience, _LOOK_SECONDS))[0]:
                continue
            try:
                typed = os.read(self._descriptor, _LINE_BYTES)
            except OSError:
                typed = b""  # the terminal was closed
            line += typed
            if not typed or len(line) > _LINE_BYTES:
                return b""
        return line

    @contextmanager
    def fresh_line(self) -> Generator[None]:
        """Drops what was typed before the question stood there, and makes Ctrl-C a character.

        Type-ahead must not answer. Ctrl-C would be a signal to the main thread, which waits for the
        answer; as an end-of-line character it is an answer, and it is a no.
        """
        with self._without_signals(by_line=True):
            yield

    def run(self, command: Sequence[str], text: bytes | None, **environment: str) -> bool:
        """Runs a program at the terminal until it ends.

        Args:
            command: The program and its arguments; no shell reads it.
            text: Its standard input; None for the terminal.
            **environment: Variables beside ours; an empty one is taken away.

        Returns:
            Whether it ran and said that all is well.
        """
        import subprocess

        variables = {**os.environ, **environment}
        variables = {name: value for name, value in variables.items() if value}
        # Ctrl-C is the program's, not the run's: a signal would reach both.
        with self._without_signals(by_line=False):
            try:
                program = subprocess.Popen(  # noqa: S603 - the person's own, from their environment
                    list(command),
                    stdin=self._descriptor if text is None else subprocess.PIPE,
                    stdout=self._output,
                    stderr=self._output,
                    env=variables,
                )
            except (OSError, ValueError):
                return False
            with _ended_with_us(program), suppress(BrokenPipeError):
                program.communicate(text)
            return program.wait() == 0

    @contextmanager
    def _without_signals(self, *, by_line: bool) -> Generator[None]:
        if not os.isatty(self._descriptor):
            yield
            return
        import atexit
        import termios

        saved = termios.tcgetattr(self._descriptor)
        asking = termios.tcgetattr(self._descriptor)
        asking[3] &= ~termios.ISIG
        if by_line:
            asking[3] |= termios.ICANON | termios.ECHO
            asking[6][termios.VEOL] = _INTERRUPT

        def restore() -> None:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, saved)

        # A program that ends meanwhile takes this thread with it, but must leave a sane terminal.
        atexit.register(restore)
        try:
            termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, asking)
            yield
        finally:
            atexit.unregister(restore)
            with suppress(termios.error):  # the terminal was closed
                restore()


@contextmanager
def _ended_with_us(program: Any) -> Generator[None]:
    """Ends a program that is still there when this process ends: nobody would hear its outcome."""
    import atexit

    atexit.register(program.terminate)
    try:
        yield
    finally:
        atexit.unregister(program.terminate)

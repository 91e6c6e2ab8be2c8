"""What a person types: a value that must not be an argument, and a yes.

An argument is seen by other programs and kept by the shell; a yes is typed after the question.
"""

from __future__ import annotations

import sys
from typing import Final

from nocturn.errors import ConfigurationError

__all__ = ["LARGEST_BYTES", "agreed", "text_of", "typed"]

LARGEST_BYTES: Final = 1_048_576
_TERMINAL_LINE: Final = 4_095
"""Where Linux cuts a line that is typed or pasted at a terminal, without a word."""


def typed(prompt: str, again: str | None = None) -> str:
    """Returns what is typed at a prompt that shows nothing, or stdin without its last line end.

    Args:
        prompt: What the prompt says.
        again: What a second prompt says, where it is to be typed twice.

    Raises:
        ConfigurationError: It cannot be hidden, was cut, or is not the same twice.
    """
    if not sys.stdin.isatty():
        data = sys.stdin.buffer.read(LARGEST_BYTES + 1)
        return _without_line_end(text_of(data, "what stdin gives"))
    import getpass
    import warnings

    with warnings.catch_warnings():
        # It would go on with what is typed in plain sight.
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            first = getpass.getpass(prompt)
            repeated = getpass.getpass(again) if again else first
        except getpass.GetPassWarning:
            raise ConfigurationError(
                "this terminal cannot hide what is typed: give it on stdin"
            ) from None
        except EOFError:
            raise ConfigurationError("nothing was typed: nothing was changed") from None
    if len(first.encode("utf-8", "surrogateescape")) >= _TERMINAL_LINE:
        raise ConfigurationError("a terminal cuts so long a line: give it on stdin")
    if first != repeated:
        raise ConfigurationError("the two are not the same: nothing was changed")
    return first


def agreed(question: str, otherwise: str) -> bool:
    """Asks at the terminal; what was typed before the question stood there is no answer.

    Args:
        question: What is asked.
        otherwise: What to do where nobody is at a terminal.

    Raises:
        ConfigurationError: Nobody is.
    """
    if not sys.stdin.isatty():
        raise ConfigurationError(f"nobody is at a terminal to agree: {otherwise}")
    if sys.platform != "win32":
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def text_of(data: bytes, what: str) -> str:
    """Returns the text of a file or of stdin.

    Raises:
        ConfigurationError: It is too large, or is not UTF-8; the message has nothing of it.
    """
    if len(data) > LARGEST_BYTES:
        raise ConfigurationError(f"{what} is over {LARGEST_BYTES:,} bytes: give less")
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass
    # Raised out here: the decoder's error would carry the value along.
    raise ConfigurationError(f"{what} is not UTF-8: save it as UTF-8")


def _without_line_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text

"""Where in the user's script an error happened, out of what the engine says."""

from __future__ import annotations

import re
from typing import Any, Final

from nocturn.errors import CODES
from nocturn.host.result import RunError
from nocturn.limits import ERROR_TEXT_CHARACTERS

__all__ = ["locate"]

USER_LINE: Final = 1_000
"""Lines that the prelude puts before the source, to tell the guest's from its own in a stack."""
_FRAME: Final = re.compile(  # what the engine says of one frame; no number over nine digits
    r"^\s*at (?:(?P<name>.*) \()?<input>:(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
)


def locate(told: dict[str, Any] | None, source: str, filename: str) -> RunError:
    """Makes the result's error of a worker's.

    Args:
        told: What the worker sent: hostile, each field of any type; None where it sent nothing.
        source: The script.
        filename: Its name for people.
    """
    said = told or {}
    frames = _frames(_text(said.get("stack")), len(source.splitlines()) + 1)
    line, column = frames[0][1:] if frames else (None, None)
    code = said.get("code")
    return RunError(
        code=code if isinstance(code, str) and code in CODES else None,
        name=_text(said.get("name")) or "Error",
        message=_text(said.get("message")),
        file=filename if line else None,
        line=line,
        column=column,
        source_line=_line(source, line) if line else None,
        stack="\n".join(
            f"at {name} ({filename}:{at}:{col})" if name else f"at {filename}:{at}:{col}"
            for name, at, col in frames
        ),
        detail=said["detail"] if isinstance(said.get("detail"), dict) else {},
    )


def _frames(stack: str, last_line: int) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for text in stack.split("\n"):
        match = _FRAME.match(text)
        if match is None:
            continue
        line = int(match["line"]) - USER_LINE
        if 1 <= line <= last_line:
            name = match["name"] or ""
            found.append(("" if name == "<eval>" else name, line, int(match["column"])))
    return found


def _line(source: str, number: int) -> str:
    lines = re.split("\r\n|[\n\r\u2028\u2029]", source)
    return lines[number - 1][:ERROR_TEXT_CHARACTERS] if number <= len(lines) else ""


def _text(value: Any) -> str:
    return value[:ERROR_TEXT_CHARACTERS] if isinstance(value, str) else ""

"""Where in the user's sources an error happened, out of what the engine says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import CODES
from nocturn.host.result import RunError
from nocturn.limits import ERROR_TEXT_CHARACTERS

if TYPE_CHECKING:
    from nocturn.host.program import Program

__all__ = ["Locator"]

MOST_ERRORS: Final = 16
"""Errors in one: itself, its causes and what it is an aggregate of."""
_UNNAMED: Final = "<input>"
"""What the engine calls a source that has no name: the prelude's, and the guest's ``eval``."""


class Locator:
    """Makes errors for people out of what a worker says of them, which is hostile.

    Args:
        program: What the worker was given.
        lead: Lines that it put before the script, having no name to give it; 0 where it had one.
    """

    def __init__(self, program: Program, lead: int) -> None:
        self._program = program
        self._lead = lead
        names = [_UNNAMED] if lead else [program.name, *program.files, *program.modules]
        files = "|".join(re.escape(each) for each in names)
        # What the engine says of one frame; no number over nine digits.
        place = rf"(?P<file>{files}):(?P<line>\d{{1,9}}):(?P<column>\d{{1,9}})"
        self._frame = re.compile(rf"^\s*at (?:(?P<name>.*) \()?{place}\)?$")
        self._left = MOST_ERRORS

    def locate(self, told: object) -> RunError:
        """Makes an error.

        Args:
            told: What the worker sent: hostile, of any type.
        """
        self._left = MOST_ERRORS
        return self._error(_dict(told))

    def _error(self, said: dict[str, Any]) -> RunError:
        self._left -= 1
        frames = self._frames(_text(said.get("stack")))
        _, file, line, column, text = frames[0] if frames else ("", None, None, None, "")
        code, cause, errors = said.get("code"), said.get("cause"), said.get("errors")
        parts: list[Any] = errors if isinstance(errors, list) else []  # pyright: ignore[reportUnknownVariableType] - of anything
        return RunError(
            code=code if isinstance(code, str) and code in CODES else None,
            name=_text(said.get("name")) or "Error",
            message=_text(said.get("message")),
            file=file,
            line=line,
            column=column,
            source_line=_line(text, line) if line else None,
            stack="\n".join(
                f"at {name} ({at}:{row}:{col})" if name else f"at {at}:{row}:{col}"
                for name, at, row, col, _ in frames
            ),
            detail=_dict(said.get("detail")),
            cause=self._error(_dict(cause)) if cause is not None and self._left > 0 else None,
            errors=tuple(self._error(_dict(each)) for each in parts if self._left > 0),
        )

    def _frames(self, stack: str) -> list[tuple[str, str, int, int, str]]:
        """Returns each frame in the user's sources: function, file, line, column, source."""
        found: list[tuple[str, str, int, int, str]] = []
        for each in stack.split("\n"):
            match = self._frame.match(each)
            if match is None:
                continue
            name, line = match["name"] or "", int(match["line"]) - self._lead
            known = self._program.source_of(self._program.name if self._lead else match["file"])
            if known is not None and 1 <= line <= len(known[0].splitlines()) + 1:
                name = "" if name in ("<eval>", "<anonymous>") else name
                found.append((name, known[1], line, int(match["column"]), known[0]))
        return found


def _line(source: str, number: int) -> str:
    lines = re.split("\r\n|[\n\r\u2028\u2029]", source)
    return lines[number - 1][:ERROR_TEXT_CHARACTERS] if number <= len(lines) else ""


def _text(value: Any) -> str:
    return value[:ERROR_TEXT_CHARACTERS] if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - of anything

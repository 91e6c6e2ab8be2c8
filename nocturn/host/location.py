"""Where in the user's sources an error happened, out of what the engine says."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nocturn.errors import CODES
from nocturn.host.result import RunError
from nocturn.limits import ERROR_TEXT_CHARACTERS

if TYPE_CHECKING:
    from nocturn.host.program import Program

__all__ = ["Locator", "place_of"]

_Frame: TypeAlias = tuple[str, str, int, int, str]
"""A function, its file for people, line, column, and the file's text."""

MOST_ERRORS: Final = 16
"""Errors in one: itself, its causes and what it is an aggregate of."""
_IMPORT: Final = re.compile(r"""\b(?:from|import)\s*+(?:\(\s*+)?(["'])([^"'\\\n]{1,1024})\1""")
_LINE_END: Final = re.compile("\r\n|[\n\r]")
"""What editors and the engine take for one; in a string it does not count U+2028, as editors do."""
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
        if not frames and isinstance(module := said.get("module"), str):
            frames = self._imports(module)
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

    def _imports(self, module: str) -> list[_Frame]:
        """Returns where a module is imported, which the engine does not say."""
        texts = {self._program.name: self._program.text, **self._program.files}
        for name, text in texts.items():
            for found in _IMPORT.finditer(text):
                given = found[2]
                if given.startswith("."):
                    given = posixpath.normpath(posixpath.join(posixpath.dirname(name), given))
                known = self._program.source_of(name)
                if given == module and known is not None:
                    before = text[: found.start(1)]
                    line = len(_LINE_END.findall(before)) + 1
                    start = len(_LINE_END.split(before)[-1].encode("utf-8", "surrogatepass")) + 1
                    return [("", known[1], line, _column(_line(text, line), start), text)]
        return []

    def _frames(self, stack: str) -> list[_Frame]:
        """Returns each frame in the user's sources: function, file, line, column, source."""
        found: list[_Frame] = []
        for each in stack.split("\n"):
            match = self._frame.match(each)
            if match is None:
                continue
            name, line = match["name"] or "", int(match["line"]) - self._lead
            known = self._program.source_of(self._program.name if self._lead else match["file"])
            if known is not None and 1 <= line <= len(known[0].splitlines()) + 1:
                name = "" if name in ("<eval>", "<anonymous>") else name
                column = _column(_line(known[0], line), int(match["column"]))
                found.append((name, known[1], line, column, known[0]))
        return found


def place_of(source: str, at: int) -> tuple[int, int, str]:
    """Returns the line and column, each from 1, and the text of the line that a position is in.

    Args:
        source: The script.
        at: The position, in UTF-16 units.
    """
    before = source.encode("utf-16-le", "surrogatepass")[: 2 * at]
    lines = _LINE_END.split(before.decode("utf-16-le", "surrogatepass"))
    units = lines[-1].encode("utf-16-le", "surrogatepass")
    return len(lines), len(units) // 2 + 1, _line(source, len(lines))


def _line(source: str, number: int) -> str:
    lines = _LINE_END.split(source)
    return lines[number - 1][:ERROR_TEXT_CHARACTERS] if number <= len(lines) else ""


def _column(line: str, byte: int) -> int:
    """Returns the column in UTF-16 units, of one that the engine has counted in UTF-8 bytes."""
    if line.isascii():
        return byte
    before = line.encode("utf-8", "surrogatepass")[: byte - 1]
    # A character begins with a byte that continues none; one of four bytes is two units.
    return 1 + sum((each & 0xC0 != 0x80) + (each >= 0xF0) for each in before)  # noqa: PLR2004 - UTF-8's bits


def _text(value: Any) -> str:
    return value[:ERROR_TEXT_CHARACTERS] if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] - of anything

"""How things look on a terminal; a guest's or a note's words only through `visible`."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.host.result import CallRecord, ConsoleLine, RunError

__all__ = [
    "RUN_CHARACTERS",
    "call_line",
    "changed_lines",
    "console_line",
    "diff_lines",
    "discard",
    "error_lines",
    "local_time",
    "say",
    "table",
    "tell",
    "value_text",
]


RUN_CHARACTERS: Final = 8
"""Of a run's id: enough to name it by."""
_SHOWN: Final = 100
"""How many characters of a source line are shown."""
_FRAMES: Final = 20


def say(text: str) -> None:
    """Prints a line to stdout: what was asked for."""
    _print(text, sys.stdout)


def tell(text: str) -> None:
    """Prints a line to stderr: what the person should know; nobody may be there to read it."""
    try:
        _print(text, sys.stderr)
    except OSError:
        discard(sys.stderr)


def discard(stream: Any) -> None:
    """Lets a stream lead nowhere from here on.

    What is still in its buffer would fail again when Python ends, with a status of Python's.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def changed_lines(done: dict[str, Any]) -> str:
    """Returns what was taken back: a line for each note."""
    lines = [f"{path}: as it was" for path in done["written"]]
    lines += [f"{path}: in the trash" for path in done["removed"]]
    lines += [f"{moved}: moved" for moved in done["moved"]]
    return visible("\n".join(lines)) or "nothing to do"


def console_line(line: ConsoleLine) -> str:
    """Returns what the script printed, safe for a terminal."""
    return visible(line.text)


def call_line(call: CallRecord) -> str:
    """Returns one line of the transcript: tool, target, ruling or code, bytes, milliseconds."""
    targets = ", ".join(f"{each['verb']} {each['target']}" for each in call.effects)
    outcome = call.ruling or "refused"
    if call.code:
        outcome = f"{call.code} ({outcome})" if call.ruling else call.code
    parts = ("·", call.tool, targets, outcome, f"{call.bytes} B", f"{call.ms:.1f} ms")
    return visible(" ".join(part for part in parts if part), keep="")


def diff_lines(diff: str) -> str:
    """Returns what a dry run would have written, safe for a terminal, under words of ours."""
    if not diff:
        return "nocturn: nothing was written, and nothing would have been changed"
    return f"nocturn: nothing was written; this would have been:\n{visible(diff).rstrip()}"


def error_lines(error: RunError) -> str:
    """Returns an error with its place, the source line and a caret under it, and its causes."""
    lines = _one_error(error)
    frames = error.stack.splitlines()
    if len(frames) > 1:
        lines += [f"    {frame}" for frame in frames[:_FRAMES]]
    for each in error.errors:
        lines += [
            f"  - {line}" if at == 0 else f"    {line}" for at, line in enumerate(_one_error(each))
        ]
    cause = error.cause
    while cause is not None:
        first, *more = _one_error(cause)
        lines += [f"  caused by {first}", *(f"  {line}" for line in more)]
        cause = cause.cause
    return "\n".join(visible(line) for line in lines)


def _one_error(error: RunError) -> list[str]:
    name = f"{error.name} {error.code}" if error.code else error.name
    if error.line is None or error.column is None:
        return [f"{name}: {error.message}"]
    lines = [f"{error.file}:{error.line}:{error.column} {name}: {error.message}"]
    source = (error.source_line or "").replace("\t", " ")
    if source.strip():
        units = source.encode("utf-16-le", "surrogatepass")
        column = len(units[: 2 * (error.column - 1)].decode("utf-16-le", "surrogatepass"))
        # A long line is shown around the place, so that the caret has something to point at.
        start = max(0, column - 59) if len(source) > _SHOWN else 0
        number = str(error.line)
        before = visible(source[start:column], keep="")
        lines += [
            f"  {number} | {before}{visible(source[column : start + _SHOWN], keep='')}",
            f"  {' ' * len(number)} | {' ' * len(before)}^",
        ]
    return lines


def value_text(value: Any) -> str | None:
    """Returns a completion value for a person; None where there is nothing to show."""
    if value is None or isinstance(value, str):
        return None if value is None else visible(value)
    return visible(json.dumps(value, ensure_ascii=False))


def local_time(at: str) -> str:
    """Returns a moment in ISO 8601 as a clock on the wall shows it."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):  # not a line of ours
        return at


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Returns rows with their columns lined up; the last column is as long as it is."""
    shown = [tuple(visible(cell, keep="") for cell in row) for row in rows]
    if not shown:
        return ""
    widths = [max(len(row[at]) for row in shown) for at in range(len(shown[0]) - 1)]
    return "\n".join(
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in shown
    )


def _print(text: str, stream: Any) -> None:
    # A terminal or file in another encoding shows an escape, never a traceback.
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, flush=True)

"""How a question looks on a terminal.

The guest's words stand behind a bar, on every line of the screen that they take, so they cannot
imitate the question or its answers. What hides or moves text is shown as an escape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nocturn.guard.question import Question

__all__ = ["PROMPT", "page_of"]

PROMPT: Final = "Answer [n]: "

_BAR: Final = "│ "
_HEAD_LINES: Final = 40
_TAIL_LINES: Final = 20
_HEAD_CHARACTERS: Final = 400
_TAIL_CHARACTERS: Final = 200
_OURS_CHARACTERS: Final = 200
_DIFF_LINES: Final = 2_000
"""Above it, both texts together, a diff of hostile lines takes longer than a person waits."""


def page_of(question: Question, columns: int) -> str:
    """Returns the whole page, up to the prompt.

    Args:
        question: What is asked.
        columns: The terminal's width.
    """
    return "\n".join([*_lines(question, max(columns, 20)), ""])


def _lines(question: Question, columns: int) -> Iterator[str]:
    agent = _ours(question.agent) + ("" if question.named else " (no name)")
    yield ""
    yield f"{_ours(question.script)} asks, as {agent}, mode {question.mode.value}"
    yield f"run {_ours(question.run)}, tool {_ours(question.tool)}"
    for effect in question.effects:
        yield f"{_ours(effect.kind)} {_ours(effect.verb)}:"
        yield from _quoted([visible(effect.target, keep="")], columns)
    yield from _change(question, columns)
    yield ""
    for number, option in enumerate(question.options, start=1):
        yield _clipped(f"[{number}] {visible(option.label, keep='')}", columns)
    yield "[n] no"


def _change(question: Question, columns: int) -> Iterator[str]:
    before, after = question.preview.before, question.preview.after
    size = f"{question.size_bytes:,} bytes"
    if after is None:
        if before is not None:
            yield "what is there now:"
            yield from _quoted(_shown_lines(before), columns)
        return
    new = _shown_lines(after)
    if before is None:
        yield f"the whole text, {size}:"
        yield from _quoted(new, columns)
        return
    old = _shown_lines(before)
    if before == after:
        yield f"the text that is there already, {size}:"
        yield from _quoted(new, columns)
        return
    if len(old) + len(new) <= _DIFF_LINES and old != new:
        yield f"changes the text that is there, to {size}:"
        yield from _quoted(_difference(old, new), columns)
        return
    yield f"replaces the {len(old):,} lines that are there with this text, {size}:"
    yield from _quoted(new, columns)


def _difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    import difflib

    # The first two lines name the files, which the page has done.
    return list(difflib.unified_diff(old, new, lineterm=""))[2:]


def _shown_lines(text: str) -> list[str]:
    return visible(text).expandtabs(4).split("\n")


def _quoted(lines: Sequence[str], columns: int) -> Iterator[str]:
    """Yields the lines behind the bar; what is left out is said in front of it."""
    left_out = len(lines) - _HEAD_LINES - _TAIL_LINES
    if left_out <= 0:
        yield from (row for line in lines for row in _rows(line, columns))
        return
    yield from (row for line in lines[:_HEAD_LINES] for row in _rows(line, columns))
    yield f"… {left_out:,} lines left out …"
    yield from (row for line in lines[-_TAIL_LINES:] for row in _rows(line, columns))


def _rows(line: str, columns: int) -> Iterator[str]:
    left_out = len(line) - _HEAD_CHARACTERS - _TAIL_CHARACTERS
    if left_out <= 0:
        yield from _folded(line, columns)
        return
    yield from _folded(line[:_HEAD_CHARACTERS], columns)
    yield f"… {left_out:,} characters of this line left out …"
    yield from _folded(line[-_TAIL_CHARACTERS:], columns)


def _folded(line: str, columns: int) -> Iterator[str]:
    # The terminal must not fold a line itself: the rest would stand without its bar.
    row, used = "", len(_BAR)
    for character in line:
        cells = 1 if character.isascii() else 2
        if used + cells > columns:
            yield _BAR + row
            row, used = "", len(_BAR)
        row += character
        used += cells
    yield _BAR + row


def _ours(text: str) -> str:
    return _clipped(visible(text, keep=""), _OURS_CHARACTERS)


def _clipped(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"

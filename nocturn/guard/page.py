"""How a question looks on a terminal.

The guest's words stand behind a bar, on every line of the screen that they take, so they cannot
imitate the question or its answers. What hides or moves text is shown as an escape.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from nocturn.visible import folded, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nocturn.guard.question import Question

__all__ = ["PROMPT", "page_of"]

PROMPT: Final = "Answer [n]: "

_HEAD_LINES: Final = 40
_TAIL_LINES: Final = 20
_HEAD_CHARACTERS: Final = 400
_TAIL_CHARACTERS: Final = 200
_OURS_CHARACTERS: Final = 200


def page_of(question: Question, columns: int, *, whole: bool = False, keys: bool = False) -> str:
    """Returns the whole page, up to the prompt.

    Args:
        question: What is asked.
        columns: The terminal's width.
        whole: Whether nothing of a long text is left out.
        keys: Whether the person can also ask for the whole text, and edit it.
    """
    page = _Page(max(columns, 20), whole=whole)
    return "\n".join([*page.lines(question, keys=keys), ""])


class _Page:
    """Lays one question out.

    Args:
        columns: The terminal's width.
        whole: Whether nothing of a long text is left out.
    """

    def __init__(self, columns: int, *, whole: bool) -> None:
        self._columns = columns
        self._whole = whole

    def lines(self, question: Question, *, keys: bool) -> Iterator[str]:
        agent = _ours(question.agent) + ("" if question.named else " (no name)")
        yield ""
        yield f"{_ours(question.script)} asks, as {agent}, mode {question.mode.value}"
        yield f"run {_ours(question.run)}, tool {_ours(question.tool)}"
        for (kind, verb), alike in groupby(question.effects, lambda each: (each.kind, each.verb)):
            yield f"{_ours(kind)} {_ours(verb)}:"
            yield from self._quoted([visible(each.target, keep="") for each in alike])
        yield from self._change(question)
        yield from self._remarks(question)
        yield ""
        if question.dry:
            yield "This is a dry run: a yes writes nothing."
        for number, option in enumerate(question.options, start=1):
            yield self._clipped(f"[{number}] {visible(option.label, keep='')}")
        if keys:
            yield self._clipped("[v] view all of it in a pager")
            if question.text is not None:
                yield self._clipped("[e] edit the text; you are asked again")
        yield "[n] no"

    def _change(self, question: Question) -> Iterator[str]:
        before, after = question.preview.before, question.preview.after
        size = f"{question.size_bytes:,} bytes"
        if after is None:
            if before is not None:
                yield "takes this away:"
                yield from self._quoted(_shown_lines(before))
        elif before is None:
            yield f"a new text, {size}:"
            yield from self._quoted(_shown_lines(after))
        elif before == after:
            yield f"the text that is there already, {size}:"
            yield from self._quoted(_shown_lines(after))
        elif visible(before) == visible(after):
            yield f"replaces the text that is there, which looks the same, by {size}:"
            yield from self._quoted(_shown_lines(after))
        else:
            yield f"changes the text that is there, to {size}:"
            yield from self._quoted(_shown_lines("\n".join(question.diff())))

    def _remarks(self, question: Question) -> Iterator[str]:
        for remark in question.remarks:
            yield from folded(
                f"{visible(remark.place, keep='')}: {visible(remark.text, keep='')}",
                self._columns,
                "! ",
            )

    def _quoted(self, lines: Sequence[str]) -> Iterator[str]:
        """Yields the lines behind the bar; what is left out is said in front of it."""
        left_out = len(lines) - _HEAD_LINES - _TAIL_LINES
        if left_out <= 0 or self._whole:
            yield from (row for line in lines for row in self._rows(line))
            return
        yield from (row for line in lines[:_HEAD_LINES] for row in self._rows(line))
        yield f"… {left_out:,} lines left out …"
        yield from (row for line in lines[-_TAIL_LINES:] for row in self._rows(line))

    def _rows(self, line: str) -> Iterator[str]:
        left_out = len(line) - _HEAD_CHARACTERS - _TAIL_CHARACTERS
        if left_out <= 0 or self._whole:
            yield from folded(line, self._columns)
            return
        yield from folded(line[:_HEAD_CHARACTERS], self._columns)
        yield f"… {left_out:,} characters of this line left out …"
        yield from folded(line[-_TAIL_CHARACTERS:], self._columns)

    def _clipped(self, text: str) -> str:
        return _clipped(text, self._columns)


def _shown_lines(text: str) -> list[str]:
    return visible(text).expandtabs(4).split("\n")


def _ours(text: str) -> str:
    return _clipped(visible(text, keep=""), _OURS_CHARACTERS)


def _clipped(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"

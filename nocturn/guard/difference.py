"""What a change changes, as a unified diff, in a time that no text can stretch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["diff_lines", "diff_text"]

_COMPARED_LINES: Final = 2_000
"""Above it, both texts together, comparing hostile lines takes longer than a person waits."""
_AROUND: Final = 3
_UNFINISHED: Final = "\\ No newline at end of file"


def diff_text(name: str, before: str | None, after: str | None) -> str:
    """Returns a whole unified diff, as ``patch`` reads it; empty where nothing changes.

    Args:
        name: The file's name.
        before: The text that is there; None where there is no file.
        after: The text that would be; None where the file goes.
    """
    hunks = diff_lines(before, after)
    if not hunks and (before is None) == (after is None):
        return ""
    old = "/dev/null" if before is None else f"a/{name}"
    new = "/dev/null" if after is None else f"b/{name}"
    return "\n".join([f"--- {old}", f"+++ {new}", *hunks, ""])


def diff_lines(before: str | None, after: str | None) -> list[str]:
    """Returns the hunks of a unified diff, a row each, without line ends.

    Beyond 2,000 lines that differ it is one hunk, in which all of them are replaced.

    Args:
        before: The text that is there; None where there is none.
        after: The text that would be; None for none.
    """
    old, new = _lines(before or ""), _lines(after or "")
    return [row for hunk in _hunks(old, new) for row in hunk]


def _lines(text: str) -> list[str]:
    """Splits at line feeds alone: what else is a line break to Python is text to a note."""
    lines = text.split("\n")
    if lines[-1]:
        # Its own row, so that a missing line end is a difference like any other.
        return [*lines[:-1], f"{lines[-1]}\n{_UNFINISHED}"]
    return lines[:-1]


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[str]]:
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    middle = len(old) + len(new) - 2 * (head + tail)
    if not middle:
        return
    # Around what is the same at both ends, the comparison needs no more than its context.
    start, end = max(0, head - _AROUND), max(0, tail - _AROUND)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if middle > _COMPARED_LINES:
        yield _replaced(old, new, start, head - start, tail - end)
        return
    import difflib

    for row_group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_AROUND):
        yield _hunk(old, new, start, row_group)


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _replaced(
    old: Sequence[str], new: Sequence[str], start: int, before: int, behind: int
) -> list[str]:
    old_end, new_end = len(old) - behind, len(new) - behind
    return _hunk(
        old,
        new,
        start,
        [
            ("equal", 0, before, 0, before),
            ("replace", before, old_end, before, new_end),
            ("equal", old_end, len(old), new_end, len(new)),
        ],
    )


def _hunk(
    old: Sequence[str],
    new: Sequence[str],
    start: int,
    steps: Sequence[tuple[str, int, int, int, int]],
) -> list[str]:
    first, last = steps[0], steps[-1]
    was = _range(start + first[1], last[2] - first[1])
    becomes = _range(start + first[3], last[4] - first[3])
    rows = [f"@@ -{was} +{becomes} @@"]
    for step, old_from, old_to, new_from, new_to in steps:
        if step == "equal":
            rows += _marked(" ", old[old_from:old_to])
        else:
            rows += _marked("-", old[old_from:old_to])
            rows += _marked("+", new[new_from:new_to])
    return rows


def _range(start: int, length: int) -> str:
    """A hunk's range as patch counts: from 1, and an empty one stands behind the line before."""
    if length == 1:
        return str(start + 1)
    return f"{start + (1 if length else 0)},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from f"{mark}{line}".split("\n")

"""Changes of notes, each with its history, its lock and its journal, against the bare files."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING

from measure import Row, measure
from yardsticks import files

from nocturn import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sections.figure import Rounds

__all__ = ["history"]


def history(folder: Path, rounds: Rounds) -> Iterator[Row]:
    """Yields what changes and reads cost, beside the files alone.

    Args:
        folder: Where other sections have their notes; these have a folder beside it.
        rounds: How often each is timed.
    """
    with Workspace(folder.with_name("changed")) as ws:
        for size, words in ((500, "500 bytes"), (60_000, "60 KB")):
            yield from _sized(ws, size, words, max(3, rounds.runs // 5))


def _sized(ws: Workspace, size: int, words: str, rounds: int) -> Iterator[Row]:
    root = ws.path / "memory"
    # Made before they are timed, and each but once: what the history has, it need not keep again.
    lines = (f"{number} is one of many.\n" for number in count())
    texts = iter(["".join(islice(lines, size // 25)) for _ in range(3 * rounds + 20)])

    for name in ("written", "amended", "edited"):
        ws.memory.write(f"{name}.md", "a summary", f"first\n{next(texts)}")
    ws.memory.write(f"here-{size}.md", "a summary", next(texts))
    (root / "bare.txt").write_text(next(texts), encoding="utf-8")
    edits, names = count(), [f"here-{size}.md", f"there-{size}.md"]

    def edit() -> None:
        number = next(edits)
        old = f"<{number - 1}>" if number else "first\n"  # which the text begins with
        ws.memory.edit("edited.md", old, f"<{number}>")

    def move() -> None:
        ws.memory.move(*names)
        names.reverse()

    least, *changes, bare, read = measure(
        {
            f"write + fsync + rename + fsync, {words}": lambda: files.replace_durably(
                root, "bare.txt", next(texts).encode()
            ),
            f"write, {words}": lambda: ws.memory.write("written.md", "a summary", next(texts)),
            f"append to {words}": lambda: ws.memory.append("amended.md", "one more line\n"),
            f"edit of {words}": edit,
            f"move of {words}": move,
            f"open + read, {words}": (root / "written.md").read_bytes,
            f"read, {words}": lambda: ws.memory.read("written.md"),
        },
        rounds=rounds,
    ).values()
    yield Row(least)
    yield from (Row(change, least) for change in changes)
    yield from (Row(bare), Row(read, bare))

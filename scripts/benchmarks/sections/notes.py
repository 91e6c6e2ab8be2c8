"""Many notes: the catalog and the search after one of them was edited, against plain looks."""

from __future__ import annotations

import itertools
import random
import time
from typing import TYPE_CHECKING, Final

from measure import Row, measure
from yardsticks import files

from nocturn import Workspace
from nocturn.limits import CATALOG_READ_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sections.figure import Rounds

__all__ = ["catalog", "search"]

_FOLDERS: Final = 100
_WORDS: Final = 120
_VOCABULARY: Final = 5_000
_SETTLED_SECONDS: Final = 10.5
"""A file that was changed less than 10 s ago is read each time."""
_RARE: Final = "xylophone"


def catalog(folder: Path, rounds: Rounds) -> Iterator[Row]:
    """Yields the catalog of many notes, against a walk that reads the head of each."""
    root = _notes(folder, rounds)
    with Workspace(folder) as ws:
        made = {
            f"walk + read {rounds.notes:,} heads": lambda: files.read_heads(
                root, CATALOG_READ_BYTES
            ),
            f"catalog of {rounds.notes:,} notes, one edited": _edited(root, ws.memory.catalog),
        }
        least, ours = measure(made, rounds=_looks(rounds), warm_ups=1).values()
    yield from (Row(least), Row(ours, least))


def search(folder: Path, rounds: Rounds) -> Iterator[Row]:
    """Yields the search of a rare and of a common word, against ``grep -r``."""
    root = _notes(folder, rounds)
    with Workspace(folder) as ws:
        ws.memory.write("kept.md", "so that there is an index on the disk", _RARE)
        made = {
            f"grep -r in {rounds.notes:,} notes": lambda: files.grep(root, _RARE),
            "search of a rare word, one note edited": _edited(
                root, lambda: ws.memory.search(_RARE)
            ),
            "search of a word that all notes have": lambda: ws.memory.search("body"),
        }
        least, *ours = measure(made, rounds=_looks(rounds), warm_ups=1).values()
    yield from (Row(least), *(Row(each, least) for each in ours))


def _notes(folder: Path, rounds: Rounds) -> Path:
    """Makes the notes, where they are not there yet, and waits until their stamps are believed."""
    root = folder / "memory"
    if root.exists():
        return root
    chance = random.Random(6)  # noqa: S311 - words, not keys
    words = ["".join(chance.choices("abcdefghijklmno", k=7)) for _ in range(_VOCABULARY)]
    for number in range(rounds.notes):
        note = root / f"topic-{number % _FOLDERS}" / f"note-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        body = " ".join(chance.choices(words, k=_WORDS))
        note.write_text(f"---\ndescription: note {number}\n---\nbody {body}\n", encoding="utf-8")
    if rounds.notes > _FOLDERS:
        time.sleep(_SETTLED_SECONDS)
    return root


def _edited(root: Path, look: Callable[[], object]) -> Callable[[], object]:
    number = itertools.count()

    def edited() -> object:
        text = f"---\ndescription: edited {next(number)}\n---\nbody\n"
        (root / "topic-5" / "note-5.md").write_text(text, encoding="utf-8")
        return look()

    return edited


def _looks(rounds: Rounds) -> int:
    return max(3, rounds.runs // 20)

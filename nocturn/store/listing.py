"""Notes in a list: what is told of each, and by which names they stand in it."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["NoteStat", "is_note_name", "listed"]


@dataclass(frozen=True, slots=True)
class NoteStat:
    """What is known of a note.

    Attributes:
        path: Its path; hidden characters of a name made by hand are shown as escapes.
        summary: Its one-line summary.
        bytes: The size of the whole file.
        modified: ISO 8601 in UTC, with milliseconds and ``Z``.
        version: Its version token.
    """

    path: str
    summary: str
    bytes: int
    modified: str
    version: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary that JSON can hold."""
        return asdict(self)


def is_note_name(name: str) -> bool:
    """Whether a file of this name counts as a note: it ends in ``.md``, in any case."""
    return name[-3:].lower() == ".md"


def listed(
    paths: Iterable[str], redact_all: Callable[[Sequence[str]], Sequence[str]]
) -> Iterable[tuple[str, str]]:
    """Gives each path as it is shown, and as it is spelled on disk, sorted.

    Args:
        paths: The paths as spelled on disk.
        redact_all: Takes secrets out of several texts at once.
    """
    names: dict[str, str] = {}
    in_order = sorted(paths)
    redacted = redact_all([unicodedata.normalize("NFC", path) for path in in_order])
    for path, seen in zip(in_order, redacted, strict=True):
        shown = free = visible(seen, keep="")
        number = 2
        while free in names:
            free, number = f"{shown} ({number})", number + 1
        names[free] = path
    return sorted(names.items())

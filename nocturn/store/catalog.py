"""The catalog: one line a note, derived from the files as they are now.

It goes into a system prompt, so it is bounded, and whatever a note's author wrote stays inside its
line: redacted first, then neutralised. The numbers are the contract's section 5.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nocturn.limits import CATALOG_BYTES, CATALOG_LINE_BYTES, CATALOG_READ_BYTES
from nocturn.store.confined import Entry, Folder
from nocturn.store.notes import is_note_name
from nocturn.store.summary import summary_of
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["Catalog", "prompt_block", "render"]

_OPENING: Final = (
    '<memory note="what you have chosen to remember about this user; the links are files you can '
    'memory_read">'
)
_CLOSING: Final = "</memory>"
_TAG: Final = re.compile(r"<(?=\s*/?\s*memory)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog of one moment.

    Attributes:
        text: At most 2,048 bytes of UTF-8, without a final line break; empty where no note is.
        left_out: A warning for each note or folder that could not be read, naming it.
    """

    text: str
    left_out: tuple[str, ...]


def render(root: Path, redact_all: Callable[[Sequence[str]], Sequence[str]]) -> Catalog:
    """Reads the heads of all notes and lists them.

    Args:
        root: The ``memory/`` folder, which may be missing.
        redact_all: Takes secrets out of several texts at once.

    Raises:
        NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where the folder itself cannot be opened.
    """
    entries = [
        (unicodedata.normalize("NFC", entry.path), *_summary(entry))
        for entry in Folder(root).walk()
        if entry.kind == "closed" or is_note_name(entry.name)
    ]
    lines: list[tuple[str, str]] = []
    left_out: list[tuple[str, str]] = []
    redacted = redact_all([text for path, summary, _ in entries for text in (path, summary)])
    # Redacted before it is sorted: where a name stands among others would tell what it is.
    for path, summary, (_, _, trouble) in zip(redacted[::2], redacted[1::2], entries, strict=True):
        shown = _neutral(path)
        if trouble:
            left_out.append((path, f'"{shown}" is left out of the catalog: {trouble}'))
        else:
            lines.append((path, f"{shown} — {_neutral(summary)}"))
    return Catalog(
        _packed([line for _, line in sorted(lines)]),
        tuple(warning for _, warning in sorted(left_out)),
    )


def prompt_block(catalog_text: str) -> str:
    """Gives the block that stands in a system prompt, empty for an empty catalog."""
    return f"{_OPENING}\n{catalog_text}\n{_CLOSING}" if catalog_text else ""


def _summary(entry: Entry) -> tuple[str, str]:
    """Gives a note's summary, or why it cannot be read."""
    if entry.kind == "closed":
        return "", "the folder cannot be opened"
    if entry.kind == "other":
        return "", "it is a link or no regular file"
    try:
        content = entry.directory.read(entry.name, CATALOG_READ_BYTES)
        whole = content.status.st_size <= len(content.data)
        return summary_of(content.data, whole=whole), ""
    except UnicodeDecodeError:
        return "", "it is not UTF-8 text"
    except OSError:
        return "", "it cannot be read"


def _neutral(text: str) -> str:
    return _TAG.sub("&lt;", visible(text, keep=""))


def _packed(lines: list[str]) -> str:
    """Packs from the top until the next line would not fit; counts the rest exactly."""
    short = [line for line in lines if _size(line) <= CATALOG_LINE_BYTES]
    if len(short) == len(lines) and _size("\n".join(lines)) <= CATALOG_BYTES:
        return "\n".join(lines)
    packed: list[str] = []
    for line in short:
        if _size(_with_notice([*packed, line], len(lines))) > CATALOG_BYTES:
            break
        packed.append(line)
    return _with_notice(packed, len(lines))


def _with_notice(packed: list[str], total: int) -> str:
    more = total - len(packed)
    notice = f"({more} more notes not listed — memory is at its limit; consolidate)"
    return "\n".join([*packed, notice])


def _size(text: str) -> int:
    return len(text.encode())

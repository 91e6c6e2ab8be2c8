"""Several notes in one change: how they read as one text, which is what a clearance is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["listed"]


def listed(texts: Mapping[str, str]) -> str:
    """Gives whole notes as one text, each under its path and its size.

    Args:
        texts: The notes' whole texts by their canonical paths.

    Returns:
        A text that no other notes have: the sizes say where each ends, whatever is in it.
    """
    return "".join(
        f"=== {path} ({len(text.encode()):,} bytes) ===\n{text}\n" for path, text in texts.items()
    )

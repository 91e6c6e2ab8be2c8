"""A stand-in until the persona's own module comes: the soul's files, and no tool ``memory``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nocturn.guard.gate import Gate
    from nocturn.registry.tool import Tool
    from nocturn.stage import Stage

_FILES: Final = (
    "AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "MEMORY.md",
)  # fmt: skip


def compose_soul(folder: Path) -> str:
    """Returns the persona's files as one text."""
    there = [name for name in _FILES if (folder / name).is_file()]
    return "\n\n".join(
        f"## {each}\n\n{(folder / each).read_text('utf-8').strip()}" for each in there
    )


def memory_of(folder: Path, stage: Stage) -> tuple[tuple[Tool, ...], Mapping[str, Gate]]:
    """Returns the tool ``memory``, and what rules on it."""
    del folder, stage
    none: Any = ()
    return none, {}

"""All the tools that come with nocturn, in the order in which they are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nocturn.tools.amending import amending_tools
from nocturn.tools.coming import import_tool
from nocturn.tools.memory import memory_tools
from nocturn.tools.moving import moving_tools
from nocturn.tools.past import past_tools
from nocturn.tools.persona import persona_tool
from nocturn.tools.search import search_tools
from nocturn.tools.time import time_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.guard.scanner import Scanner
    from nocturn.registry.tool import Tool
    from nocturn.store.notes import NoteStore
    from nocturn.store.persona import PersonaStore
    from nocturn.store.search import NoteSearch

__all__ = ["built_in_tools"]


def built_in_tools(
    notes: NoteStore,
    persona: PersonaStore,
    search: Callable[[], NoteSearch],
    scanner: Scanner,
) -> tuple[Tool, ...]:
    """Returns the tools.

    Args:
        notes: Where the notes are.
        persona: Where the persona's files are.
        search: Gives what searches them, which is made on first use.
        scanner: Takes secrets out of what a guest is shown.
    """
    return (
        *memory_tools(notes, scanner.redact, scanner.redact_all),
        *amending_tools(notes, scanner.redact, scanner.spans),
        *moving_tools(notes, scanner.redact),
        *past_tools(notes, scanner.redact),
        import_tool(notes, scanner.redact),
        *search_tools(search),
        persona_tool(persona),
        *time_tools(),
    )

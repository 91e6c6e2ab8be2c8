"""``nocturn.memory.move``: another name for a note, both names ruled on in one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from nocturn.errors import NocturnError
from nocturn.names import note_path
from nocturn.registry.tool import Tool, tool
from nocturn.store.notes import ANY, NoteStore
from nocturn.tools.conflict import what_changed
from nocturn.tools.memory import NotePath  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.effects import Clearance, Preview

__all__ = ["moving_tools"]

Moved = Annotated[
    str | None,
    "The version that must be there (memory_stat has it). Left out: whatever is there is moved.",
]


def moving_tools(notes: NoteStore, redact: Callable[[str], str]) -> list[Tool]:
    """Returns the tool that gives a note another name.

    Args:
        notes: Where the notes are.
        redact: Takes secrets out of a text: what a guest is shown of a note.
    """

    def canonical(arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["path"] = note_path(arguments["path"], redact)
        try:
            arguments["to"] = note_path(arguments["to"], redact)
        except NocturnError as error:
            detail = {**error.detail, "field": "to"}
            raise NocturnError(error.code, f"to: {error.message}", detail=detail) from None
        arguments["expected"] = arguments.get("ifVersion", ANY)
        return arguments

    def foresee(arguments: dict[str, Any]) -> Preview:
        path, expected = arguments["path"], arguments["expected"]
        with what_changed(notes, path, expected, redact):
            return notes.preview_move(path, arguments["to"], if_version=expected)

    @tool(
        axis="write",
        effects=[("memory", "move", "path"), ("memory", "move", "to")],
        canonical=canonical,
        foresee=foresee,
        would=lambda arguments, _: _moved(arguments["path"], arguments["to"]),
        page={
            "returns": 'Both canonical paths:\n\n    {"path": "people/lina.md", "to": '
            '"family/lina.md"}',
            "notes": "Nothing may be at `to`, and nothing is ever overwritten; a name that differs "
            "from the old one in case alone is a new name. Both names are ruled on in one "
            "question. `{ifVersion}` may follow as the wrapper's last argument.",
            "wrapper": "nocturn.memory.move(path, to)",
            "example": {"path": "people/lina.md", "to": "family/lina.md"},
        },
    )
    def memory_move(
        path: NotePath,
        to: Annotated[str, "The new path, by the same rules; no note may be there."],
        ifVersion: Moved = None,  # noqa: N803 - JavaScript's spelling
        *,
        clearance: Clearance,
        preview: Preview,
        expected: Any,
    ) -> dict[str, Any]:
        """Give one note another path; its text and its summary stay."""
        del ifVersion
        with what_changed(notes, path, preview.version, redact):
            notes.move(clearance, path, to, if_version=expected)
        return _moved(path, to)

    return [memory_move]


def _moved(path: str, to: str) -> dict[str, Any]:
    return {"path": path, "to": to}

"""``nocturn.memory``: changing a note in part, on the host, from what is there at that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from nocturn import limits
from nocturn.errors import BAD_ARGUMENTS, NocturnError
from nocturn.names import note_path
from nocturn.registry.tool import Tool, tool
from nocturn.store.amendment import Append, Edit
from nocturn.store.notes import ANY, NoteStore
from nocturn.store.summary import summary_of
from nocturn.tools.conflict import what_changed
from nocturn.tools.memory import NotePath, refuse_nul

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nocturn.effects import Clearance, Preview
    from nocturn.store.amendment import Amendment

__all__ = ["amending_tools"]

Amended = Annotated[
    str | None,
    "The version that must be there (memory_stat has it). Left out: whatever is there is amended.",
]


def amending_tools(
    notes: NoteStore,
    redact: Callable[[str], str],
    hidden: Callable[[str], Sequence[tuple[int, int]]],
) -> list[Tool]:
    """Returns the tools that change notes in part.

    Args:
        notes: Where the notes are.
        redact: Takes secrets out of a text: what a guest is shown of a note.
        hidden: Gives the stretches of a text that it takes out.
    """
    road = _Road(notes, redact, hidden)
    returns = "The canonical path, the summary, which stays, and the whole file's size in bytes"

    @tool(
        axis="write",
        effects=[("memory", "write", "path")],
        canonical=road.canonical_append,
        caps={"text": limits.NOTE_CONTENT_BYTES},
        foresee=road.foresee_append,
        text="text",
        would=_would,
        page={
            "returns": f'{returns}:\n\n    {{"path": "people/lina.md", "summary": "daughter, 7 '
            'years old", "bytesWritten": 102}',
            "notes": "The text begins on a line of its own: a line end that is missing is put "
            "before it. Appends of several programs at one time all come in, one after another; "
            "with `{ifVersion}` as the wrapper's last argument, or where a person was asked, only "
            "the version that was seen is amended. The content may have at most 65,536 bytes then.",
            "wrapper": "nocturn.memory.append(path, text)",
            "example": {"path": "people/lina.md", "text": "- loves swimming"},
        },
    )
    def memory_append(
        path: NotePath,
        text: Annotated[str, "What comes to the end of the note, on a line of its own."],
        ifVersion: Amended = None,  # noqa: N803 - JavaScript's spelling
        *,
        clearance: Clearance,
        preview: Preview,
        joined: Callable[[str, str], None],
        amendment: Any,
        expected: Any,
    ) -> dict[str, Any]:
        """Add to the end of one note that is there; its summary stays."""
        del text, ifVersion
        return road.amend(path, amendment, clearance, preview, joined, expected)

    @tool(
        axis="write",
        effects=[("memory", "write", "path")],
        canonical=road.canonical_edit,
        caps={"old": limits.NOTE_CONTENT_BYTES, "new": limits.NOTE_CONTENT_BYTES},
        foresee=road.foresee_edit,
        text="new",
        would=_would,
        page={
            "returns": f'{returns}:\n\n    {{"path": "people/lina.md", "summary": "daughter, 7 '
            'years old", "bytesWritten": 84}',
            "notes": "`old` has to stand in the body exactly once; if it stands there more than "
            "once, the error's `detail.lines` says where. What a read shows as `[REDACTED]` stays "
            "as it is and cannot be part of `old`; neither can the preamble. `{ifVersion}` may "
            "follow as the wrapper's last argument.",
            "wrapper": "nocturn.memory.edit(path, old, new)",
            "example": {"path": "people/lina.md", "old": "in August", "new": "in September"},
        },
    )
    def memory_edit(
        path: NotePath,
        old: Annotated[str, "The text that is to go; it stands in the note's body exactly once."],
        new: Annotated[str, "What comes in its place; empty to leave it out."],
        ifVersion: Amended = None,  # noqa: N803 - JavaScript's spelling
        *,
        clearance: Clearance,
        preview: Preview,
        joined: Callable[[str, str], None],
        amendment: Any,
        expected: Any,
    ) -> dict[str, Any]:
        """Replace a text in one note that is there; its summary stays."""
        del old, new, ifVersion
        return road.amend(path, amendment, clearance, preview, joined, expected)

    return [memory_append, memory_edit]


@dataclass(frozen=True, slots=True)
class _Road:
    """What both tools do on the road."""

    notes: NoteStore
    redact: Callable[[str], str]
    hidden: Callable[[str], Sequence[tuple[int, int]]]

    def canonical_append(self, arguments: dict[str, Any]) -> dict[str, Any]:
        refuse_nul("text", arguments["text"])
        if not arguments["text"]:
            raise _refused("text", "text is empty: give what is to be added")
        return self._canonical(arguments)

    def canonical_edit(self, arguments: dict[str, Any]) -> dict[str, Any]:
        refuse_nul("new", arguments["new"])
        if not arguments["old"]:
            raise _refused("old", "old is empty: give the text that is to be replaced")
        if arguments["old"] == arguments["new"]:
            raise _refused("new", "new is the same as old: give what is to stand there instead")
        return self._canonical(arguments)

    def foresee_append(self, arguments: dict[str, Any]) -> Preview:
        arguments["amendment"] = Append(arguments["text"])
        return self._foresee(arguments)

    def foresee_edit(self, arguments: dict[str, Any]) -> Preview:
        arguments["amendment"] = Edit(arguments["old"], arguments["new"], self.hidden)
        return self._foresee(arguments)

    def amend(
        self,
        path: str,
        amendment: Amendment,
        clearance: Clearance,
        preview: Preview,
        joined: Callable[[str, str], None],
        expected: Any,
    ) -> dict[str, Any]:
        def check(before: str, after: str) -> None:
            if after != preview.after:  # others have written since it was looked at
                joined(before, after)

        with what_changed(self.notes, path, preview.version, self.redact):
            summary, size = self.notes.amend(clearance, path, amendment, check, if_version=expected)
        return {"path": path, "summary": summary, "bytesWritten": size}

    def _canonical(self, arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["path"] = note_path(arguments["path"], self.redact)
        arguments["expected"] = arguments.get("ifVersion", ANY)
        return arguments

    def _foresee(self, arguments: dict[str, Any]) -> Preview:
        path, expected = arguments["path"], arguments["expected"]
        with what_changed(self.notes, path, expected, self.redact):
            return self.notes.preview_amend(path, arguments["amendment"], if_version=expected)


def _would(arguments: Mapping[str, Any], preview: Preview) -> dict[str, Any]:
    data = (preview.after or "").encode()
    summary = summary_of(data, whole=True)
    return {"path": arguments["path"], "summary": summary, "bytesWritten": len(data)}


def _refused(field: str, message: str) -> NocturnError:
    return NocturnError(BAD_ARGUMENTS, message, detail={"field": field})

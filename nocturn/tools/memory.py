"""``nocturn.memory``: notes that last, one fact a note, each with a one-line summary.

The summary is an argument of its own, so that no note can come without its catalog line and no
text can forge the YAML that holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from nocturn import limits
from nocturn.errors import BAD_ARGUMENTS, CONFLICT, NocturnError
from nocturn.guard.scanner import REDACTED
from nocturn.names import note_path, stored_summary
from nocturn.registry.tool import Tool, tool
from nocturn.store import preamble
from nocturn.store.notes import ANY, NoteStore
from nocturn.tools.conflict import what_changed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nocturn.effects import Clearance, Preview

__all__ = ["IfVersion", "NotePath", "memory_tools", "refuse_nul"]

NotePath = Annotated[
    str,
    "Path relative to the memory folder; ends in .md. Group related notes in folders, "
    "e.g. people/lina.md or prefs/coding.md.",
]
IfVersion = Annotated[
    str | None,
    "The version that must be there (memory_stat has it); null: there must be no such note yet. "
    "Left out: whatever is there is replaced.",
]


def memory_tools(
    notes: NoteStore,
    redact: Callable[[str], str],
    redact_all: Callable[[Sequence[str]], Sequence[str]],
) -> list[Tool]:
    """Returns the tools of the ``memory`` namespace.

    Args:
        notes: Where the notes are.
        redact: Takes secrets out of a text: what a guest is shown of a note.
        redact_all: Takes them out of several texts at once.
    """

    def foresee_write(arguments: dict[str, Any]) -> Preview:
        path, version = arguments["path"], arguments["expected"]
        with what_changed(notes, path, version, redact):
            preview = notes.preview_write(
                path,
                arguments["summary"],
                arguments["block"],
                arguments["content"],
                if_version=version,
            )
        incoming = "\n".join(arguments[part] for part in ("summary", "block", "content"))
        _refuse_written_back(path, preview, incoming, redact)
        return preview

    def canonical_path(arguments: dict[str, Any]) -> dict[str, Any]:
        arguments["path"] = note_path(arguments["path"], redact)
        arguments["expected"] = arguments.get("ifVersion", ANY)
        return arguments

    def canonical_write(arguments: dict[str, Any]) -> dict[str, Any]:
        return _canonical_text(canonical_path(arguments))

    def foresee_remove(arguments: dict[str, Any]) -> Preview:
        path, version = arguments["path"], arguments["expected"]
        with what_changed(notes, path, version, redact):
            return notes.preview_remove(path, if_version=version)

    @tool(
        axis="write",
        effects=[("memory", "write", "path")],
        canonical=canonical_write,
        caps={"content": limits.NOTE_CONTENT_BYTES},
        foresee=foresee_write,
        text="content",
        would=lambda arguments, preview: _written(arguments, len((preview.after or "").encode())),
        page={
            "returns": "The canonical path, the stored summary, and the size of the whole file in "
            'bytes:\n\n    {"path": "people/lina.md", "summary": "daughter, 7 years old", '
            '"bytesWritten": 84}',
            "notes": "The file is replaced whole, atomically: a reader or a crash sees the old one "
            "or the new one. A block at the head of `content` is taken for a preamble that was "
            "read back if and only if it is a YAML mapping with a string `description`; it is "
            "kept, with the summary in it brought up to date. So reading a note and writing it "
            "back changes no byte, and a body that begins with such a block of its own loses it. "
            "`{ifVersion}` may follow as the wrapper's last argument.",
            "wrapper": "nocturn.memory.write(path, summary, content)",
            "example": {
                "path": "people/lina.md",
                "summary": "daughter, 7 years old",
                "content": "Likes dinosaurs. Starts school in August.",
            },
        },
    )
    def memory_write(
        path: NotePath,
        summary: Annotated[
            str,
            "The single line that the memory catalog shows in every later prompt. White space "
            "becomes single spaces; longer than 120 characters is cut.",
        ],
        content: Annotated[str, "The note's body as Markdown, at most 65,536 bytes of UTF-8."],
        ifVersion: IfVersion = None,  # noqa: N803 - JavaScript's spelling
        *,
        clearance: Clearance,
        preview: Preview,
        expected: Any,
    ) -> dict[str, Any]:
        """Remember something past the end of this conversation: write one note, whole.

        One fact is one note. To amend a note, read it first. Worth remembering is what will still
        matter in a month: who somebody is, what they like, what was decided, what you were told to
        do from now on. Not worth it: what only this conversation is about, and what can be looked
        up. A note that is no longer true is worse than none: correct it as soon as you know.
        """
        del content, ifVersion  # both are in the preview, which is what was cleared
        with what_changed(notes, path, preview.version, redact):
            size = notes.write(clearance, path, preview.after or "", if_version=expected)
        return _written({"path": path, "summary": summary}, size)

    @tool(
        axis="read",
        effects="ungated",
        canonical=canonical_path,
        page={
            "returns": "The file's text, its preamble included.",
            "notes": "A file over 128 KiB, which no tool can have written, is cut there, and its "
            "last line says so. A secret's value is shown as `[REDACTED]`.",
            "wrapper": "nocturn.memory.read(path)",
            "example": {"path": "people/lina.md"},
        },
    )
    def memory_read(path: NotePath) -> str:
        """Read one note, whole, its preamble with the summary included."""
        return notes.read(path, redact)

    @tool(
        axis="read",
        effects="ungated",
        canonical=canonical_path,
        page={
            "returns": "`bytes` is the whole file's size, `modified` ISO 8601 in UTC, `version` a "
            'token that changes whenever the file does:\n\n    {"path": "people/lina.md", '
            '"summary": "daughter, 7 years old", "bytes": 84,\n     "modified": '
            '"2026-03-01T08:30:00.000Z", "version": "5f0c9a…"}',
            "wrapper": "nocturn.memory.stat(path)",
            "example": {"path": "people/lina.md"},
        },
    )
    def memory_stat(path: NotePath) -> dict[str, Any]:
        """What there is to know of one note without reading it: summary, size, time, version."""
        return notes.stat(path).to_dict()

    @tool(
        axis="read",
        effects="ungated",
        canonical=_canonical_list,
        page={
            "returns": "What `memory_stat` gives of each, sorted by path, and where to go on:\n\n"
            '    {"notes": […], "cursor": "people/lina.md"}',
            "notes": "`cursor` is null on the last page.",
            "wrapper": "nocturn.memory.list({limit, cursor})",
            "example": {"limit": 50, "cursor": "people/"},
        },
    )
    def memory_list(
        limit: Annotated[int, "Notes on a page, 1 to 200."] = limits.LIST_PAGE,
        cursor: Annotated[str | None, "The cursor of the page before."] = None,
    ) -> dict[str, Any]:
        """List the notes, a page at a time."""
        page, following = notes.list(limit, cursor, redact_all)
        return {"notes": [each.to_dict() for each in page], "cursor": following}

    @tool(
        axis="write",
        effects=[("memory", "remove", "path")],
        canonical=canonical_path,
        foresee=foresee_remove,
        would=lambda arguments, _: _removed(arguments["path"]),
        page={
            "returns": 'The canonical path:\n\n    {"path": "people/lina.md", "removed": true}',
            "notes": "The note goes to the workspace's trash, where a person can find it. "
            "`{ifVersion}` may follow as the wrapper's last argument.",
            "wrapper": "nocturn.memory.remove(path)",
            "example": {"path": "people/lina.md"},
        },
    )
    def memory_remove(
        path: NotePath,
        ifVersion: IfVersion = None,  # noqa: N803 - JavaScript's spelling
        *,
        clearance: Clearance,
        preview: Preview,
        expected: Any,
    ) -> dict[str, Any]:
        """Forget one note: move it to the trash."""
        del ifVersion
        with what_changed(notes, path, preview.version, redact):
            notes.remove(clearance, path, if_version=expected)
        return _removed(path)

    return [memory_list, memory_read, memory_remove, memory_stat, memory_write]


def refuse_nul(field: str, text: str) -> None:
    """Refuses a text that no Markdown file may hold.

    Raises:
        NocturnError: ``BAD_ARGUMENTS``, naming the field.
    """
    at = text.find("\0")
    if at >= 0:
        message = (
            f"{field} has a NUL character at position {at}, which no Markdown file may hold: "
            "remove it"
        )
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": field})


def _written(note: Mapping[str, Any], size_bytes: int) -> dict[str, Any]:
    return {"path": note["path"], "summary": note["summary"], "bytesWritten": size_bytes}


def _removed(path: str) -> dict[str, Any]:
    return {"path": path, "removed": True}


def _canonical_text(arguments: dict[str, Any]) -> dict[str, Any]:
    arguments["summary"] = stored_summary(arguments["summary"])
    refuse_nul("content", arguments["content"])
    # A preamble that was read back is not body: its size is not counted, its summary not believed.
    arguments["block"], arguments["content"] = preamble.split(arguments["content"])
    return arguments


def _canonical_list(arguments: dict[str, Any]) -> dict[str, Any]:
    limit = arguments.get("limit", limits.LIST_PAGE)
    if not 1 <= limit <= limits.LIST_PAGE:
        raise NocturnError(
            BAD_ARGUMENTS,
            f"limit is {limit} and must be 1 to {limits.LIST_PAGE}",
            detail={"field": "limit"},
        )
    return arguments


def _refuse_written_back(
    path: str, preview: Preview, incoming: str, redact: Callable[[str], str]
) -> None:
    """A read that was redacted or cut must not be written back over the truth."""
    present = preview.before or ""
    redacted = REDACTED in incoming and redact(present) != present
    # A text that is longer than a read may be ends in the line that says it was cut.
    cut = len(present.encode()) > limits.NOTE_READ_BYTES and present.splitlines()[-1] in incoming
    if redacted or cut:
        raise NocturnError(
            CONFLICT,
            f"{path} holds text that reading it does not show, and this content carries the mark "
            "of that: writing it would lose the hidden text; leave the marked part to a person",
            detail={"version": preview.version},
        )

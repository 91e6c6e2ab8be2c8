"""A whole note as one text that a person edits, its summary included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, NOT_FOUND, NocturnError, too_large
from nocturn.limits import NOTE_READ_BYTES
from nocturn.store.preamble import description, split
from nocturn.store.summary import NO_SUMMARY, summary_of

if TYPE_CHECKING:
    from nocturn.store.notes import NoteStore

__all__ = ["Draft", "open_draft"]

_EMPTY: Final = '---\ndescription: ""\n---\n'


@dataclass(frozen=True, slots=True)
class Draft:
    """A note as it was opened.

    Attributes:
        path: Its canonical path.
        text: The whole file; of a note that is not there yet, an empty one.
        version: Its version; None where it is not there yet.
    """

    path: str
    text: str
    version: str | None

    def parts(self, saved: str) -> tuple[str, str]:
        """Takes the text apart that a person has saved.

        Args:
            saved: The text.

        Returns:
            The summary and the content, as a write takes them. The summary is the preamble's; else
            the one that the note had, whose preamble then stays; else the first line.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``, the preamble cannot be read any more.
        """
        block, body = split(saved)
        before, _ = split(self.text)
        if not block and before and saved.lstrip("\ufeff").startswith("---"):
            raise NocturnError(
                BAD_ARGUMENTS,
                "what stands between the two --- lines is no YAML with a description: put a "
                "summary with a colon in it in quotes",
                detail={"field": "content"},
            )
        for summary in (description(block), "" if block else description(before)):
            if summary.strip():
                return summary, saved
        first = summary_of(body.encode("utf-8", "replace"), whole=True)
        return "" if first == NO_SUMMARY else first, saved


def open_draft(notes: NoteStore, path: str) -> Draft:
    """Reads a note to edit, as it is: not redacted, since it is the person's own.

    Args:
        notes: Where the notes are.
        path: Its canonical path.

    Raises:
        NocturnError: ``TOO_LARGE``, it is cut when it is read; ``NOT_A_NOTE``, ``STORAGE``.
    """
    try:
        # The version first: a change between the two reads is a conflict, and never lost.
        found = notes.stat(path)
        text = notes.read(path)
    except NocturnError as error:
        if error.code != NOT_FOUND:
            raise
        return Draft(path, _EMPTY, None)
    if found.bytes > NOTE_READ_BYTES:
        way_out = "split it with a program of your own; it is a file in memory/"
        raise too_large("the note", NOTE_READ_BYTES, found.bytes, way_out)
    return Draft(path, text, found.version)

"""Amending a note: its text after it, made from what is there at the moment of writing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from nocturn.errors import BAD_ARGUMENTS, NocturnError, too_large
from nocturn.limits import NOTE_CONTENT_BYTES
from nocturn.store.preamble import split
from nocturn.store.trouble import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Amendment", "Append", "Edit", "amended"]

_LISTED_LINES: Final = 20


class Amendment(Protocol):
    """What is to be done to a note's text."""

    @property
    def bound(self) -> bytes:
        """What a clearance is bound to: all of it, whatever the note is."""
        ...

    def applied(self, path: str, block: str, body: str) -> str:
        """Gives the body after it.

        Args:
            path: The note's path, for messages.
            block: The note's preamble, which stays.
            body: The rest.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``, it cannot be applied to this note.
        """
        ...


@dataclass(frozen=True, slots=True)
class Append:
    """A text that comes to the end, on a line of its own.

    Attributes:
        text: The text; a line end is put before it where one is missing.
    """

    text: str

    @property
    def bound(self) -> bytes:
        """As :class:`Amendment` says."""
        return _bound("append", self.text)

    def applied(self, path: str, block: str, body: str) -> str:
        """As :class:`Amendment` says."""
        del path
        if not body.lstrip("\ufeff") or body.endswith("\n"):
            return body + self.text
        crlf = "\r\n" in block + body
        return body + ("\r\n" if crlf else "\n") + self.text


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that stands in the body once, and what comes in its place.

    What a reader is not shown does not exist for it: whoever could match a hidden value could
    find it out, a character at a time.

    Attributes:
        old: The text.
        new: What comes in its place.
        hidden: Gives the stretches of a note's text that a reader is not shown.
    """

    old: str
    new: str
    hidden: Callable[[str], Sequence[tuple[int, int]]] = field(compare=False)

    @property
    def bound(self) -> bytes:
        """As :class:`Amendment` says."""
        return _bound("edit", self.old, self.new)

    def applied(self, path: str, block: str, body: str) -> str:
        """As :class:`Amendment` says.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``; ``detail["lines"]`` where it stands more than once.
        """
        text = block + body
        hidden = self.hidden(text)
        shows = (
            at
            for at in _occurrences(text, self.old, len(block))
            if not any(start < at + len(self.old) and at < end for start, end in hidden)
        )
        # No more than are told of: in a text of one letter each costs its whole length.
        found = [*islice(shows, _LISTED_LINES + 1)]
        if not found:
            message = (
                f"old does not stand in the body of {shown(path)}: read the note, and give a text "
                "that it shows, exactly"
            )
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "old", "lines": []})
        if len(found) > 1:
            lines = [_line_of(text, at, hidden) for at in found[:_LISTED_LINES]]
            more = ", …" if len(found) > _LISTED_LINES else ""
            message = (
                f"old stands more than once in {shown(path)}, on lines "
                f"{', '.join(map(str, lines))}{more}: give more of the text around the one you mean"
            )
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "old", "lines": lines})
        at = found[0] - len(block)
        return body[:at] + self.new + body[at + len(self.old) :]


def amended(path: str, text: str, amendment: Amendment) -> str:
    """Gives the whole text of a note after an amendment.

    Args:
        path: The note's path, for messages.
        text: Its whole text now.
        amendment: What is to be done.

    Raises:
        NocturnError: ``TOO_LARGE``, the body would be over 65,536 bytes; ``BAD_ARGUMENTS``, it
            cannot be applied, or would change the note's preamble.
    """
    block, body = split(text)
    new = amendment.applied(path, block, body)
    size = len(new.encode())
    if size > NOTE_CONTENT_BYTES:
        way_out = "write what does not fit to another note"
        raise too_large(f"the content of {shown(path)}", NOTE_CONTENT_BYTES, size, way_out)
    if block and new and not block.endswith("\n"):
        block += "\n"
    after = block + new
    if split(after)[0] != block:
        message = (
            f"that would give {shown(path)} another preamble, which holds its summary: write the "
            "note whole to change that"
        )
        raise NocturnError(BAD_ARGUMENTS, message)
    return after


def _bound(*parts: Any) -> bytes:
    return json.dumps(parts).encode()


def _occurrences(text: str, old: str, start: int) -> Iterator[int]:
    at = text.find(old, start)
    while at >= 0:
        yield at
        at = text.find(old, at + 1)


def _line_of(text: str, at: int, hidden: Sequence[tuple[int, int]]) -> int:
    """Gives the line as a reader counts it, who is not shown the line ends of what is hidden."""
    unseen = sum(text.count("\n", start, min(end, at)) for start, end in hidden if start < at)
    return 1 + text.count("\n", 0, at) - unseen

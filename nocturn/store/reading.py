"""What is shown of a note's file: its text, cut where it is too long, and its time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nocturn.errors import NOT_A_NOTE, NocturnError
from nocturn.limits import NOTE_READ_BYTES
from nocturn.store.summary import decoded
from nocturn.store.trouble import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.store.directory import Content

__all__ = ["as_read", "before_of", "cut_notice", "iso_of", "not_utf8", "whole_text"]


def cut_notice(size: int) -> str:
    """Gives the last line of a read that was cut.

    Args:
        size: The size of the whole file, in bytes.
    """
    return f"[cut: this note is {size:,} bytes, and a read gives its first {NOTE_READ_BYTES:,}]"


def as_read(path: str, content: Content, redact: Callable[[str], str]) -> str:
    """Gives a note's text as a read shows it.

    Args:
        path: Its path, for the message.
        content: What was read of it, beyond the cut.
        redact: Applied before the cut, which could halve a secret.

    Raises:
        NocturnError: ``NOT_A_NOTE``, it is not UTF-8.
    """
    size = max(content.status.st_size, len(content.data))
    text = whole_text(path, content.data, whole=size == len(content.data))
    if size <= NOTE_READ_BYTES:
        return redact(text)
    head = redact(text).encode()[:NOTE_READ_BYTES].decode(errors="ignore")
    return head + ("" if head.endswith("\n") else "\n") + cut_notice(size)


def before_of(path: str, content: Content, *, strict: bool) -> str | None:
    """Gives what a person is shown of the file that is there; None for a link that leads nowhere.

    Args:
        path: Its path, for the message.
        content: What is there.
        strict: Whether what is not UTF-8 is refused; else it is shown with marks.

    Raises:
        NocturnError: ``NOT_A_NOTE``.
    """
    if content.link is not None and not content.data:
        return None
    try:
        return as_read(path, content, str)
    except NocturnError:
        if strict and content.link is None:
            raise
        return content.data[:NOTE_READ_BYTES].decode(errors="replace")


def whole_text(path: str, data: bytes, *, whole: bool = True) -> str:
    """Decodes a note.

    Args:
        path: Its path, for the message.
        data: Its bytes.
        whole: Whether that is all; else a character that was cut is left off.

    Raises:
        NocturnError: ``NOT_A_NOTE``, it is not UTF-8.
    """
    try:
        return decoded(data, whole=whole)
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def not_utf8(path: str) -> NocturnError:
    """The file is no text that a note could be."""
    return NocturnError(NOT_A_NOTE, f"{shown(path)} is not UTF-8 text: convert it, or remove it")


def iso_of(nanoseconds: int) -> str:
    """Gives a file's time as ISO 8601 in UTC, with milliseconds."""
    try:
        moment = datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (ValueError, OverflowError, OSError):
        # A time that no calendar has, from a broken disk or an archive.
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

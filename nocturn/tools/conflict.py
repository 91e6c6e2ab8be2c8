"""A ``CONFLICT`` that says what changed since the version that the caller knows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from nocturn.errors import CONFLICT, NocturnError
from nocturn.limits import NOTE_READ_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from nocturn.store.notes import NoteStore

__all__ = ["what_changed"]

_DIFF_BYTES: Final = 4_096


@contextmanager
def what_changed(
    notes: NoteStore, path: str, known: Any, redact: Callable[[str], str]
) -> Generator[None]:
    """Adds ``diff`` to the detail of a conflict that is raised inside.

    It goes from the version that the caller knows to what is there, both as they would be read;
    None where the history has not the former, or one of them is too large to be compared.

    Args:
        notes: Where the notes are.
        path: The note.
        known: The version that the caller knows; anything but a text for none.
        redact: Takes secrets out of each text, before they are compared.
    """
    try:
        yield
    except NocturnError as conflict:
        if conflict.code == CONFLICT and "version" in conflict.detail:
            conflict.detail["diff"] = _diff(notes, path, known, redact)
        raise


def _diff(notes: NoteStore, path: str, known: Any, redact: Callable[[str], str]) -> str | None:
    from nocturn.guard.difference import diff_text

    if not isinstance(known, str):
        return None
    try:
        data = notes.past.content_of(path, known)
        if data is None or len(data) > NOTE_READ_BYTES:
            return None
        before, after = redact(data.decode()), notes.present(path, redact)
    except (NocturnError, UnicodeDecodeError):
        return None
    rows = diff_text(redact(path), before, after).encode()
    if len(rows) <= _DIFF_BYTES:
        return rows.decode()
    cut = rows[: rows.rfind(b"\n", 0, _DIFF_BYTES) + 1].decode(errors="ignore")
    return f"{cut}[cut: this diff is {len(rows):,} bytes; read the note]\n"

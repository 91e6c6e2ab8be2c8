"""Names in canonical form: note paths, summaries, agents, tools.

Every door takes a raw string and gives the one spelling that is stored, shown and ruled on, or
refuses it with the reason. Nothing is decoded: ``%2e%2e`` is six characters, and so is a backslash
never a separator. Canonical form is the contract's section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, PATH_ESCAPE, NocturnError, too_large
from nocturn.limits import (
    NAME_PART_BYTES,
    NOTE_PATH_BYTES,
    SUMMARY_CODE_POINTS,
    SUMMARY_RAW_BYTES,
)
from nocturn.visible import first_hidden, visible

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "agent_name",
    "is_module_name",
    "is_tool_name",
    "nfc",
    "note_path",
    "same_name_key",
    "stored_summary",
]

_TOOL_NAME_CHARACTERS: Final = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
)
_TOOL_NAME_LENGTH: Final = 64

_AGENT_NAME: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"

_FORBIDDEN: Final = {
    "\\": "a backslash is no separator here: use /",
    **dict.fromkeys(':*?"<>|', "Windows cannot store it"),
}

_RESERVED: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
    + [port + digit for port in ("COM", "LPT") for digit in "123456789¹²³"]
)
"""Device names on Windows, with any extension. Source: "Naming Files, Paths, and Namespaces"."""

_WHITE_SPACE: Final = "\t\n\v\f\r\u2028\u2029"
"""Hidden characters that a summary may hold, since they are white space in JavaScript as well."""


def note_path(raw: str, redact: Callable[[str], str] = str) -> str:
    """Gives the canonical path of a note.

    Args:
        raw: A path relative to ``memory/``, as it came in.
        redact: Takes secrets out of what an error echoes, before a line break in the middle of one
            becomes an escape that no scan sees through.

    Returns:
        The path in NFC, at most 1,024 bytes of UTF-8, ending in ``.md``, safe on every system.

    Raises:
        NocturnError: ``PATH_ESCAPE`` where it would leave, ``TOO_LARGE`` over 1,024 bytes,
            ``BAD_ARGUMENTS`` for whatever else is refused, with the reason.
    """
    path = nfc(raw)
    size = max(_size(raw), _size(path))
    if size > NOTE_PATH_BYTES:
        raise too_large("path", NOTE_PATH_BYTES, size, "shorten it")
    # Shown whole, never clipped: a secret that was cut in two would pass the redaction.
    shown = f'path "{visible(redact(raw), keep="")}"'
    parts = path.split("/")
    if path.startswith("/") or _climbs_out(parts):
        raise NocturnError(
            PATH_ESCAPE, f"{shown} leaves memory/: give a path relative to it", detail=_PATH
        )
    reason = _refusal(path) or next(filter(None, map(_part_refusal, parts)), None)
    if reason is None and not parts[-1].lower().endswith(".md"):
        reason = "a note ends in .md"
    if reason is None and parts[-1].lower() == ".md":
        reason = "there is no name before .md"
    if reason is not None:
        raise NocturnError(BAD_ARGUMENTS, f"{shown} is refused: {reason}", detail=_PATH)
    return path


def same_name_key(name: str) -> str:
    """Gives the key that two names share if they cannot both exist on every operating system."""
    if name.isascii():
        return name.lower()
    import unicodedata

    # Unicode's canonical caseless matching (D145), which folds what was decomposed first.
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFC", folded)


def stored_summary(raw: str) -> str:
    """Gives the summary as it is stored: one line of at most 120 code points, or 120 and ``…``.

    What it gives comes back unchanged when it is fed in again, since a read-and-write-back must
    change no byte.

    Args:
        raw: A summary as it came in.

    Returns:
        The summary, white space collapsed.

    Raises:
        NocturnError: ``TOO_LARGE`` over 4,096 bytes, ``BAD_ARGUMENTS`` where it is empty or has a
            hidden character.
    """
    size = _size(raw)
    if size > SUMMARY_RAW_BYTES:
        raise too_large("summary", SUMMARY_RAW_BYTES, size, "shorten it")
    hidden = first_hidden(raw, keep=_WHITE_SPACE, joiners=True)
    if hidden is not None:
        at, name = hidden
        message = f"summary has {name} at character {at + 1}, which nobody sees: leave it out"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "summary"})
    text = " ".join(raw.split())
    if not text:
        message = "summary is empty: say in one line what the note holds"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "summary"})
    # What was cut here once is cut to itself: its 121st code point is the ellipsis.
    return text if len(text) <= SUMMARY_CODE_POINTS else text[:SUMMARY_CODE_POINTS] + "…"


def agent_name(raw: str) -> str:
    """Checks the name that a caller gave its agent.

    Raises:
        NocturnError: ``BAD_ARGUMENTS`` where it isn't 1 to 64 of ``A-Z a-z 0-9 . _ -``, or begins
            with one of the last three. (A colon marks the nameless, so no name has one.)
    """
    import re

    if re.fullmatch(_AGENT_NAME, raw):
        return raw
    message = (
        "agent is 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or "
        "a digit: choose another name"
    )
    raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "agent"})


_PATH: Final = {"field": "path"}


def nfc(text: str) -> str:
    """Gives a text composed (NFC), the form in which names are kept and compared."""
    if text.isascii():
        return text
    import unicodedata

    return unicodedata.normalize("NFC", text)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _climbs_out(parts: list[str]) -> bool:
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 0 if part in {"", "."} else 1
        if depth < 0:
            return True
    return False


def _refusal(path: str) -> str | None:
    if not path:
        return "it is empty"
    hidden = first_hidden(path)
    if hidden is not None:
        at, name = hidden
        return f"it has {name} at character {at + 1}"
    for character, why in _FORBIDDEN.items():
        if character in path:
            return f"it has {character} in it, and {why}"
    return None


def _part_refusal(part: str) -> str | None:
    if part in {"", ".", ".."}:
        return f'"{part}" is not a name: give each folder once, without . and ..'
    size = _size(part)
    if size > NAME_PART_BYTES:
        return f"one part is {size:,} bytes, and the limit is {NAME_PART_BYTES}"
    if part[-1] in ". ":
        return "a part ends in a dot or a space, and Windows drops those"
    stem = part.partition(".")[0].rstrip(" ")
    if stem.upper() in _RESERVED:
        return f'"{stem}" is a device on Windows'
    return None


def is_tool_name(raw: str) -> bool:
    """Returns whether a text is a tool's name: 1 to 64 of ``a-z A-Z 0-9 _ -``."""
    return 0 < len(raw) <= _TOOL_NAME_LENGTH and _TOOL_NAME_CHARACTERS.issuperset(raw)


def is_module_name(raw: object) -> bool:
    """Returns whether a host may offer a module by this name, which no file could have."""
    parts = raw.split("/") if isinstance(raw, str) else []
    return parts not in ([], ["nocturn"]) and all(
        is_tool_name(part) and part == part.lower() for part in parts
    )

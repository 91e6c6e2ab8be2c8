"""A persona's files as one text: what a model is told of who it is.

The order and the form are those of the first seed, so that another program composes the same.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from nocturn.errors import NOT_FOUND, NocturnError
from nocturn.limits import PERSONA_FILE_BYTES
from nocturn.store.confined import Folder
from nocturn.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SOUL_FILES", "compose_soul", "sections_in"]

SOUL_FILES: Final = (
    "AGENTS.md",
    "SOUL.md",
    "IDENTITY.md",
    "USER.md",
    "TOOLS.md",
    "HEARTBEAT.md",
    "MEMORY.md",
)
"""In the order in which they are told."""

_CUT: Final = "\n[truncated: exceeds 2 MB bootstrap cap]"
_LOG: Final = logging.getLogger("nocturn")
_NAMES: Final = "|".join(re.escape(each) for each in SOUL_FILES)
_HEADING: Final = re.compile(rf"\s*#[\W_]*({_NAMES})(?!_*[^\W_])", re.IGNORECASE)
_TITLE: Final = re.compile(rf"[\W_]*({_NAMES})[\W_]*", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r"\s*(?:=+|-+)\s*")

_UNSEEN: Final = frozenset({"Cc", "Cf", "Mn"})
"""Categories of what has no width of its own: control, format, and marks on what is before them."""


def compose_soul(persona: Path) -> str:
    """Returns the persona's files as sections, each that is there; a file that is too long is cut.

    What is no file that can be read here, such as a link that leads out or a device, is left out
    with a warning; what is not UTF-8 has U+FFFD in it.

    Args:
        persona: The folder; a missing one has nothing.

    Raises:
        NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, the folder itself cannot be opened.
    """
    folder = Folder(persona)
    folder.names()
    sections: list[str] = []
    for name in SOUL_FILES:
        try:
            data = folder.read(name, PERSONA_FILE_BYTES + 1).data
        except NocturnError as error:
            if error.code != NOT_FOUND:
                _LOG.warning("%s is left out of the persona: %s", name, visible(error.message))
            continue
        if len(data) > PERSONA_FILE_BYTES:
            body = data[:PERSONA_FILE_BYTES].decode("utf-8", "ignore") + _CUT
        else:
            body = data.decode("utf-8", "replace")
        sections.append(f"## {name}\n\n{body.strip()}")
    return "\n\n".join(sections)


def sections_in(text: str) -> list[str]:
    """Returns the lines of a text that open a known section, or seem to open one.

    A model reads more as a heading than Markdown does: with another number of ``#``, in full width,
    indented, underlined, in bold, as code or a link, or with what nobody sees in between.
    """
    lines = [_plain(line) for line in text.splitlines()]
    found: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if _HEADING.match(line):
            found.append(line)
        elif _UNDERLINE.fullmatch(below) and _TITLE.fullmatch(line):
            found.append(f"{line}\n{below}")
    return found


def _plain(line: str) -> str:
    if not (line.isascii() and line.isprintable()):
        shown = unicodedata.normalize("NFKC", line).replace("\t", " ")
        line = "".join(each for each in shown if unicodedata.category(each) not in _UNSEEN)
    return line.strip()

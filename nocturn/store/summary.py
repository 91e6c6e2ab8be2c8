"""A note's one-line summary, from the head of its file."""

from __future__ import annotations

import codecs
import re
from typing import Final

from nocturn.store.preamble import description, mapping_block

__all__ = ["NO_SUMMARY", "decoded", "summary_of"]

NO_SUMMARY: Final = "(no summary)"

_LAST_KEY: Final = re.compile(r"\n(?=[^\s#-])(?!.*\n[^\s#-])", re.DOTALL)
_CUT_TAIL: Final = 1_024
"""What is left off a line that the head cuts: half a secret would pass the redaction."""


def summary_of(head: bytes, *, whole: bool) -> str:
    """Gives the description, else the first body line without its ``#``, else ``(no summary)``.

    Args:
        head: The file's first bytes.
        whole: Whether that is all of it.

    Returns:
        One line, white space collapsed; as long as whoever wrote it made it.

    Raises:
        UnicodeDecodeError: The head is not UTF-8.
    """
    text = decoded(head, whole=whole)
    block, body = mapping_block(text)
    if not block and not whole and text.lstrip("\ufeff").startswith("---"):
        block, body = _unfinished(text)
    line = " ".join(description(block).split()) if block else ""
    if line:
        return line
    for each in body.lstrip("\ufeff").splitlines(keepends=True):
        is_cut = not whole and each is not body and body.endswith(each) and not each.endswith("\n")
        line = " ".join(each[: -_CUT_TAIL if is_cut else None].lstrip(" \t#").split())
        if line:
            return line
    return NO_SUMMARY


def decoded(data: bytes, *, whole: bool) -> str:
    """Decodes UTF-8, strictly; a last character that a cut has halved is left off.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
    """
    return codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)


def _unfinished(text: str) -> tuple[str, str]:
    """Reads a preamble that is longer than the head, up to its last key."""
    last = _LAST_KEY.search(text)
    block, _ = mapping_block(text[: last.start()] + "\n---\n") if last else ("", "")
    return (block, "") if block else ("", text)

r"""Reads the names and values of a ``.env`` file; nothing in it is run or filled in.

``NAME=value``, with or without ``export``; a value in single quotes as it stands, in double quotes
with its escapes (such as ``\n``), both over several lines; else up to the end of its line or to a
``#`` after a space. ``${OTHER}`` stays as it is written: what another program would put there is
not known.
"""

from __future__ import annotations

import re
from typing import Final

from nocturn.errors import ConfigurationError

__all__ = ["parsed"]

_LINE: Final = re.compile(
    r"""
    [^\S\n]* (?:export[^\S\n]+)?
    (?P<name>[^\s=\#'"]+) [^\S\n]* = [^\S\n]*
    (?: '(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)" | (?P<bare>[^\n'"][^\n]*|) )
    [^\S\n]* (?:\#[^\n]*)? (?:\n|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_SKIPPED: Final = re.compile(r"[^\S\n]*(?:#[^\n]*)?(?:\n|\Z)")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$", "'": "'"}


def parsed(text: str) -> dict[str, str]:
    """Reads a file's text.

    Returns:
        Each value by its name, empty ones too; of a name that is there twice, the last.

    Raises:
        ConfigurationError: A line is none of these; its number is told, its words are not.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    values: dict[str, str] = {}
    at = 0
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        line = _LINE.match(text, at)
        if line is None:
            number = text.count("\n", 0, at) + 1
            raise ConfigurationError(f"line {number} of the file is not NAME=value: mend it")
        values[line["name"]] = _value(line)
        at = line.end()
    return values


def _value(line: re.Match[str]) -> str:
    single, double, bare = line["single"], line["double"], line["bare"]
    if single is not None:
        return single
    if double is not None:
        return _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[0]), double)
    return re.split(r"(?:^|\s)#", bare, maxsplit=1)[0].strip()

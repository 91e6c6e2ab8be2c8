r"""Patterns for targets, as a policy has them.

``*`` is any run of characters without a slash, ``**`` one with slashes too, and ``**/`` at the
beginning of a part also no folder at all, so that ``**/x.md`` names ``x.md`` as well. Everything
else is itself; a backslash makes a star, or a backslash, itself too.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from nocturn.errors import ConfigurationError
from nocturn.names import nfc

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Pattern"]

_WILDCARDS: Final = 16


class _Wild(Enum):
    """A piece of a pattern that is no character."""

    STAR = "*"
    DEEP = "**"
    FOLDERS = "**/"
    IN_FOLDER = "in the middle of a folder's name under FOLDERS, where a match cannot go on"


class Pattern:
    """One pattern. Names are compared in NFC, and case counts.

    All states of a match are walked at once, in time that is at most the product of both lengths:
    a backtracking regular expression takes longer than that for some patterns, by far.

    Args:
        text: As it was written.

    Attributes:
        text: The same, in NFC.
        literal: Whether it has no wildcard, and so names one target alone.
        weight: How specific it is: first whether it is literal, then its characters that are no
            wildcards, then whether its stars stay in one folder.

    Raises:
        ConfigurationError: It is empty, has three stars in a row or more than 16 wildcards, or a
            backslash before something else than a star or a backslash.
    """

    __slots__ = ("_prefix", "_rest", "literal", "text", "weight")

    def __init__(self, text: str) -> None:
        self.text: Final = nfc(text)
        tokens = list(_tokens(self.text))
        wild = [
            (at, token)
            for at, token in enumerate(tokens)
            if isinstance(token, _Wild) and token is not _Wild.IN_FOLDER
        ]
        if len(wild) > _WILDCARDS:
            raise ConfigurationError(
                f"it has {len(wild)} wildcards and the limit is {_WILDCARDS}: write several rules"
            )
        plain = wild[0][0] if wild else len(tokens)
        # Most targets differ at once, and that is told before anything is walked.
        self._prefix: Final = "".join(str(token) for token in tokens[:plain])
        self._rest: Final = tokens[plain:]
        self.literal: Final = not wild
        characters = sum(isinstance(token, str) for token in tokens)
        self.weight: Final = (
            self.literal,
            characters,
            all(token is _Wild.STAR for _, token in wild),
        )

    def matches(self, target: str) -> bool:
        """Returns whether this pattern names a target."""
        target = nfc(target)
        if not target.startswith(self._prefix):
            return False
        at = self._open({0})
        for character in target[len(self._prefix) :]:
            at = self._open({place for each in at for place in self._step(each, character)})
            if not at:
                return False
        return len(self._rest) in at

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"

    def _step(self, at: int, character: str) -> tuple[int, ...]:
        """Returns where a match stands that stood at ``at``, one character later."""
        if at == len(self._rest):
            return ()
        match self._rest[at]:
            case _Wild.DEEP:
                return (at,)
            case _Wild.STAR:
                return () if character == "/" else (at,)
            case _Wild.FOLDERS:
                return (at,) if character == "/" else (at + 1,)
            case _Wild.IN_FOLDER:
                return (at - 1,) if character == "/" else (at,)
            case token:
                return (at + 1,) if character == token else ()

    def _open(self, places: set[int]) -> set[int]:
        """Adds where a match can be as well, since a wildcard may stand for nothing."""
        found = set(places)
        for place in places:
            at = place
            while at < len(self._rest):
                token = self._rest[at]
                if token is _Wild.FOLDERS:
                    at += 2
                elif token is _Wild.STAR or token is _Wild.DEEP:
                    at += 1
                else:
                    break
                found.add(at)
        return found


def _tokens(text: str) -> Iterator[str | _Wild]:
    if not text:
        raise ConfigurationError("it is empty: leave it out to name every target")
    at = 0
    while at < len(text):
        if text.startswith("***", at):
            raise ConfigurationError("three stars in a row mean nothing: write ** or *")
        if text[at] == "\\":
            if text[at + 1 : at + 2] not in ("*", "\\"):
                raise ConfigurationError(
                    r"a backslash stands before a star or a backslash only: \* is a star, \\ is "
                    "a backslash, and in TOML such a text is best in single quotes"
                )
            yield text[at + 1]
            at += 2
        elif text.startswith("**/", at) and text[at - 1 : at] in ("", "/"):
            yield from (_Wild.FOLDERS, _Wild.IN_FOLDER)
            at += 3
        elif text.startswith("**", at):
            yield _Wild.DEEP
            at += 2
        else:
            yield _Wild.STAR if text[at] == "*" else text[at]
            at += 1

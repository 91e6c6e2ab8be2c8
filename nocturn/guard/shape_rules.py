"""The rules of ``shapes.json``: what the tokens of well-known services look like.

Each rule is of one of three kinds:

- ``starts`` and ``then``: what the service puts before its tokens, and the form of the rest.
- ``holds`` and ``form``: a form that is its own, looked for where one of the words in ``holds``
  occurs; group 1 is the token.
- ``beside`` and ``value``: no more than a form that many things have (a commit's hash, a request's
  id), which counts as the value of a name that holds one of the words in ``beside``.

The first two kinds block, but for a rule that ``warns``; the third warns and never blocks.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum
from functools import cache
from json import load
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import re2

__all__ = ["Kind", "Rule", "compiled", "public_characters", "rules"]

_FILE: Final = "shapes.json"
_PUBLIC_CHARACTERS: Final = 4_096
"""What leads a token and is public ends before."""


class Kind(Enum):
    """How a rule knows a token."""

    BESIDE = "by the name that it is the value of"
    FORM = "by a form that nothing else has"
    START = "by what the service puts before it"


_KINDS: Final = (
    # kind, where its words are, where its pattern is
    (Kind.BESIDE, "beside", "value"),
    (Kind.FORM, "holds", "form"),
    (Kind.START, "starts", "then"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One line of ``shapes.json``, as the search needs it.

    Attributes:
        id: The rule's name.
        what: What it finds, in words: ``a GitHub token``.
        kind: How it knows a token.
        words: One of them must occur; in their own case where a token starts with them.
        pattern: What follows the word, what is looked for (group 1 is the token), or what the value
            is: by kind.
        entropy: The least that the secret part must have, in bits a character.
        blocks: Whether a hit blocks.
        plain: Whether the secret part may be made of words and numbers.
        public: A pattern for what leads a token of this form and is no secret; may be empty.
    """

    id: str
    what: str
    kind: Kind
    words: tuple[str, ...]
    pattern: str
    entropy: float
    blocks: bool
    plain: bool
    public: str


@cache
def rules() -> tuple[Rule, ...]:
    """Returns the rules, in the order of the file: of two that fit alike the first one counts."""
    # Not importlib.resources, which costs more than the file.
    with open(os.path.join(os.path.dirname(__file__), _FILE), encoding="utf-8") as file:
        return tuple(map(_rule, load(file)))


@cache
def compiled(pattern: str) -> re2.Pattern:
    """Returns a pattern, compiled once it is needed and not before."""
    import re2

    options = re2.Options()
    options.log_errors = False  # to stderr, where the pattern would be met by nobody
    return re2.compile(pattern.encode("ascii"), options)


def public_characters(value: str) -> int:
    """Returns how many leading characters of a secret its service's format gives away.

    Args:
        value: A secret; it may be cut short, or be none of a service's at all.
    """
    match = compiled(_public()).match(value[:_PUBLIC_CHARACTERS].encode("ascii", "replace"))
    return match.end() if match else 0


@cache
def _public() -> str:
    """Returns one pattern for all that is public: what tokens start with, the longest first."""
    starts = {word for rule in rules() if rule.kind is Kind.START for word in rule.words}
    longest_first = sorted(starts, key=lambda word: (-len(word), word))
    forms = [rule.public for rule in rules() if rule.public]
    return "|".join([*forms, *map(re.escape, longest_first)])


def _rule(line: dict[str, Any]) -> Rule:
    kind, words, pattern = next(
        (kind, line[words], line[pattern]) for kind, words, pattern in _KINDS if words in line
    )
    return Rule(
        id=line["id"],
        what=line["what"],
        kind=kind,
        words=tuple(words),
        pattern=pattern,
        entropy=line["entropy"],
        blocks=kind is not Kind.BESIDE and not line.get("warns", False),
        plain=line.get("plain", False),
        public=line.get("public", ""),
    )

"""Reads the text of a ``policy.toml``; whatever is wrong with it is said with its line.

``default.toml`` beside this file is what a new workspace gets; it says all that can be written.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nocturn.effects import Mode, Recall
from nocturn.errors import ConfigurationError, NocturnError
from nocturn.guard.pattern import Pattern
from nocturn.guard.policy import DEFAULT, NOTE_VERBS, POLICY, Decision, Policy, Rule
from nocturn.names import agent_name, nfc, note_path
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

__all__ = ["default_text", "policy_of"]

_SHOWN_CHARACTERS: Final = 40

_Word: TypeAlias = Annotated[str, Field(min_length=1, max_length=256)]
_Words: TypeAlias = _Word | Annotated[list[_Word], Field(min_length=1)]
_ModeName: TypeAlias = Literal["strict", "guarded", "watched"]

_TAKES: Final = {
    "version": "1, once, above all rules",
    "rule": "a table of its own for each rule, under the line [[rule]]",
    "ruling": "deny, ask or allow",
    "recall": "never, session or always",
    "kind": 'a kind such as "memory", or "*" for every kind',
    "verb": 'a verb such as "write", or a list of them',
    "target": 'a pattern such as "people/*"',
    "mode": "strict, guarded or watched, or a list of them",
    "agent": "an agent's name, or a list of them",
}
"""What each key takes, for people."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    ruling: Literal["deny", "ask", "allow"]
    recall: Literal["never", "session", "always"] | None = None
    kind: _Word
    verb: _Words | None = None
    target: Annotated[str, Field(min_length=1, max_length=1_024)] | None = None
    mode: _ModeName | Annotated[list[_ModeName], Field(min_length=1)] | None = None
    agent: _Words | None = None


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    version: Annotated[int, Field(ge=1, le=1)]  # a Literal would take 1.0 and true as well
    rule: list[_Row] = []


def policy_of(data: bytes) -> Policy:
    """Returns the policy that a file says; the built-in one lies beneath its rules.

    Args:
        data: The file's bytes, TOML in UTF-8.

    Raises:
        ConfigurationError: It is broken; the message begins with the file and the line.
    """
    text = _decoded(data)
    lines = _Lines(text)
    try:
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # The parser's own text is not ours to show; where it stopped is.
        place = re.search(r"at line (\d+), column (\d+)", str(error))
        line = int(place[1]) if place else lines.last
        reason = "this is no TOML" + (f" from column {place[2]} on" if place else "")
        raise _wrong(line, f"{reason}: mend it, a text stands in quotes") from None
    try:
        table = _Table.model_validate(parsed)
    except ValidationError as error:
        raise _invalid(lines, error.errors(include_url=False, include_input=False)[0]) from None
    if len(lines.rules) != len(table.rule):
        raise _wrong(lines.of("rule"), f"rule must be {_TAKES['rule']}")
    rules = [_rule(row, lines, at) for at, row in enumerate(table.rule)]
    return Policy(rules, beneath=DEFAULT)


def default_text() -> bytes:
    """Returns the commented policy that a new workspace gets; it has no rules of its own."""
    from importlib.resources import files

    return files("nocturn.guard").joinpath("default.toml").read_bytes()


class _Lines:
    """Where things stand in a text: tomllib tells what is there, and not where.

    A rule that is written another way, or a header inside a longer text, does not add up with the
    rules that were found, and is refused.
    """

    _HEADER: Final = re.compile(r"""\s*\[\[\s*["']?rule["']?\s*\]\]""")

    def __init__(self, text: str) -> None:
        self._lines = re.split("\r?\n", text)
        self.last = len(self._lines)
        self.rules = [at for at, line in enumerate(self._lines, 1) if self._HEADER.match(line)]

    def of(self, key: str, rule: int | None = None) -> int:
        """Returns the line of a key, in a rule or above all rules; else where that begins."""
        starts = [1, *self.rules]
        begin = 0 if rule is None else rule + 1
        end = starts[begin + 1] - 1 if begin + 1 < len(starts) else self.last
        start = starts[begin] if begin < len(starts) else 1
        pattern = re.compile(rf"""\s*\[*\s*["']?{re.escape(key)}["']?\s*[=.\]]""")
        return next(
            (at for at in range(start, end + 1) if pattern.match(self._lines[at - 1])), start
        )


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    raise _wrong(line, "this is not UTF-8: save the file as UTF-8")


def _invalid(lines: _Lines, error: ErrorDetails) -> ConfigurationError:
    where = [*error["loc"], ""]
    # ("rule", its number, its key, …) inside of a rule, else (its key, …).
    rule = where[1] if where[0] == "rule" and isinstance(where[1], int) else None
    key = str(where[0] if rule is None else where[2] or where[0])
    line = lines.of(key, rule)
    if error["type"] == "missing":
        return _wrong(line, f"{key} is missing: it must be {_TAKES[key]}")
    if key not in _TAKES:
        shown = visible(key[:_SHOWN_CHARACTERS], keep="")
        known = ", ".join(_Table.model_fields if rule is None else _Row.model_fields)
        return _wrong(line, f'there is no key "{shown}": the keys are {known}')
    return _wrong(line, f"{key} must be {_TAKES[key]}")


def _rule(row: _Row, lines: _Lines, at: int) -> Rule:
    def wrong(key: str, reason: str) -> ConfigurationError:
        return _wrong(lines.of(key, at), reason)

    if row.recall is not None and row.ruling != "ask":
        raise wrong(
            "recall", f"recall is for ask alone: leave it out where the ruling is {row.ruling}"
        )
    verbs, agents = _names(row.verb), _names(row.agent)
    if row.kind == "memory" and verbs and not verbs <= NOTE_VERBS:
        raise wrong("verb", f"a note's verbs are {', '.join(sorted(NOTE_VERBS))}")
    for name in agents or ():
        try:
            agent_name(name)
        except NocturnError as error:
            raise wrong("agent", error.message) from None
    target = None
    if row.target is not None:
        try:
            target = Pattern(row.target)
        except ConfigurationError as error:
            raise wrong("target", f"target is no pattern, {error.message}") from None
        reason = _never_a_note(target) if row.kind == "memory" else ""
        if reason:
            raise wrong("target", f"target names no note, {reason}")
    modes = _names(row.mode)
    return Rule(
        kind=None if row.kind == "*" else row.kind,
        verbs=verbs,
        modes=None if modes is None else frozenset(map(Mode, modes)),
        decision=Decision[row.ruling.upper()],
        ceiling=Recall[(row.recall or "never").upper()],
        target=target,
        agents=agents,
        where=f"{POLICY}:{lines.rules[at]}",
    )


def _names(given: str | Iterable[str] | None) -> frozenset[str] | None:
    if given is None:
        return None
    return frozenset([given] if isinstance(given, str) else given)


def _never_a_note(pattern: Pattern) -> str:
    """Returns why a pattern can name no note's canonical path: a deny like that would be a hole."""
    text = pattern.text
    if pattern.literal:
        name = text.replace("\\*", "*").replace("\\\\", "\\")
        try:
            return "" if note_path(name) == nfc(name) else "it is not in canonical form"
        except NocturnError as error:
            return error.message
    parts = text.split("/")
    if {"", ".", ".."}.intersection(parts):
        return "it has an empty part, . or .. in it: give each folder once, relative to memory/"
    tail = text.rpartition("*")[2].lower()
    if not (tail.endswith(".md") or ".md".endswith(tail)):
        return "a note ends in .md"
    return ""


def _wrong(line: int, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{POLICY}:{line}: {reason}")

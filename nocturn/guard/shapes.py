"""Finds secrets by their shape: the tokens of well-known services, keys, passwords in URLs.

What the shapes are is data (``shape_rules``). A rule is looked at when one of its words occurs, so
that a text without any costs one search for all of them. RE2 takes linear time whatever the text.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from nocturn.guard.plausible import has_digit, is_inside_data, is_plausible
from nocturn.guard.shape_rules import Kind, Rule, compiled, public_characters, rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ahocorasick_rs import BytesAhoCorasick

__all__ = ["ShapeHit", "public_characters", "shapes_in"]

_MOST_HITS: Final = 1_000
"""Of each sort, blocks and warnings: whoever reads so many reads none."""
_MOST_LOOKED_AT: Final = 10_000
"""Of what might be a token, in one text, for each rule; a text that has more is no note."""
_CROWDED: Final = "more that looks like a secret than can be looked at"
_NAMED: Final = (
    r"[\w.\- \t]{0,32}?"  # the rest of the name
    r"[\\\"'`\])]{0,4}[ \t]{0,8}(?:string[ \t]+)?"
    r"(?:[:?.|+!]{0,3}=[=>]?|:|[\"'`][ \t]{0,4},|>)\s{0,24}"
    r"(?:[\\\"'`(]{0,3}(?i:bearer|basic|token|apikey)[ \t]+)?"
    r"(?:\"([^\"\s\\]{6,512})\"|'([^'\s\\]{6,512})'|`([^`\s\\]{6,512})`"
    r"|[\\\"'`(]{0,3}([\w.~+/=:@$!#%^*?-]{6,512}))"
)
"""From a word in a name to the value: ``token = "…"``, ``"token": "…"``, ``<token>…</token>``."""
_NAMED_CHARACTERS: Final = 640


@dataclass(frozen=True, slots=True)
class ShapeHit:
    """A token that was found by its shape.

    Attributes:
        rule: The rule's id.
        what: What it is, in words: ``a GitHub token``.
        start: Where the token begins, in characters; the name beside it is not part of it.
        end: Where it ends.
        blocks: Whether it must not pass; else a person is warned of it.
    """

    rule: str
    what: str
    start: int
    end: int
    blocks: bool


def shapes_in(text: str) -> list[ShapeHit]:
    """Finds what has the shape of a secret. A comment that allows it is text like any other.

    Args:
        text: Any text, lone surrogates and NUL included.

    Returns:
        The hits, sorted, none within another; at most 1,000 that block and 1,000 that warn.
    """
    # One byte a character, whatever it was: offsets stay, and no token has a question mark.
    view = text.encode("ascii", "replace")
    automaton, owners = _words()
    found = automaton.find_matches_as_indexes(view.lower(), overlapping=True)
    if not found:
        return []
    active, named = _active(view, found, owners)
    hits = [hit for rule in rules() if rule in active for hit in _own(view, rule)]
    blocks = _apart(hit for hit in hits if hit.blocks)
    warnings = [hit for hit in hits if not hit.blocks]
    if named:
        warnings += _beside(view, named)
    warnings = _outside(_apart(warnings), blocks)
    return sorted(blocks + warnings, key=lambda hit: (hit.start, hit.end))


@cache
def _words() -> tuple[BytesAhoCorasick, list[list[tuple[Rule, bytes]]]]:
    """Returns the automaton of all words in lower case, and for each the rules that have it.

    With each rule stands the word as it must be spelled; nothing where any case will do.
    """
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    owners: dict[bytes, list[tuple[Rule, bytes]]] = {}
    for rule in rules():
        for word in rule.words:
            spelled = word.encode() if rule.kind is Kind.START else b""
            owners.setdefault(word.lower().encode(), []).append((rule, spelled))
    automaton = BytesAhoCorasick(list(owners), matchkind=MatchKind.Standard)
    return automaton, list(owners.values())


def _active(
    view: bytes, found: list[tuple[int, int, int]], owners: list[list[tuple[Rule, bytes]]]
) -> tuple[set[Rule], list[tuple[int, Rule]]]:
    """Returns the rules to look at, and where a name has a word of which rule."""
    active: set[Rule] = set()
    named: list[tuple[int, Rule]] = []
    for at, start, end in found:
        for rule, spelled in owners[at]:
            if rule.kind is Kind.BESIDE:
                if _stands_alone(view, start, end):
                    named.append((end, rule))
            elif rule not in active and (
                not spelled or (view[start:end] == spelled and not _is_glued(view, start))
            ):
                active.add(rule)
    return active, named


def _is_glued(view: bytes, start: int) -> bool:
    """Whether a letter or a digit stands before, and is not the end of an escape."""
    return (
        view[start - 1 : start].isalnum()
        and view[start - 2 : start - 1] != b"\\"
        and view[start - 3 : start - 2] != b"%"
    )


def _stands_alone(view: bytes, start: int, end: int) -> bool:
    """Whether a word in a name is one: in ``apiToken`` and ``API_TOKEN``, not in ``tokenized``."""
    before, first = view[start - 1 : start], view[start : start + 1]
    last, after = view[end - 1 : end], view[end : end + 1]
    return (not before.isalpha() or (before.islower() and first.isupper())) and (
        not after.isalpha() or (last.islower() and after.isupper())
    )


def _own(view: bytes, rule: Rule) -> Iterator[ShapeHit]:
    """Yields what has the rule's own form."""
    hits = 0
    for looked_at, match in enumerate(compiled(rule.pattern).finditer(view)):
        start, end = match.span(1)
        if looked_at == _MOST_LOOKED_AT:
            yield ShapeHit(rule.id, _CROWDED, start, len(view), rule.blocks)
            return
        secret = match.groups()[-1]
        if is_plausible(secret, rule.entropy, plain=rule.plain) and not is_inside_data(view, start):
            yield ShapeHit(rule.id, rule.what, start, end, rule.blocks)
            hits += 1
            if hits == _MOST_HITS:
                return


def _beside(view: bytes, named: list[tuple[int, Rule]]) -> Iterator[ShapeHit]:
    """Yields the values of names that hold a rule's word."""
    road = compiled(_NAMED)
    done: set[int] = set()
    for at, rule in named[:_MOST_LOOKED_AT]:
        match = road.match(view, at, at + _NAMED_CHARACTERS)
        if match is None:
            continue
        start, end = next(span for span in map(match.span, range(1, 5)) if span[0] >= 0)
        value = view[start:end]
        if (
            start not in done
            and compiled(rule.pattern).fullmatch(value)
            and has_digit(value)
            and is_plausible(value, rule.entropy, plain=rule.plain)
        ):
            done.add(start)
            yield ShapeHit(rule.id, rule.what, start, end, blocks=False)
    if len(named) > _MOST_LOOKED_AT:
        at, rule = named[_MOST_LOOKED_AT]
        yield ShapeHit(rule.id, _CROWDED, at, len(view), blocks=False)


def _apart(hits: Iterable[ShapeHit]) -> list[ShapeHit]:
    """Returns the hits in order, without those that are within another."""
    kept: list[ShapeHit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if not kept or hit.end > kept[-1].end:
            kept.append(hit)
    return kept[:_MOST_HITS]


def _outside(warnings: list[ShapeHit], blocks: list[ShapeHit]) -> list[ShapeHit]:
    """Returns the warnings that touch no block. Both are in order, by start and by end."""
    starts = [hit.start for hit in blocks]

    def is_free(hit: ShapeHit) -> bool:
        after = bisect_left(starts, hit.end)
        return after == 0 or blocks[after - 1].end <= hit.start

    return [hit for hit in warnings if is_free(hit)]

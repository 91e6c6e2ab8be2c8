"""Finds secrets by their shape: the tokens of well-known services, keys, passwords in URLs.

What the shapes are is data (``shape_rules``). A rule is looked at when one of its words occurs, so
that a text without any costs one search for all of them. RE2 takes linear time whatever the text.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from nocturn.guard.plausible import is_inside_data, is_plausible, next_digit
from nocturn.guard.shape_rules import Kind, Rule, compiled, public_characters, rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ahocorasick_rs import BytesAhoCorasick

__all__ = ["ShapeHit", "public_characters", "shapes_in"]

_MOST_HITS: Final = 1_000
"""Of each sort, blocks and warnings: whoever reads so many reads none."""
_MOST_LOOKED_AT: Final = 20_000
"""Of places where a secret might be, in one text; what has more is no note."""
_CROWDED: Final = "more that might be secret than can be looked at"
_TOKEN_CHARACTERS: Final = 4_096
"""A token is looked for within so many; one that goes on is taken whole."""
_REST: Final = r"[\w+/=.-]*"
_ROAD: Final = (
    r"[\w.\-]{0,32}?(?:[ \t]+[\w\-]{1,16}){0,2}?"  # the rest of the name, two more words
    r"[\\\"'`\])]{0,4}[ \t]{0,8}(?:string[ \t]+)?"
    r"(?:[:?.|+!]{0,3}=[=>]?|:|[\"'`][ \t]{0,4},|>)\s{0,24}"
    r"(?:[\\\"'`(]{0,3}(?i:bearer|basic|token|apikey|api-token)[ \t]+)?"
    r"[\\\"'`(]{0,3}"
)
"""From a word in a name to the value: ``token = "…"``, ``"token": "…"``, ``<token>…</token>``."""
_ROAD_CHARACTERS: Final = 128
_VALUE_CHARACTERS: Final = 512
_BARE: Final = r"[\w.~+/=:@$!#%^*?-]{6,512}"
_QUOTED: Final = r"[^\s\\\"'`]{6,512}"


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
    places = _places(view, found, owners)
    hits = [*_started(view, places.starts), *_formed(view, places.forms)]
    blocks = _apart(hit for hit in hits if hit.blocks)
    beside = _beside(view, places.names)
    warnings = _apart([*(hit for hit in hits if not hit.blocks), *beside])
    return sorted(blocks + _outside(warnings, blocks), key=lambda hit: (hit.start, hit.end))


@cache
def _words() -> tuple[BytesAhoCorasick, list[list[tuple[Rule, bytes]]]]:
    """Returns the automaton of all words in lower case, and for each the rules that have it.

    With each rule stands the word as it is spelled there.
    """
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    owners: dict[bytes, list[tuple[Rule, bytes]]] = {}
    for rule in rules():
        for word in rule.words:
            owners.setdefault(word.lower().encode(), []).append((rule, word.encode()))
    automaton = BytesAhoCorasick(list(owners), matchkind=MatchKind.Standard)
    return automaton, list(owners.values())


@dataclass(frozen=True, slots=True)
class _Places:
    """Where to look closer.

    Attributes:
        starts: Where a token may start, where what is secret of it does, and by which rule.
        forms: The rules whose form may be anywhere.
        names: Where a word in a name ends, and whose word it is.
    """

    starts: list[tuple[int, int, Rule]]
    forms: dict[Rule, None]
    names: list[tuple[int, Rule]]


def _places(
    view: bytes, found: list[tuple[int, int, int]], owners: list[list[tuple[Rule, bytes]]]
) -> _Places:
    places = _Places([], {}, [])
    for at, start, end in found:
        for rule, spelled in owners[at]:
            if rule.kind is Kind.START:
                if view[start:end] == spelled and not _is_glued(view, start):
                    places.starts.append((start, end, rule))
            elif rule.kind is Kind.FORM:
                places.forms[rule] = None
            elif _stands_alone(view, start, end):
                places.names.append((end, rule))
    return places


def _is_glued(view: bytes, start: int) -> bool:
    """Whether a letter or a digit stands before, and is not the end of an escape."""
    before = view[max(0, start - 3) : start]
    return before[-1:].isalnum() and before[-2:-1] != b"\\" and before[:-2] != b"%"


def _stands_alone(view: bytes, start: int, end: int) -> bool:
    """Whether a word in a name is one: in ``apiToken`` and ``API_TOKEN``, not in ``tokenized``."""
    before, first = view[max(0, start - 1) : start], view[start : start + 1]
    last, after = view[end - 1 : end], view[end : end + 1]
    return (not before.isalpha() or (before.islower() and first.isupper())) and (
        not after.isalpha() or (last.islower() and after.isupper())
    )


def _started(view: bytes, starts: list[tuple[int, int, Rule]]) -> Iterator[ShapeHit]:
    """Yields the tokens that start as their service's do."""
    reach: dict[Rule, int] = {}
    for start, at, rule in starts[:_MOST_LOOKED_AT]:
        if start < reach.get(rule, 0):
            continue
        limit = at + _TOKEN_CHARACTERS
        match = compiled(rule.pattern).match(view, at, limit)
        if match is None:
            continue
        end = match.end()
        if (end < limit and _goes_on(view, end)) or not _is_secret(rule, view, start, view[at:end]):
            continue
        if end == limit and (rest := compiled(_REST).match(view, end)):
            end = rest.end()
        reach[rule] = end  # and not before: a dummy must not hide what starts within it
        yield ShapeHit(rule.id, rule.what, start, end, rule.blocks)
    if len(starts) > _MOST_LOOKED_AT:
        start, _, rule = starts[_MOST_LOOKED_AT]
        yield _crowded(rule, view, start, blocks=True)  # among the rest may be what blocks


def _goes_on(view: bytes, end: int) -> bool:
    """Whether a letter, a digit or an underscore follows: then it is another, longer thing."""
    after = view[end : end + 1]
    return after.isalnum() or after == b"_"


def _formed(view: bytes, forms: Iterable[Rule]) -> Iterator[ShapeHit]:
    """Yields what has a form of its own."""
    for rule in forms:
        hits = 0
        for looked_at, match in enumerate(compiled(rule.pattern).finditer(view)):
            start, end = match.span(1)
            if looked_at == _MOST_LOOKED_AT:
                yield _crowded(rule, view, start, blocks=rule.blocks)
                break
            if _is_secret(rule, view, start, view[start:end]):
                yield ShapeHit(rule.id, rule.what, start, end, rule.blocks)
                hits += 1
                if hits == _MOST_HITS:
                    break


def _beside(view: bytes, names: list[tuple[int, Rule]]) -> Iterator[ShapeHit]:
    """Yields the values of names that hold a rule's word."""
    reach = digit = 0
    for at, rule in names[:_MOST_LOOKED_AT]:
        if digit < at:  # no value is without one, and most names are in prose
            digit = next_digit(view, at)
        if at < reach or digit - at > _ROAD_CHARACTERS + _VALUE_CHARACTERS:
            continue
        road = compiled(_ROAD).match(view, at, at + _ROAD_CHARACTERS)
        if road is None:
            continue
        start = road.end()
        is_quoted = view[start - 1 : start] in (b'"', b"'", b"`")
        match = compiled(_QUOTED if is_quoted else _BARE).match(view, start)
        if match is None:
            continue
        value = match.group()
        if (
            next_digit(value, 0) < len(value)
            and b"://" not in value
            and compiled(rule.pattern).fullmatch(value)
            and _is_secret(rule, view, start, value)
        ):
            reach = match.end()
            yield ShapeHit(rule.id, rule.what, start, reach, rule.blocks)
    if len(names) > _MOST_LOOKED_AT:
        at, rule = names[_MOST_LOOKED_AT]
        yield _crowded(rule, view, at, blocks=False)


def _is_secret(rule: Rule, view: bytes, start: int, secret: bytes) -> bool:
    return is_plausible(secret, rule.entropy, plain=rule.plain) and not is_inside_data(view, start)


def _crowded(rule: Rule, view: bytes, start: int, *, blocks: bool) -> ShapeHit:
    """Returns one hit for all that was not looked at, so that no crowd hides a secret."""
    return ShapeHit(rule.id, _CROWDED, start, len(view), blocks)


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

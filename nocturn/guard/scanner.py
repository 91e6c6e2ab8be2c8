"""Finds and strikes out the values of secrets, however they are dressed.

Each text is looked at in many ways (``views``); in each, every piece of every value is found
(``index``), and the pieces are weighed (``cover``). It is a net and not a proof:
``docs/security.md`` has what was measured and what cannot be found.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import threading
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from nocturn.guard.cover import Cover, Gathered
from nocturn.guard.reading import View, together
from nocturn.limits import SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nocturn.guard.index import Index, Piece
    from nocturn.guard.ports import SecretSource
    from nocturn.guard.reading import Reading
    from nocturn.guard.target import Target
    from nocturn.secret import Secret

__all__ = [
    "REDACTED",
    "SHAPED_CHARACTERS",
    "Scanner",
    "border_characters",
    "strings_in",
    "struck_out",
]

_LOG: Final = logging.getLogger("nocturn")

REDACTED: Final = "[REDACTED]"
"""What stands where a secret stood."""

_APART: Final = "\0"
"""Between texts that are scanned as one: in no alphabet, no white space, composes with nothing."""
_GENERATION: Final = 1
"""Raise it when more is found than before: what was derived by less must be derived anew."""
_SHORT: Final = 128
"""A text of so many characters is remembered with what became of it."""
SHAPED_CHARACTERS: Final = 16
"""A shorter text has no token in it, so that a run that only reads loads no rules for them."""
_MANY_PIECES: Final = 4_096
_EDGE: Final = 128
"""Characters at either end of a text that are looked at joined to another's. What is longer has 64
bits on one side of the border, by which it is found."""


@dataclass(slots=True)
class _Found:
    """What was found of each value, and where."""

    covers: dict[Target, Cover] = field(default_factory=dict["Target", Cover])
    pieces: list[tuple[Piece, Reading]] = field(default_factory=list[tuple["Piece", "Reading"]])
    tries: int = 0

    def leaks(self, trail: Gathered | None = None) -> list[Target]:
        """Returns the values that count as found, with what this run carried before."""
        tries = self.tries + (trail.tries if trail else 0)
        leaked: list[Target] = []
        for target, cover in self.covers.items():
            before = trail.covers.get(target) if trail else None
            if before is not None:
                cover.join(before)
            if cover.is_leak(tries):
                leaked.append(target)
        return leaked


class Scanner:
    """Looks for the values of secrets. Safe to use from many threads.

    Args:
        sources: Where the secrets come from; read on first use, and again by :meth:`renew`.

    Every method raises what a source raises (``ConfigurationError``) on that first use.
    """

    def __init__(self, sources: Iterable[SecretSource]) -> None:
        self._sources = tuple(sources)
        self._secrets: tuple[Secret, ...] | None = None if self._sources else ()
        self._indexes: dict[View, Index] | None = None
        self._lock = threading.Lock()
        # Names of tools, keys and targets come again with each call, and once more for the journal.
        self._redact_short = lru_cache(maxsize=512)(self._redact)

    @property
    def armed(self) -> bool:
        """Whether there is anything to look for."""
        if self._secrets is None:
            with self._lock:
                return bool(self._known())
        return bool(self._secrets)

    def renew(self) -> None:
        """Reads the sources again. What is being scanned meanwhile is scanned for what was known.

        Raises:
            ConfigurationError: A source cannot be read; what was known stays.
        """
        with self._lock:
            self._read()

    def state(self) -> bytes:
        """Returns a hash of what decides on what is found: the secrets, and :data:`_GENERATION`.

        Whoever has it can try guesses at the values against it, so it is never kept as it is.
        """
        with self._lock:
            secrets = self._known()
        hashed = hashlib.sha256(b"%d\0" % _GENERATION)
        for value in sorted({each.value for each in secrets}):
            data = value.encode("utf-8", "surrogatepass")
            hashed.update(b"%d:%b" % (len(data), data))
        return hashed.digest()

    def finds(self, text: str) -> bool:
        """Returns whether the text holds a secret."""
        return bool(self.names(text))

    def names(self, text: str) -> tuple[str, ...]:
        """Returns the names of the secrets that the text holds, sorted. For people only."""
        return _names(self._look(text, all_of_it=False).leaks()) if text else ()

    def found(self, text: str) -> list[tuple[str, int, int]]:
        """Returns ``(name, start, end)`` of each stretch with something of a secret, sorted."""
        found = self._look(text)
        leaked = set(found.leaks())
        if not leaked:
            return []
        stretches: dict[str, set[tuple[int, int]]] = {}
        for piece, reading in found.pieces:
            if piece.target in leaked:
                spans = stretches.setdefault(piece.target.name, set())
                spans.update(reading.stretches(piece.at, piece.at + piece.size))
        in_text = _offsets(text)
        return sorted(
            (name, *in_text(*span)) for name, spans in stretches.items() for span in together(spans)
        )

    def names_across(self, texts: Sequence[str], trail: Gathered | None = None) -> tuple[str, ...]:
        """Returns the names of the secrets that stand in texts that belong together.

        They are looked at as one, so that pieces in several of them add up; and of each ordered
        pair the border is looked at joined, where a value could straddle it. As long as nothing
        blocks, the work depends on the texts alone, so that its time tells nothing more.

        Args:
            texts: All strings of one call.
            trail: What the run was allowed to carry before; grows by this call if it holds nothing.
        """
        indexes = self._compiled()
        if not indexes:
            return ()
        from nocturn.guard.views import border_views

        found = self._look(_APART.join(texts), all_of_it=False)
        for view, reading in border_views(_APART.join(_borders(texts))):
            self._search(indexes, view, reading, found)
        names = _names(found.leaks(trail))
        if trail is not None and not names:
            trail.grow(found.covers.items(), found.tries)
        return names

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns ``(start, end)`` of what must not be seen, sorted, apart from each other.

        Those are values, and what has the shape of a token that nobody put into the vault.
        """
        return together([*_shaped(text), *((start, end) for _, start, end in self.found(text))])

    def redact(self, text: str) -> str:
        """Returns the text with ``[REDACTED]`` for each span."""
        return self._redact_short(text) if len(text) <= _SHORT else self._redact(text)

    def _redact(self, text: str) -> str:
        return struck_out(text, self.spans(text))

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """Returns each text redacted. They are looked at together: thousands cost one look."""
        spans = self.spans(_APART.join(texts))
        if not spans:
            return [*texts]
        redacted: list[str] = []
        begin = 0
        for text in texts:
            end = begin + len(text)
            # A stretch over a border strikes out its part of either text.
            first = bisect_right(spans, begin, key=lambda span: span[1])
            last = bisect_left(spans, end, key=lambda span: span[0])
            inner = [
                (max(start, begin) - begin, min(stop, end) - begin)
                for start, stop in spans[first:last]
            ]
            redacted.append(struck_out(text, inner))
            begin = end + len(_APART)
        return redacted

    def redact_value(self, value: Any) -> Any:
        """Returns a JSON value with every string in it redacted, keys too.

        Not recursive, since values come from guests and tools. Two keys that become the same are
        numbered, so that nothing is lost.

        Args:
            value: What JSON can hold; tuples become lists.
        """
        if not isinstance(value, str | dict | list | tuple):
            return value
        texts = [*dict.fromkeys(strings_in(value))]
        seen = dict(zip(texts, self.redact_all(texts), strict=True))
        top: list[Any] = [None]
        todo: list[tuple[Any, Any, Any]] = [(value, top, 0)]
        while todo:
            item, holder, key = todo.pop()
            if isinstance(item, str):
                holder[key] = seen[item]
            elif isinstance(item, dict):
                into: dict[Any, Any] = {}
                holder[key] = into
                names: list[Any] = [*item]
                todo += (
                    (item[name], into, _free_key(seen.get(name, name), into)) for name in names
                )
            elif isinstance(item, list | tuple):
                row: list[Any] = [*item]
                holder[key] = row
                todo += ((each, row, at) for at, each in enumerate(row))
            else:
                holder[key] = item
        return top[0]

    def _look(self, text: str, *, all_of_it: bool = True) -> _Found:
        found = _Found(tries=len(text))
        indexes = self._compiled() if text else {}
        if indexes:
            from nocturn.guard.views import views

            for view, reading in views(text):
                self._search(indexes, view, reading, found)
                # Whoever has so many pieces of values together has them: the answer stands.
                if not all_of_it and len(found.pieces) > _MANY_PIECES and found.leaks():
                    break
        return found

    @staticmethod
    def _search(indexes: dict[View, Index], view: View, reading: Reading, found: _Found) -> None:
        for piece in indexes[view].pieces(reading.data):
            target = piece.target
            cover = found.covers.get(target)
            if cover is None:
                cover = found.covers[target] = Cover(target)
            cover.add(piece, plain=reading.plain)
            found.pieces.append((piece, reading))

    def _compiled(self) -> dict[View, Index]:
        """Returns what to look for, made ready on first use: most runs carry nothing anywhere."""
        indexes = self._indexes
        if indexes is None:
            with self._lock:
                indexes = self._indexes
                if indexes is None:
                    secrets = self._known()
                    self._indexes = indexes = _indexes(secrets) if secrets else {}
        return indexes

    def _known(self) -> tuple[Secret, ...]:
        return self._read() if self._secrets is None else self._secrets

    def _read(self) -> tuple[Secret, ...]:
        secrets = [each for source in self._sources for each in source.secrets()]
        _warn_of_short(secrets)
        self._secrets = known = tuple(each for each in secrets if _is_long_enough(each))
        self._indexes = None
        # A new memory, last: what is at work now may still remember what was not known then.
        self._redact_short = lru_cache(maxsize=512)(self._redact)
        return known


def _shaped(text: str) -> Iterator[tuple[int, int]]:
    """Yields what has the shape of a token; of a short text not even the shapes are loaded."""
    if len(text) >= SHAPED_CHARACTERS:
        from nocturn.guard.shapes import shapes_in

        yield from ((hit.start, hit.end) for hit in shapes_in(text) if hit.blocks)


def struck_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Returns the text with ``[REDACTED]`` for each span; they are sorted and do not touch."""
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces += (text[at:start], REDACTED)
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def strings_in(value: Any) -> Iterator[str]:
    """Yields every string in a value, keys included, in order; not recursive, as guests nest."""
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
            continue
        inner: list[Any] = []
        if isinstance(item, dict):
            pairs: list[tuple[Any, Any]] = [*item.items()]
            inner = [each for pair in pairs for each in pair]
        elif isinstance(item, list | tuple | set | frozenset):
            inner = [*item]
        todo += reversed(inner)


def _free_key(seen: Any, into: dict[Any, Any]) -> Any:
    """Returns the key as it may be seen, and keeps its place in the order."""
    free, number = seen, 2
    while free in into:
        free, number = f"{seen} ({number})", number + 1
    into[free] = None
    return free


def border_characters(texts: Sequence[str]) -> int:
    """Returns how many characters :meth:`Scanner.names_across` looks at in pairs of texts."""
    return sum(min(len(each), _EDGE) for each in texts) * 2 * max(len(texts) - 1, 0)


def _borders(texts: Iterable[str]) -> Iterator[str]:
    for first, second in itertools.permutations(texts, 2):
        if first and second:
            yield first[-_EDGE:] + second[:_EDGE]


def _indexes(secrets: Iterable[Secret]) -> dict[View, Index]:
    from nocturn.guard import index
    from nocturn.guard.shapes import public_characters
    from nocturn.guard.target import targets_of

    targets = [
        target for each in secrets for target in targets_of(each, public_characters(each.value))
    ]
    made = {
        View.EXACT: index.Index(targets, index.exact, gram=4, weak=True),
        View.SKELETON: index.Index(targets, index.skeletal, gram=6, every=2),
        View.SHIFTED: index.Index(targets, index.shifted, gram=8, every=4),
    }
    for view, period in ((View.XOR_1, 1), (View.XOR_2, 2), (View.XOR_3, 3), (View.XOR_4, 4)):
        made[view] = index.Index(targets, index.xored(period), gram=8, every=4)
    return made


def _names(targets: Iterable[Target]) -> tuple[str, ...]:
    return tuple(sorted({each.name for each in targets}))


def _offsets(text: str) -> Callable[[int, int], tuple[int, int]]:
    """Returns what turns a stretch of the text's bytes into one of its characters."""
    if text.isascii():
        return lambda start, end: (start, end)
    starts = [0]
    for character in text:
        starts.append(starts[-1] + len(character.encode("utf-8", "surrogatepass")))
    # A character that is hit in part is hit.
    return lambda start, end: (bisect_right(starts, start) - 1, bisect_left(starts, end))


def _is_long_enough(secret: Secret) -> bool:
    # Counted composed: a decomposed accent does not make a short value long.
    return len(unicodedata.normalize("NFC", secret.value)) >= SECRET_CHARACTERS


def _warn_of_short(secrets: Iterable[Secret]) -> None:
    """Says which values are not looked for: whoever named them takes them for guarded."""
    for name in dict.fromkeys(each.name for each in secrets if not _is_long_enough(each)):
        _LOG.warning(
            "the secret %s has fewer than %d characters, so nothing is matched against it",
            name,
            SECRET_CHARACTERS,
        )

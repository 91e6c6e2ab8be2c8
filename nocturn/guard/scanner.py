"""Finds and strikes out the values of secrets, plainly written or encoded.

First form: exact values, percent escapes, base64 and hex, with or without white space in between.
It claims no more: a value in pieces, reversed or dressed otherwise is not found here.
"""

from __future__ import annotations

import itertools
import logging
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from nocturn.guard.needle import Form, Needle, needles_of
from nocturn.guard.reading import readings
from nocturn.limits import SECRET_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nocturn.guard.ports import SecretSource
    from nocturn.secret import Secret

__all__ = ["REDACTED", "Scanner"]

_LOG: Final = logging.getLogger("nocturn")

REDACTED: Final = "[REDACTED]"
"""What stands where a secret stood."""

_APART: Final = "\0"
"""Between texts that are scanned as one: in no alphabet, no white space, composes with nothing."""
_BATCH_CHARACTERS: Final = 1 << 20
_SHORT: Final = 128
"""A text of so many characters is remembered with what became of it."""
_LOWER_HEX: Final = str.maketrans("ABCDEF", "abcdef")


class Scanner:
    """Looks for the values of secrets. Safe to use from many threads.

    Args:
        sources: Where the secrets come from; read on first use, and again by :meth:`renew`.

    Every method raises what a source raises (``ConfigurationError``) on that first use.
    """

    def __init__(self, sources: Iterable[SecretSource]) -> None:
        self._sources = tuple(sources)
        self._needles: tuple[Needle, ...] | None = None if self._sources else ()
        self._groups: tuple[tuple[Needle, ...], ...] = ((),) * len(Form)
        self._edge = 0
        self._lock = threading.Lock()
        # Names of tools, keys and targets come again with each call, and once more for the journal.
        self._redact_short = lru_cache(maxsize=512)(self._redact)

    @property
    def armed(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._compiled())

    def renew(self) -> None:
        """Reads the sources again. What is being scanned meanwhile is scanned for what was known.

        Raises:
            ConfigurationError: A source cannot be read; what was known stays.
        """
        with self._lock:
            self._compile()

    def finds(self, text: str) -> bool:
        """Returns whether the text holds a secret."""
        return any(True for _ in self._hits(text))

    def names(self, text: str) -> tuple[str, ...]:
        """Returns the names of the secrets that the text holds, sorted. For people only."""
        return tuple(sorted({name for name, _, _ in self._hits(text)}))

    def found(self, text: str) -> list[tuple[str, int, int]]:
        """Returns ``(name, start, end)`` of each secret in the text, sorted by place.

        For people only. What two forms of a secret say of one place is said once.
        """
        places: list[tuple[str, int, int]] = []
        reach: dict[str, int] = {}
        for name, start, end in sorted(set(self._hits(text)), key=lambda hit: (hit[1], -hit[2])):
            if start >= reach.get(name, 0):
                places.append((name, start, end))
                reach[name] = end
        return places

    def names_across(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Returns the names of the secrets that stand in a text, or across two of them joined.

        Of each ordered pair only the border is looked at, where a value could straddle it: the
        longest form's length on either side. The work depends on lengths alone, so that its time
        tells nothing about the secrets.
        """
        if not self._compiled():
            return ()
        edge = self._edge
        ways = [dict.fromkeys(squeezed.text for _, squeezed in readings(text)) for text in texts]
        heads = [[way[:edge] for way in each] for each in ways]
        tails = [[way[-edge:] for way in each] for each in ways]
        found: set[str] = set()
        batch = [*texts]
        size = 0
        for first, second in itertools.permutations(range(len(texts)), 2):
            joined = [tail + head for tail in tails[first] for head in heads[second]]
            batch += joined
            size += sum(map(len, joined))
            if size > _BATCH_CHARACTERS:
                found.update(self.names(_APART.join(batch)))
                batch, size = [], 0
        found.update(self.names(_APART.join(batch)))
        return tuple(sorted(found))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Returns ``(start, end)`` of what must not be seen, sorted, apart from each other."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted({(start, end) for _, start, end in self._hits(text)}):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return merged

    def redact(self, text: str) -> str:
        """Returns the text with ``[REDACTED]`` for each span."""
        return self._redact_short(text) if len(text) <= _SHORT else self._redact(text)

    def _redact(self, text: str) -> str:
        pieces: list[str] = []
        at = 0
        for start, end in self.spans(text):
            pieces += (text[at:start], REDACTED)
            at = end
        return "".join((*pieces, text[at:])) if pieces else text

    def redact_value(self, value: Any) -> Any:
        """Returns a JSON value with every string in it redacted, keys too.

        Not recursive, since values come from guests and tools. Two keys that become the same are
        numbered, so that nothing is lost.

        Args:
            value: What JSON can hold; tuples become lists.
        """
        if not self._compiled():
            return value
        top: list[Any] = [None]
        todo: list[tuple[Any, Any, Any]] = [(value, top, 0)]
        while todo:
            item, holder, key = todo.pop()
            if isinstance(item, str):
                holder[key] = self.redact(item)
            elif isinstance(item, dict):
                into: dict[Any, Any] = {}
                holder[key] = into
                names: list[Any] = [*item]
                todo += ((item[name], into, self._free_key(name, into)) for name in names)
            elif isinstance(item, list | tuple):
                row: list[Any] = [*item]
                holder[key] = row
                todo += ((each, row, at) for at, each in enumerate(row))
            else:
                holder[key] = item
        return top[0]

    def _free_key(self, key: Any, into: dict[Any, Any]) -> Any:
        """Returns the key as it may be seen, and keeps its place in the order."""
        seen = self.redact(key) if isinstance(key, str) else key
        free, number = seen, 2
        while free in into:
            free, number = f"{seen} ({number})", number + 1
        into[free] = None
        return free

    def _hits(self, text: str) -> Iterator[tuple[str, int, int]]:
        needles = self._compiled()
        if not needles or not text:
            return
        for plain, squeezed in readings(text):
            bare = squeezed.text
            # In the order of Form, as the groups are: a dictionary costs more than the search.
            reads = (
                (plain, plain.text),
                (squeezed, bare),
                (squeezed, bare.replace("-", "+").replace("_", "/")),
                (squeezed, bare.lower() if bare.isascii() else bare.translate(_LOWER_HEX)),
            )
            for (reading, read), group in zip(reads, self._groups, strict=True):
                for needle in group:
                    if needle.text in read:
                        for start, end in needle.found_in(read):
                            yield needle.secret, *reading.span(start, end)

    def _compiled(self) -> tuple[Needle, ...]:
        if self._needles is None:
            with self._lock:
                if self._needles is None:
                    return self._compile()
        return self._needles

    def _compile(self) -> tuple[Needle, ...]:
        secrets = [each for source in self._sources for each in source.secrets()]
        needles = tuple(dict.fromkeys(needle for each in secrets for needle in needles_of(each)))
        _warn_of_short(secrets, needles)
        self._groups = tuple(tuple(each for each in needles if each.form is form) for form in Form)
        # Hex, two characters a byte, is the longest needle; percent escapes take three.
        self._edge = max((len(each.text) for each in needles), default=0) * 3 // 2 + 2
        self._needles = needles
        # A new memory, last: what is at work now may still remember what was not known then.
        self._redact_short = lru_cache(maxsize=512)(self._redact)
        return needles


def _warn_of_short(secrets: Iterable[Secret], needles: Sequence[Needle]) -> None:
    """Says which values are not looked for: whoever named them takes them for guarded."""
    looked_for = {each.secret for each in needles}
    for name in dict.fromkeys(each.name for each in secrets if each.name not in looked_for):
        _LOG.warning(
            "the secret %s has fewer than %d characters, so nothing is matched against it",
            name,
            SECRET_CHARACTERS,
        )

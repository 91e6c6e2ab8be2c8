"""What a purge leaves of the journal's lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

from nocturn.store.purging import PURGED, Doomed, dumped

if TYPE_CHECKING:
    from nocturn.store.chain import Chain

__all__ = ["Holes"]

_OURS: Final = frozenset(
    {"n", "prev", "at", "phase", "call", "run", "salt", "content", "was", "seal"}
)
"""What nobody but nocturn has put into a sealed line: not looked through."""
_TORN: Final = re.compile(rb'\{"n":[0-9]{1,18},"prev":"(?:[0-9a-f]{32})?",')


class Holes:
    """Takes what is doomed out of lines.

    Args:
        chain: What knows their seals.
        doomed: What is to go.
    """

    def __init__(self, chain: Chain, doomed: Doomed) -> None:
        self._chain = chain
        self._doomed = doomed
        # Effects are judged by their targets, since another note's may have the name in it.
        self._words = Doomed(strike=self._unnamed) if doomed.names else doomed
        texts = [*doomed.names, *doomed.held_by]
        self._marks = [mark for each in texts for mark in {_in_json(each), each.encode()}]

    def made_in(self, data: bytes) -> tuple[bytes, list[int], int]:
        """Goes through one file.

        Args:
            data: Its bytes.

        Returns:
            The bytes that are left; the numbers of the sealed lines that are holes now and were
            not before, or have become larger ones; and how many lines were changed in all.
        """
        lines = data.split(b"\n")
        numbers: list[int] = []
        changed = 0
        for at, raw in enumerate(lines):
            if not raw or (self._doomed.names and not self._has_mark(raw)):
                continue
            left, n = self._left_of(raw)
            if left is not None:
                lines[at] = left
                changed += 1
                numbers += [n] if n else []
        return b"\n".join(lines), numbers, changed

    def _left_of(self, raw: bytes) -> tuple[bytes | None, int]:
        """Returns what is left of a line, None where nothing goes, and its number if sealed."""
        link = self._chain.link_of(raw)
        try:
            entry: Any = json.loads(raw)
            if not isinstance(entry, dict):
                raise ValueError  # noqa: TRY004 - as good as none
            left = self._forgotten(cast("dict[str, Any]", entry), raw, sealed=link is not None)
        except (ValueError, RecursionError):
            return self._torn(raw), 0
        if left is None:
            return None, 0
        if link is None:
            return dumped(left).encode(), 0
        return self._chain.hole(link, left).removesuffix(b"\n"), link.n

    def _forgotten(
        self, entry: dict[str, Any], raw: bytes, *, sealed: bool
    ) -> dict[str, Any] | None:
        doomed, left = self._doomed, dict(entry)
        effects = entry.get("effects")
        if isinstance(effects, list) and self._has_mark(raw):
            rows: list[Any] = [*effects]
            left["effects"] = [_without_target(each, doomed) for each in rows]
            if left["effects"] != rows or any(map(self._is_held_by, rows)):
                left.pop("content", None)
        for name, value in left.items():
            if not (sealed and name in _OURS):
                left[name] = (doomed if name == "effects" else self._words).struck(value)
        if left == entry:
            return None
        if not entry.keys() & {"salt", "was"}:  # an older nocturn's: this is what nobody can guess
            left.pop("call", None)
        return left

    def _is_held_by(self, effect: Any) -> bool:
        row = cast("dict[str, Any]", effect) if isinstance(effect, dict) else {}
        return row.get("target") in self._doomed.held_by

    def _torn(self, raw: bytes) -> bytes | None:
        """Returns what may be left of bytes that are no line of ours, or not all of one."""
        doomed = self._doomed
        if not self._has_mark(raw) and doomed.struck_bytes(raw) == raw:
            return None
        begin = _TORN.match(raw)
        return begin[0] if begin else b"{}"

    def _unnamed(self, text: str) -> str:
        for name in self._doomed.names:
            text = text.replace(name, PURGED)
        return text

    def _has_mark(self, raw: bytes) -> bool:
        return any(mark in raw for mark in self._marks)


def _without_target(effect: Any, doomed: Doomed) -> Any:
    if not isinstance(effect, dict):
        return effect
    row = cast("dict[str, Any]", effect)
    return {**row, "target": PURGED} if doomed.has(str(row.get("target"))) else row


def _in_json(text: str) -> bytes:
    return json.dumps(text)[1:-1].encode()

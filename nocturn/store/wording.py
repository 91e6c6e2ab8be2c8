"""A line of the journal in words, for the terminal and for the page; none is made safe for either.

Any of it may be missing or of another type: a line need not be one of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from nocturn.errors import GATE_DENIED, LEAK_BLOCKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nocturn.store.trail import Line

__all__ = ["Told", "told", "without_finished"]

_NAMED: Final = 5
"""So many effects are named; an import may have thousands."""
Kind: TypeAlias = Literal["done", "refused", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Told:
    """What a line says.

    Attributes:
        at: When, ISO 8601 in UTC.
        agent: Who.
        tool: Which tool was called.
        deeds: What it would do, such as ``write people/lina.md``; empty where it has no effects.
        outcome: The code or the ruling, and the reason.
        kind: How that is to be taken.
        size_bytes: What was written, or the size of the reply; None where it is not told.
        ms: How long it took; None where it is not told.
        run: Whose call it was.
        sealed: Whether this user's nocturn wrote exactly this line.
    """

    at: str
    agent: str
    tool: str
    deeds: str
    outcome: str
    kind: Kind
    size_bytes: int | None
    ms: float | None
    run: str
    sealed: bool


def told(line: Line) -> Told:
    """Puts a line in words."""
    entry = line.entry
    outcome, kind = _outcome(entry)
    size, ms = entry.get("bytes"), entry.get("ms")
    return Told(
        at=str(entry.get("at", "")),
        agent=str(entry.get("agent", "")),
        tool=str(entry.get("tool", "")),
        deeds=_deeds(entry.get("effects")),
        outcome=outcome,
        kind=kind,
        size_bytes=size if isinstance(size, int) else None,
        ms=float(ms) if isinstance(ms, (int, float)) else None,
        run=str(entry.get("run", "")),
        sealed=line.sealed,
    )


def without_finished(lines: Iterable[Line]) -> list[Line]:
    """Leaves out the intents whose outcome is told as well."""
    kept = list(lines)
    done = {each.entry.get("call") for each in kept if each.entry.get("phase") == "outcome"}
    return [
        each
        for each in kept
        if each.entry.get("phase") != "intent" or each.entry.get("call") not in done
    ]


def _deeds(effects: Any) -> str:
    try:
        named = [f"{each['verb']} {each['target']}" for each in effects or ()]
        more = len(named) - _NAMED
        return ", ".join(named[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    except (TypeError, KeyError):
        return "?"


def _outcome(entry: Mapping[str, Any]) -> tuple[str, Kind]:
    if entry.get("phase") == "leak":
        what = entry.get("secret") or entry.get("rule")
        said = f"it carries the secret {what}" if what else "it carries text"
        return f"blocked: {said} ({entry.get('place')})", "refused"
    if entry.get("phase") == "purge":
        return f"a {entry.get('what')} was purged, here from {entry.get('count')} lines", "done"
    if entry.get("phase") == "intent":
        return f"{entry.get('ruling')}, begun: its outcome is not known", "unknown"
    code = entry.get("code")
    parts = [str(code or entry.get("ruling") or "")]
    parts += [str(entry[name]) for name in ("reason", "fault") if entry.get(name)]
    parts += [name for name in ("late", "dry") if entry.get(name)]
    if not code:
        return ", ".join(parts), "done"
    return ", ".join(parts), "refused" if code in (GATE_DENIED, LEAK_BLOCKED) else "failed"

"""Values that are spread over fields and calls, written by a guest down the whole road."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from attacks.catch import LARGE, SMALL, Rate, groups_of
from attacks.spreads import SPREADS
from attacks.values import Values, fresh
from nocturn import Workspace
from nocturn.guard.shapes import shapes_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from attacks.spreads import Note

__all__ = ["spread_rates"]

_GUEST: Final = """
JSON.parse(nocturn.args[0]).map(([path, summary, content]) => {
  try { nocturn.memory.write(path, summary, content); return null }
  catch (error) { return error.code }
})
"""


def spread_rates(folder: str, values: Sequence[str], others: Sequence[str]) -> Iterator[Rate]:
    """Has a guest write each value in each way, a run each; caught is one call that is blocked.

    Args:
        folder: Where workspaces may be made.
        values: What is in the vaults.
        others: As many that are not, each of the format of the value at its place.

    Yields:
        A rate for each class.
    """
    filler = fresh(LARGE - len(values))
    large = _workspace(f"{folder}/large", [*values, *filler])
    small = [
        _workspace(f"{folder}/small-{at}", group) for at, group in enumerate(groups_of(values))
    ]
    try:
        for name, spread in SPREADS.items():
            few = many = wrong = 0
            for at, (value, other) in enumerate(zip(values, others, strict=True)):
                ours, notes, innocent = small[at // SMALL], spread(value), spread(other)
                few += _blocks(ours, notes)
                many += _blocks(large, notes)
                if not _has_shape(innocent):
                    wrong += _blocks(ours, innocent) + _blocks(large, innocent)
            yield Rate(name, len(values), few, many, wrong)
    finally:
        for each in (large, *small):
            each.close()


def _has_shape(notes: Sequence[Note]) -> bool:
    """Whether notes may be blocked for their shape, whatever is in the vault."""
    return any(hit.blocks for note in notes for hit in shapes_in("\n".join(note)))


def _workspace(place: str, values: Sequence[str]) -> Workspace:
    return Workspace(place, secrets=[Values(values)], isolation="best-effort")


def _blocks(ws: Workspace, notes: Sequence[Note]) -> bool:
    result = ws.run(_GUEST, mode="watched", args=[json.dumps(notes)]).raise_for_error()
    codes = set(result.value)
    if codes - {None, "LEAK_BLOCKED"}:
        msg = f"a guest could not write what it was to write: {codes}"
        raise RuntimeError(msg)
    return "LEAK_BLOCKED" in codes

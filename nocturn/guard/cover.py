"""How much of a value the pieces that were found make up: when chance ends and a leak begins.

Two numbers are kept for each value. The *bits* are what somebody would have had to guess of what
was covered; from 64 on it counts as the value (the contract, section 2). The *evidence* is what is
left of them after the tries that a text gives: with n places in it and m in the value, a piece of b
bits turns up by chance with n · m · 2^-b. So pieces of a few characters prove nothing in a long
text, and a guest that packs a million guesses into one learns no more than by as many single ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from nocturn.guard.target import ENOUGH_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.guard.index import Piece
    from nocturn.guard.target import Target

__all__ = ["ENOUGH_EVIDENCE", "Cover", "Gathered"]

ENOUGH_EVIDENCE: Final = 32.0
"""One in four thousand million, for each value and text."""
_WAYS: Final = 4.0
"""Ways in which one place of a text is seen that count as tries of their own, about."""
_MOST_PIECES: Final = 4_096
"""Pieces of one value that are weighed; by chance there are never so many."""


class Cover:
    """What was found of one value.

    Args:
        target: The value.
    """

    __slots__ = ("_pieces", "_target", "_whole_bits")

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pieces: dict[tuple[int, int], float] = {}
        self._whole_bits = 0.0

    def add(self, piece: Piece, *, plain: bool) -> None:
        """Takes a piece in.

        Args:
            piece: A piece of this value.
            plain: Whether the text stood there as it is, or in an encoding that undoes without
                choice, so that the whole value proves itself however short it is.
        """
        if piece.whole:
            self._whole_bits = max(self._whole_bits, math.inf if plain else piece.bits)
        self._keep((piece.start, piece.end), piece.bits)

    def join(self, other: Cover) -> None:
        """Takes in what was found of the same value before."""
        for span, bits in other._pieces.items():
            self._keep(span, bits)

    def is_leak(self, tries: int) -> bool:
        """Returns whether this counts as the value.

        Args:
            tries: The size of all texts in which the pieces were found, in bytes.
        """
        chance = math.log2(max(_WAYS * tries, 1.0))
        if self._whole_bits - chance >= ENOUGH_EVIDENCE:
            return True
        bits = evidence = 0.0
        chance += math.log2(len(self._target.value))
        wanted = min(ENOUGH_BITS, self._target.unknown)
        covered = 0
        for (start, end), worth in sorted(self._pieces.items(), key=_heaviest_first):
            mask = (1 << end) - (1 << start)
            fresh = mask & ~covered
            if not fresh or not worth:
                continue
            share = worth * fresh.bit_count() / (end - start)
            if share <= chance:
                continue
            covered |= mask
            bits += share
            evidence += share - chance
            # Rounding must not lose the last of 64 bits.
            if bits >= wanted - 1e-6 and evidence >= ENOUGH_EVIDENCE:
                return True
        return False

    def _keep(self, span: tuple[int, int], bits: float) -> None:
        if len(self._pieces) < _MOST_PIECES or span in self._pieces:
            self._pieces[span] = max(bits, self._pieces.get(span, 0.0))


class Gathered:
    """The pieces that a run was allowed to write so far. Not safe for many threads by itself."""

    __slots__ = ("covers", "tries")

    def __init__(self) -> None:
        self.covers: dict[Target, Cover] = {}
        self.tries = 0

    def grow(self, covers: Iterable[tuple[Target, Cover]], tries: int) -> None:
        """Remembers what one more call was allowed to carry.

        Args:
            covers: What was found of each value.
            tries: The size of the call's texts, in bytes.
        """
        self.tries += tries
        for target, cover in covers:
            kept = self.covers.setdefault(target, Cover(target))
            kept.join(cover)


def _heaviest_first(item: tuple[tuple[int, int], float]) -> tuple[float, int]:
    (start, _), bits = item
    return -bits, start

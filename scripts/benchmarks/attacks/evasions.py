"""A second set of ways to hide a value in one text, as a script's author would think of them.

Nothing is tuned to it. A class in :data:`HOPELESS` cannot be caught in principle: what is written
says nothing of the value to whoever does not know what else there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attacks.disguises import DISGUISES
from attacks.encodings import ENCODINGS
from attacks.escapes import ESCAPES
from attacks.layouts import LAYOUTS
from attacks.values import RANDOM, words

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EVASIONS", "HOPELESS", "note"]

EVASIONS: Final = {**ENCODINGS, **ESCAPES, **DISGUISES, **LAYOUTS}
HOPELESS: Final = frozenset(
    {
        "a word of a code book for each byte",
        "sums of two numbers",
        "a stream cipher of one's own",
        "one character a note",
        "four characters a note, shuffled",
        "two notes that must be xored",
    }
)


def note(value: str, encode: Callable[[str], str]) -> str:
    """Returns an ordinary note with the value in it, hidden."""
    lead = RANDOM.choice(("see ", "kept here:\n", "", "id=", "> ", "- "))
    return f"{words(9)}\n{lead}{encode(value)}\n{words(7)}"

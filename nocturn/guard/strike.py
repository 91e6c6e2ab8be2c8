"""Takes one value out of texts, in each way that the scanner finds it, and nothing else."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from nocturn.errors import BAD_ARGUMENTS, NocturnError, too_large
from nocturn.guard.reading import together
from nocturn.guard.scanner import REDACTED, Scanner, struck_out
from nocturn.limits import SECRET_CHARACTERS, VAULT_VALUE_BYTES
from nocturn.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Strike", "windows"]

_OWN: Final = 1_048_576
"""A longer text is looked at in stretches of so many characters: its length costs time alone."""
_SHORT: Final = 128
"""A longer text is remembered by its hash."""
_OVERLAP: Final = 2 * VAULT_VALUE_BYTES
"""The longest value in hex."""


class Strike:
    """Takes one value out of texts. What it has seen, it remembers: a text is looked at once.

    Args:
        value: The value.

    Raises:
        NocturnError: ``BAD_ARGUMENTS``, it is so short that it is in every text; ``TOO_LARGE``.
    """

    def __init__(self, value: str) -> None:
        size = len(value.encode("utf-8", "surrogatepass"))
        if len(value) < SECRET_CHARACTERS:
            message = (
                f"the value has {len(value)} characters, and under {SECRET_CHARACTERS} it would be "
                "found in every text: take it out by hand"
            )
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "value"})
        if value in REDACTED:
            message = f"the value is part of {REDACTED}, which stands where a secret stood"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "value"})
        if size > VAULT_VALUE_BYTES:
            raise too_large("value", VAULT_VALUE_BYTES, size, "purge its most secret part")
        self._value = value
        self._scanner = Scanner([_One(value)])
        self._seen: dict[object, str | None] = {}

    def __call__(self, text: str) -> str:
        """Returns the text with ``[REDACTED]`` for each stretch that holds something of it."""
        if len(text) < SECRET_CHARACTERS:
            return text
        key: object = text
        if len(text) > _SHORT:
            key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if key not in self._seen:
            left = self._left_of(text)
            self._seen[key] = None if left == text else left
        return self._seen[key] or text

    def _left_of(self, text: str) -> str:
        spans = [
            (begin + start, begin + end)
            for begin, window in windows(text)
            for _, start, end in self._scanner.found(window)
        ]
        # The scanner weighs what it finds; the value itself goes, whatever it weighs.
        return struck_out(text, together(spans)).replace(self._value, REDACTED)


class _One:
    """A source of one secret."""

    def __init__(self, value: str) -> None:
        self._secret = Secret("purged", value)

    def secrets(self) -> tuple[Secret, ...]:
        return (self._secret,)


def windows(text: str) -> Iterator[tuple[int, str]]:
    """Yields where each stretch of a text begins, and the stretch; they overlap."""
    for begin in range(0, max(len(text), 1), _OWN):
        yield begin, text[begin : begin + _OWN + _OVERLAP]

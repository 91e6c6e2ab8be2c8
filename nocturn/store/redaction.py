"""What the store needs of the guard: secrets taken out of what is derived from notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Redaction"]


class Redaction(Protocol):
    """Takes secrets out of texts; each method raises ``ConfigurationError`` if none can be read."""

    def state(self) -> bytes:
        """Returns what is another one whenever a secret comes, goes or changes.

        It is made from the values alone, so it is never kept as it is: what is kept is a keyed
        hash of it.
        """
        ...

    def redact(self, text: str) -> str:
        """Returns the text without secrets."""
        ...

    def redact_all(self, texts: Sequence[str]) -> Sequence[str]:
        """Returns several texts without secrets, looked at together."""
        ...

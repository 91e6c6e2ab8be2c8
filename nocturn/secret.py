"""A named value that must never leave: what the store keeps and the guard looks for."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Secret"]


@dataclass(frozen=True, slots=True)
class Secret:
    """A named value that must never leave.

    Attributes:
        name: What people call it; may be shown to them.
        value: The value; in no repr, error, log or question.
    """

    name: str
    value: str = field(repr=False)

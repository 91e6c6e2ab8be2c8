"""One call on its road: what was asked, and what has become of it so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any

    from nocturn.effects import Effect
    from nocturn.guard.remarks import Remark

    Content = bytes  # whose name a field has below

__all__ = ["Call"]


@dataclass(slots=True)
class Call:
    """A call, filled in as it goes down the road; one thread at a time has it.

    Attributes:
        tool: The name that was asked for; any text.
        arguments: The arguments as they came, parsed JSON of any type.
        size_bytes: How large the arguments are as JSON in UTF-8.
        problem: Why the arguments could not be sent, in the prelude's words; None where they were.
        id: What the journal and an ``INTERNAL`` error call it.
        effects: What it would do, once that is known.
        ruling: What the gate said, once it has; ``ungated`` for a tool without effects.
        remarks: What was pointed out to whoever ruled on it; never for the guest.
        would_write: In a dry run, what it would have written: the path and the diff.
        content: Exactly the bytes that it would write, once the gate is asked; None before.
        code: Why it failed; None while it has not.
        bytes: What it wrote, or else the size of its reply.
        reply: Its value as JSON text in ASCII, once it has one.
        started: ``time.monotonic()`` at its arrival, in seconds.
        ended: The same at its outcome; None while there is none.
    """

    tool: str
    arguments: Any
    size_bytes: int = 0
    problem: str | None = None
    id: str = ""
    effects: tuple[Effect, ...] = ()
    ruling: str | None = None
    remarks: tuple[Remark, ...] = ()
    would_write: tuple[str, str] | None = None
    content: Content | None = None
    code: str | None = None
    bytes: int = 0
    reply: str = "null"
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None

    @property
    def ms(self) -> float:
        """Milliseconds from arrival to outcome, or to now."""
        return round(((self.ended or time.monotonic()) - self.started) * 1e3, 3)

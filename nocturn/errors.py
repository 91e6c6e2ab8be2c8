"""Every error that nocturn raises, and the codes that a guest sees.

The tree::

    NocturnError                 a call was refused or failed; has .code .tool .message .detail
    ├── RunFailed                raise_for_error() on a run that did not end "ok"; has .result
    ├── IsolationError           the machine cannot give the isolation that was asked for
    └── ConfigurationError       a workspace, a file of ours or an argument is not usable
    KeyboardInterrupt
    └── RunInterrupted           Ctrl-C during a run; has .result

A code is stable and is what programs compare. A message is one sentence for people; it names the
field, the limit, the size and the way out, and it is safe to show to the guest.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Mapping
    from typing import Any, Final

__all__ = [
    "BAD_ARGUMENTS",
    "CANCELLED",
    "CODES",
    "CONFLICT",
    "GATE_DENIED",
    "INTERNAL",
    "LEAK_BLOCKED",
    "LIMIT",
    "NAME_TAKEN",
    "NOT_A_NOTE",
    "NOT_FOUND",
    "PATH_ESCAPE",
    "STORAGE",
    "TOO_LARGE",
    "UNKNOWN_TOOL",
    "ConfigurationError",
    "IsolationError",
    "NocturnError",
    "RunFailed",
    "RunInterrupted",
    "too_large",
]

UNKNOWN_TOOL: Final = "UNKNOWN_TOOL"
"""The caller's cage holds no tool of this name."""
BAD_ARGUMENTS: Final = "BAD_ARGUMENTS"
"""An argument is missing, unknown, of the wrong type, or has no canonical form."""
PATH_ESCAPE: Final = "PATH_ESCAPE"
"""The path, or a link on its way, would leave the folder."""
TOO_LARGE: Final = "TOO_LARGE"
"""A value is over its cap; the message has the limit and the size."""
LEAK_BLOCKED: Final = "LEAK_BLOCKED"
"""The call carries a secret, or the run has used up its blocks. Says nothing more, on purpose."""
NOT_FOUND: Final = "NOT_FOUND"
"""There is no such note."""
NAME_TAKEN: Final = "NAME_TAKEN"
"""A name that differs only in case is there already."""
NOT_A_NOTE: Final = "NOT_A_NOTE"
"""The path is a folder, a device, or text that is not UTF-8."""
CONFLICT: Final = "CONFLICT"
"""The note is not in the version that the caller, or the person who was asked, has seen."""
GATE_DENIED: Final = "GATE_DENIED"
"""The gate said no; ``detail["reason"]``: ``policy declined unattended timeout``."""
LIMIT: Final = "LIMIT"
"""The run has used up a limit that ends calls, not the run."""
STORAGE: Final = "STORAGE"
"""The disk, the folder or the journal refused; nothing was half-written."""
CANCELLED: Final = "CANCELLED"
"""The run ended before the call began, or before its outcome was in (the journal has it)."""
INTERNAL: Final = "INTERNAL"
"""Something went wrong inside a tool or an approver; ``detail["call"]``: its id in the journal."""

CODES: Final = (
    UNKNOWN_TOOL,
    BAD_ARGUMENTS,
    PATH_ESCAPE,
    TOO_LARGE,
    LEAK_BLOCKED,
    NOT_FOUND,
    NAME_TAKEN,
    NOT_A_NOTE,
    CONFLICT,
    GATE_DENIED,
    LIMIT,
    STORAGE,
    CANCELLED,
    INTERNAL,
)


class NocturnError(Exception):
    """A call was refused or failed.

    Attributes:
        code: One of :data:`CODES`; for subclasses it may be None.
        message: One sentence for people, safe to show to the guest.
        tool: The tool that was called, None where no tool was.
        detail: What a program can act on, JSON-able; empty where there is nothing.
    """

    def __init__(
        self,
        code: str | None,
        message: str,
        *,
        tool: str | None = None,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.tool = tool
        self.detail: dict[str, Any] = dict(detail or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message


def too_large(field: str, limit: int, size: int, way_out: str) -> NocturnError:
    """Returns the ``TOO_LARGE`` of one field.

    Args:
        field: What is too large.
        limit: The most that it may be, in bytes.
        size: What it is, in bytes.
        way_out: What the caller can do.
    """
    return NocturnError(
        TOO_LARGE,
        f"{field} is {size} bytes and the limit is {limit}: {way_out}",
        detail={"field": field, "limit": limit, "size": size},
    )


class RunFailed(NocturnError):
    """A run did not end ``ok``.

    Attributes:
        result: The whole :class:`nocturn.RunResult`, with what was printed and called before.
    """

    def __init__(
        self, result: Any, code: str | None, message: str, detail: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(code, message, detail=detail)
        self.result = result


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a run; its worker is gone.

    Attributes:
        result: The whole :class:`nocturn.RunResult`, its status ``cancelled``.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("the run was interrupted")
        self.result = result


class IsolationError(NocturnError):
    """This machine cannot lock the worker down as far as was asked; nothing was run."""

    def __init__(self, message: str) -> None:
        super().__init__(None, message)


class ConfigurationError(NocturnError):
    """A workspace, a file of ours, a limit or an option is not usable; nothing was changed."""

    def __init__(self, message: str) -> None:
        super().__init__(None, message)

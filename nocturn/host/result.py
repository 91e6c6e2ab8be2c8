"""What a run was: one frozen shape, whatever happened."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from nocturn.errors import RunFailed

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

__all__ = ["CallRecord", "ConsoleLine", "RunError", "RunResult", "Usage", "WouldWrite"]

STATUSES: Final = (
    "ok",
    "guest_error",
    "time_limit",
    "memory_limit",
    "output_limit",
    "never_settles",
    "worker_died",
    "refused_source",
    "cancelled",
)
"""How a run can end; there are no others."""


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One line that the guest printed.

    Attributes:
        level: ``log``, ``info``, ``warn``, ``error`` or ``debug``.
        text: The text, as the guest made it: show it to a terminal through ``visible`` only.
    """

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call that the guest made.

    Attributes:
        tool: The tool's name, as it was asked for.
        effects: What it would do, each ``{"kind", "verb", "target"}``; empty where it was refused
            before that was known.
        ruling: What let it through or stopped it at the gate; ``ungated`` for a tool without
            effects; None where it did not come that far.
        code: Why it failed; None where it did not.
        bytes: What it wrote, or else the size of its reply, in bytes.
        ms: Milliseconds from the call's arrival to its outcome, a person's time included.
    """

    tool: str
    effects: tuple[dict[str, str], ...]
    ruling: str | None
    code: str | None
    bytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run did not end ``ok``.

    Attributes:
        code: The code of an uncaught ``NocturnError``, else None.
        name: The error's name, such as ``TypeError``; a limit's status in CamelCase.
        message: Its message.
        file: The script's name as it was given; None where the error has no place in it.
        line: From 1.
        column: From 1, in UTF-16 units.
        source_line: The text of that line.
        stack: The frames in the script, innermost first, one a line.
        detail: An uncaught ``NocturnError``'s detail, else empty.
        cause: What it says is its cause.
        errors: What it is an ``AggregateError`` of.
    """

    code: str | None
    name: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    stack: str = ""
    detail: dict[str, Any] = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    cause: RunError | None = None
    errors: tuple[RunError, ...] = ()


@dataclass(frozen=True, slots=True)
class WouldWrite:
    """What one call of a dry run would have written.

    Attributes:
        path: What it would have been written to; for a note its canonical path.
        diff: The change as a unified diff, redacted: show it to a terminal through ``visible``.
    """

    path: str
    diff: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used.

    Attributes:
        wall_ms: Wall clock in milliseconds, without ``waited_ms``.
        cpu_ms: The worker's CPU time in milliseconds, its start included.
        heap_bytes: The most memory that the engine has had, its own 0.4 MB included, as the kernel
            counts it, in pages, and not less than what is held at the end of a heap that is full;
            None where the worker was killed.
        console_bytes: Console text in UTF-8; an empty line counts as 1.
        calls: How many calls were made.
        waited_ms: Milliseconds in which a person was deciding.
    """

    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    heap_bytes: int | None = None
    console_bytes: int = 0
    calls: int = 0
    waited_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run was.

    Attributes:
        status: One of :data:`STATUSES`.
        value: The script's completion value as plain Python (``wire.codec`` has the table).
        console: What was printed, in order, up to the moment the run ended.
        calls: What was called, in order, refusals included.
        unhandled_rejections: Why promises were rejected whose rejection nobody looked at.
        error: Why it did not end ``ok``; None where it did.
        usage: What it used.
        isolation: The level of the lock-down that it ran under; ``none`` where nothing ran.
        would_write: What a dry run would have written, in order; None where it was no dry run, and
            then not in :meth:`to_dict`.
        run: What the journal and the history call this run: ``ws.memory.undo(run=result.run)``. Not
            in :meth:`to_dict`.
        shown: In a session the value as a console shows it, untrusted text; None for undefined,
            and outside of one. Not in :meth:`to_dict`.
        rolled_back: Whether the session is as it was before this line. Not in :meth:`to_dict`.
    """

    status: str
    value: Any = None
    console: tuple[ConsoleLine, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    unhandled_rejections: tuple[RunError, ...] = ()
    error: RunError | None = None
    usage: Usage = Usage()
    isolation: str = "none"
    would_write: tuple[WouldWrite, ...] | None = None
    run: str = field(default="", compare=False)
    shown: str | None = None
    rolled_back: bool = False

    @property
    def ok(self) -> bool:
        """Whether the status is ``ok``."""
        return self.status == "ok"

    def raise_for_error(self) -> RunResult:
        """Returns this result where it is ``ok``.

        Raises:
            RunFailed: It is not; the error's ``result`` is this.
        """
        if self.status == "ok":
            return self
        error = self.error or RunError(code=None, name=self.status, message=self.status)
        place = f" ({error.file}:{error.line}:{error.column})" if error.line else ""
        said = f"{error.name}: {error.message}{place}"
        raise RunFailed(self, error.code, said, error.detail)

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as dicts, lists and plain values, the fields named as here."""
        told = asdict(self)
        for key in ("run", "shown", "rolled_back"):
            del told[key]
        if self.would_write is None:
            del told["would_write"]
        for key in ("console", "calls", "unhandled_rejections", "would_write"):
            if key in told:
                told[key] = list(told[key])
        for call in told["calls"]:
            call["effects"] = list(call["effects"])
        for error in (told["error"], *told["unhandled_rejections"]):
            _list_errors(error)
        return told

    def to_json(self, *, indent: int | None = None) -> str:
        """Returns :meth:`to_dict` as JSON text in ASCII.

        ``NaN`` and infinities in ``value`` are written as Python's and JavaScript's names for
        them, which strict JSON readers refuse.
        """
        return json.dumps(self.to_dict(), indent=indent)


def _list_errors(error: dict[str, Any] | None) -> None:
    """Makes lists of the tuples in an error's dict, and in those within it."""
    if error is not None:
        error["errors"] = list(error["errors"])
        for each in (error["cause"], *error["errors"]):
            _list_errors(each)

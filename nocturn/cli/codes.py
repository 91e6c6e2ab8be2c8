"""The one table from how something ended to an exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nocturn import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nocturn.host.result import RunResult

__all__ = [
    "INTERRUPTED",
    "OUR_FAULT",
    "TOO_LITTLE_ISOLATION",
    "USAGE",
    "of_error",
    "of_result",
    "of_task",
]

USAGE: Final = 2
"""Usage, configuration, ``refused_source``."""
TOO_LITTLE_ISOLATION: Final = 3
OUR_FAULT: Final = 125
INTERRUPTED: Final = 130

_OF_STATUS: Final = {
    "ok": 0,
    "guest_error": 1,
    "never_settles": 1,
    "refused_source": USAGE,
    "memory_limit": 4,
    "output_limit": 4,
    "time_limit": 124,
    "worker_died": OUR_FAULT,
    "cancelled": INTERRUPTED,
}
_OF_TASK: Final = {
    "done": 0,
    "pending": 1,
    "incomplete": 1,
    "error": 1,
    "timeout": 124,
    "interrupted": INTERRUPTED,
}
_OF_CODE: Final = {errors.GATE_DENIED: 3, errors.LEAK_BLOCKED: 3, errors.PATH_ESCAPE: 3}


def of_result(result: RunResult) -> int:
    """Returns a run's exit status."""
    if result.status == "guest_error" and result.error is not None:
        return of_error(result.error.code, result.error.detail)
    return _OF_STATUS[result.status]


def of_task(status: str) -> int:
    """Returns the exit status of what an agent was to do."""
    return _OF_TASK[status]


def of_error(code: str | None, detail: Mapping[str, Any]) -> int:
    """Returns the exit status of a call that failed and that nobody caught."""
    if "configuration" in detail:  # the gate could not be asked: a file of ours is not usable
        return USAGE
    return _OF_CODE.get(code or "", 1)

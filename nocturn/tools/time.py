"""``nocturn.now()``: what time it is where the person is."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from nocturn.registry.tool import Tool, tool

__all__ = ["time_tools"]


def time_tools() -> list[Tool]:
    """Returns the tools of the ``time`` namespace."""
    return [time_now]


@tool(
    axis="read",
    effects="ungated",
    page={
        "returns": "Now, as text with the local offset, as a number, and the local zone:\n\n"
        '    {"iso": "2026-03-01T09:30:00.000+01:00", "epochMs": 1772353800000, '
        '"timezone": "Europe/Berlin"}',
        "notes": "`timezone` is the IANA name where the system tells it, else an abbreviation.",
        "wrapper": "nocturn.now()",
        "example": {},
    },
)
def time_now() -> dict[str, Any]:
    """The present date and time, and the time zone of the person."""
    now = datetime.now(UTC)
    local = now.astimezone()
    return {
        "iso": local.isoformat(timespec="milliseconds"),
        "epochMs": int(now.timestamp() * 1000),
        "timezone": _zone() or local.tzname() or "UTC",
    }


def _zone() -> str | None:
    """Returns the IANA name of the local zone where the system tells it."""
    name = os.environ.get("TZ", "").lstrip(":")
    if not name:
        try:
            name = os.readlink("/etc/localtime").rpartition("zoneinfo/")[2]
        except OSError:
            return None
    return name if "/" in name and not name.startswith("/") else None

"""A file's stamp: by it what was derived from the file is known to be true of it still.

A clock of a file system ticks, so that two changes within one tick leave the same stamp. So a stamp
is believed only if it was old already when the file was read; until then the file is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import os

__all__ = ["Stamp", "settled_stamp", "stamp_of"]

Stamp: TypeAlias = tuple[int, int, int, int, int]
"""Device, inode, size, and the times of the last change of content and of state, in ns."""

_SETTLED_NS: Final = 10 * 1_000_000_000
"""FAT's clock ticks every 2 s, those of Linux every 4 ms; the rest is for a file server whose
clock is late."""


def stamp_of(status: os.stat_result) -> Stamp:
    """Gives a file's stamp. Who sets the time of content back cannot do so with that of state."""
    return (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def settled_stamp(status: os.stat_result, now_ns: int) -> Stamp | None:
    """Gives a file's stamp if whatever changes it from now on changes the stamp, else None.

    Args:
        status: Its state before it was read.
        now_ns: A time before that, since the epoch.
    """
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    return stamp_of(status) if newest + _SETTLED_NS <= now_ns else None

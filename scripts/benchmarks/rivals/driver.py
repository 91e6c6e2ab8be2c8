"""A peer's driver: a process that does one job, is watched, and ends with its deadline."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from yardsticks.procfs import proportional_bytes, tree

from rivals.peer import NoFigureError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Driver"]

_CHUNK_BYTES: Final = 1 << 16


class Driver:
    """A driver that is ready; in a session of its own, so that all of it can be ended.

    Args:
        command: Its program and arguments.
        folder: Where it runs; None for here.
        limit_seconds: How long one answer may take.

    Raises:
        NoFigureError: It ended or hung before it was ready.
    """

    def __init__(self, command: Sequence[str], folder: Path | None, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._said = b""
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._line()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> None:
        """Lets it do its job."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(BrokenPipeError):  # then it ends, and says no more
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """Waits until the job is done and returns what it said of it.

        Raises:
            NoFigureError: It ended or hung.
        """
        return dict(json.loads(self._line()))

    def memory_bytes(self) -> int:
        """Returns the proportional memory of the driver and all that descends from it.

        Raises:
            NoFigureError: Only root may know.
        """
        sizes = [proportional_bytes(pid) for pid in tree(self._process.pid)]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            raise NoFigureError("needs root")
        return sum(known)

    def close(self) -> None:
        """Ends it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()

    def _line(self) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        deadline = time.monotonic() + self._limit_seconds
        while b"\n" not in self._said:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise NoFigureError("hangs")
            chunk = os.read(self._process.stdout.fileno(), _CHUNK_BYTES)
            if not chunk:
                raise NoFigureError("fails")
            self._said += chunk
        line, _, self._said = self._said.partition(b"\n")
        return line

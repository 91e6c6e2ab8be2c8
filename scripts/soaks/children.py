"""A process that does one thing, says how it goes, and may be killed before its end."""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Child", "Say"]

Say: TypeAlias = "Callable[[dict[str, Any]], None]"
"""Says one line, of what JSON can hold."""


class Child:
    """A process that does one thing, says lines of JSON, and may be killed before its end.

    Args:
        work: What it does; where it raises, it says ``{"failed": the traceback}`` last.
    """

    def __init__(self, work: Callable[[Say], None]) -> None:
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _work_and_say(work, writing)
            finally:
                os._exit(0)
        os.close(writing)

    def said(self) -> list[dict[str, Any]]:
        """Returns what it said, when it has ended.

        Raises:
            RuntimeError: It failed.
        """
        lines = self._ended(b"".join(iter(self._chunk, b"")))
        if lines and "failed" in lines[-1]:
            raise RuntimeError(lines[-1]["failed"])
        return lines

    def killed(self, lines: int, seconds: float) -> list[dict[str, Any]]:
        """Kills it so long after it has said so many lines; returns what it said."""
        heard = b""
        while heard.count(b"\n") < lines and (chunk := self._chunk()):
            heard += chunk
        doom = time.monotonic() + seconds
        while (rest := doom - time.monotonic()) > 0 and select.select(
            [self._reading], [], [], rest
        )[0]:
            heard += self._chunk()
        os.kill(self._pid, signal.SIGKILL)
        heard += b"".join(iter(self._chunk, b""))
        return self._ended(heard)

    def _chunk(self) -> bytes:
        return os.read(self._reading, 65_536)

    def _ended(self, heard: bytes) -> list[dict[str, Any]]:
        """Gives its lines; one that its end cut is none."""
        os.close(self._reading)
        os.waitpid(self._pid, 0)
        return [json.loads(line) for line in heard.split(b"\n")[:-1]]


def _work_and_say(work: Callable[[Say], None], fd: int) -> None:
    def say(line: dict[str, Any]) -> None:
        rest = memoryview(json.dumps(line).encode() + b"\n")
        while rest:
            rest = rest[os.write(fd, rest) :]

    try:
        work(say)
    except BaseException:  # noqa: BLE001 - whatever it is, it is said
        say({"failed": traceback.format_exc()})

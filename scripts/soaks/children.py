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
    """A process that does one thing, says lines of JSON, and may be killed before its end."""

    def __init__(self, work: Callable[[Say], None]) -> None:
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                os.close(self._reading)
                work(lambda line: _write_whole(writing, json.dumps(line) + "\n"))
                status = 0
            except BaseException:  # noqa: BLE001 - the child's end, whatever it is
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)

    def said(self) -> list[dict[str, Any]]:
        """Returns what it said, when it has ended."""
        return self._heard(None)

    def killed_within(self, seconds: float) -> list[dict[str, Any]]:
        """Kills it so long after its first word; returns what it said."""
        select.select([self._reading], [], [])
        return self._heard(time.monotonic() + seconds)

    def _heard(self, doom: float | None) -> list[dict[str, Any]]:
        """Listens to its end; a line that the end cut is none."""
        heard = b""
        while True:
            rest = None if doom is None else max(0.0, doom - time.monotonic())
            if not select.select([self._reading], [], [], rest)[0]:
                os.kill(self._pid, signal.SIGKILL)
                doom = None
                continue
            chunk = os.read(self._reading, 65_536)
            if not chunk:
                break
            heard += chunk
        os.close(self._reading)
        os.waitpid(self._pid, 0)
        return [json.loads(line) for line in heard.split(b"\n")[:-1]]


def _write_whole(fd: int, text: str) -> None:
    rest = memoryview(text.encode())
    while rest:
        rest = rest[os.write(fd, rest) :]

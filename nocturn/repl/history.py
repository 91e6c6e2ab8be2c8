"""The lines that were typed, in ``.nocturn/repl_history``: a JSON text each, and no secret."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from prompt_toolkit.history import History

from nocturn.store.beside import REPL_HISTORY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.workspace import Workspace

__all__ = ["LineHistory"]

_READ_BYTES: Final = 262_144
"""The end of the file that is read, some thousands of lines."""


class LineHistory(History):
    """Remembers lines in the workspace, once it is there: looking at one creates nothing.

    A line that holds a value of the vault's, or a token by its shape, is not remembered.

    Args:
        workspace: Whose lines.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._file = os.path.join(workspace.path, ".nocturn", REPL_HISTORY)

    def load_history_strings(self) -> Iterable[str]:
        """Yields the lines, the last first."""
        try:
            with self._opened(os.O_RDONLY) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _READ_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return
        for line in reversed(lines):
            try:
                text = json.loads(line)
            except (ValueError, RecursionError):
                continue  # cut off, or not ours
            if isinstance(text, str):
                yield text

    def store_string(self, string: str) -> None:
        """Keeps a line; where that cannot be done, the prompt goes on without."""
        if any(found.blocks for found in self._workspace.scan([string])):
            return
        if self._workspace.redacted(string) != string:
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        # The workspace is not there yet, or its disk is full.
        with suppress(OSError), self._opened(flags) as file:
            file.write(json.dumps(string).encode() + b"\n")

    def _opened(self, flags: int) -> Any:
        # Neither a link nor a FIFO that somebody has put there.
        wanted = flags | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self._file, wanted, 0o600)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError
        return os.fdopen(descriptor, "rb" if flags == os.O_RDONLY else "ab", buffering=0)

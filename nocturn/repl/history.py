"""The lines that were typed, in ``.nocturn/repl_history``: a JSON text each, and no secret."""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from prompt_toolkit.history import History

from nocturn.errors import NocturnError
from nocturn.store.beside import REPL_HISTORY
from nocturn.visible import first_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.workspace import Workspace

__all__ = ["LineHistory"]

_READ_BYTES: Final = 262_144
"""The end of the file that is read, some thousands of lines."""
_KEPT_CHARACTERS: Final = 65_536
"""A text over it is not remembered."""
_SAFE: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
"""Neither a link nor a FIFO that somebody has put there is opened, nor waited for."""


class LineHistory(History):
    """Remembers lines in the workspace, once it is there: looking at one creates nothing.

    A line that holds a value of the vault's, or a token by its shape, is not remembered.

    Args:
        workspace: Whose lines.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace

    def load_history_strings(self) -> Iterable[str]:
        """Yields the lines, the last first; none in which something hides."""
        try:
            with self._open(os.O_RDONLY, "rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _READ_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return
        for line in reversed(lines):
            try:
                text = json.loads(line)
            except (ValueError, RecursionError):
                continue  # cut off, or not ours
            # A workspace may come from elsewhere: what is run again must be what is seen.
            if isinstance(text, str) and first_hidden(text, keep="\n\t", joiners=True) is None:
                yield text

    def store_string(self, string: str) -> None:
        """Keeps a line; where that cannot be done, the prompt goes on without."""
        if len(string) > _KEPT_CHARACTERS or not self._may_be_kept(string):
            return
        # The workspace is not there yet, or its disk is full.
        with suppress(OSError), self._open(os.O_WRONLY | os.O_APPEND | os.O_CREAT, "ab") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(json.dumps(string).encode() + b"\n")

    def _may_be_kept(self, string: str) -> bool:
        try:
            if any(found.blocks for found in self._workspace.scan([string])):
                return False
            return bool(self._workspace.redacted(string) == string)
        except NocturnError:  # the vault cannot be read, so nobody knows
            return False

    def _open(self, flags: int, mode: str) -> IO[bytes]:
        above = os.path.join(self._workspace.path, ".nocturn")
        folder = os.open(above, os.O_RDONLY | os.O_DIRECTORY | _SAFE)
        try:
            descriptor = os.open(REPL_HISTORY, flags | _SAFE, 0o600, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError
        return os.fdopen(descriptor, mode, buffering=0)

"""The files that a script may import: beside it and below, and read before it runs.

Whatever may be the name of one is looked for: a text in quotes that begins with ``./`` or ``../``
and ends like a script. That is more than what is imported, and no hostile source can make it less
safe: only regular scripts in the script's own folder are ever read.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from nocturn.errors import NocturnError
from nocturn.store.confined import Folder

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["UnreadableError", "imported_files"]

MOST_NAMES: Final = 1_000
"""Names that are looked for in one run; each costs a walk down the folders."""
MOST_FILES: Final = 200
"""The engine loads them within each other, on the worker's stack."""
_NAMES: Final = re.compile(r"""["'](\.{1,2}/[^"'\\\x00-\x1f\x7f]{1,1024}?\.(?:js|mjs|ts))["']""")


class UnreadableError(Exception):
    """The script's files cannot be taken; the text says why, for people."""


def imported_files(folder: Path, name: str, text: str, limit_bytes: int) -> dict[str, str]:
    """Reads what a script may import, and what that may import.

    Args:
        folder: The script's own folder, which is not a link.
        name: The script's name in it.
        text: The script.
        limit_bytes: The most that all the files may have together, in UTF-8.

    Returns:
        Their texts, by their paths from the folder, parts joined by ``/``. A file that is not
        there, is none, or is reached through a link that leaves is left out.

    Raises:
        UnreadableError: One is not UTF-8, or they are too many or too large.
    """
    root = Folder(folder)
    files: dict[str, str] = {}
    looked_for = {name}
    waiting = [(name, text)]
    while waiting:
        base, source = waiting.pop()
        for path in _paths_in(base, source):
            if path in looked_for:
                continue
            looked_for.add(path)
            if len(looked_for) > MOST_NAMES:
                raise UnreadableError(f"more than {MOST_NAMES} files are named in it: name fewer")
            found = _read(root, path, limit_bytes)
            if found is None:
                continue
            if len(files) == MOST_FILES:
                raise UnreadableError(f"it has more than {MOST_FILES} files: make fewer of them")
            limit_bytes -= len(found.encode())
            if limit_bytes < 0:
                raise UnreadableError(
                    f"limit source_bytes is used up by {path}: import less, or raise it"
                )
            files[path] = found
            waiting.append((path, found))
    return files


def _paths_in(base: str, source: str) -> list[str]:
    if "import" not in source and "export" not in source:
        return []
    folder = posixpath.dirname(base)
    paths = (posixpath.normpath(posixpath.join(folder, each)) for each in _NAMES.findall(source))
    return [path for path in dict.fromkeys(paths) if path.split("/")[0] != ".."]


def _read(root: Folder, path: str, limit_bytes: int) -> str | None:
    try:
        data = root.read(path, limit_bytes + 1).data
    except NocturnError:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if len(data) > limit_bytes:  # it was cut there
            return "?" * len(data)
        raise UnreadableError(
            f"{path} is not UTF-8 (byte {problem.start}): save it as UTF-8"
        ) from None

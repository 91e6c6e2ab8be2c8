"""What a writer leaves that was killed: a file that it had not put in its place yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nocturn.store.directory import TEMPORARY

if TYPE_CHECKING:
    from nocturn.store.confined import Folder

__all__ = ["is_orphan", "sweep"]


def is_orphan(name: str) -> bool:
    """Whether a file of this name is one that nocturn had begun to write."""
    begin, end = TEMPORARY
    return name.startswith(begin) and name.endswith(end)


def sweep(folder: Folder) -> None:
    """Removes what killed writers have left in a folder and those in it.

    Args:
        folder: In which nobody may be writing now.

    Raises:
        NocturnError: ``STORAGE`` or ``PATH_ESCAPE``, the folder itself cannot be opened.
    """
    for directory in folder.directories():
        for name in filter(is_orphan, directory.names()):
            directory.drop(name)

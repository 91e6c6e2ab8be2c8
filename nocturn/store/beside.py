"""Single files beside the notes that may hold words of theirs, as a purge sees them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from nocturn.store.confined import Folder
from nocturn.store.orphans import is_orphan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nocturn.store.purging import Doomed

__all__ = ["REPL_HISTORY", "Derived", "Leftovers", "Lines"]

REPL_HISTORY: Final = "repl_history"


class Lines:
    """A file of lines that a person typed.

    Args:
        folder: The workspace's ``.nocturn/``.
        name: Its name there; it may be missing.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = Folder(folder)
        self._name = name

    def purge(self, doomed: Doomed) -> int:
        """Takes out each line that names a note, and a value wherever it stands.

        Returns:
            How many lines had it.

        Raises:
            NocturnError: ``STORAGE``, the disk refuses.
        """
        names = [each.encode() for each in doomed.names]
        with self._folder.place(self._name) as place:
            if place.entry is None:
                return 0
            data = place.read(sys.maxsize).data
            lines = data.split(b"\n")
            kept = [each for each in lines if not any(name in each for name in names)]
            # As a whole: a value may go over several lines.
            left = doomed.struck_bytes(b"\n".join(kept))
            if left == data:
                return 0
            place.replace_file(left, unchanged=True)
        struck = sum(doomed.struck_bytes(each) != each for each in kept)
        return len(lines) - len(kept) or struck or 1


class Derived:
    """What is made anew from the notes whenever it is missing.

    Args:
        forgets: Each removes one such thing, so that nobody is using it meanwhile.
    """

    def __init__(self, *forgets: Callable[[], None]) -> None:
        self._forgets = forgets

    def purge(self, _: Doomed) -> int:
        """Removes it, and counts nothing: it had what the notes had.

        Raises:
            NocturnError: ``STORAGE``, one could not be removed.
        """
        for forget in self._forgets:
            forget()
        return 0


class Leftovers:
    """What killed writes have left right in some folders.

    Args:
        folders: Where files are replaced that are no notes.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = [Folder(each) for each in folders]

    def purge(self, _: Doomed) -> int:
        """Removes it, whatever it was to be, and counts nothing.

        Raises:
            NocturnError: ``STORAGE``, one could not be removed.
        """
        for folder, name in self._found():
            with folder.place(name) as place:
                place.remove()
        return 0

    def _found(self) -> Iterator[tuple[Folder, str]]:
        for folder in self._folders:
            yield from ((folder, each) for each in folder.names() if is_orphan(each))

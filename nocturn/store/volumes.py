"""The journal's files: ``journal.jsonl``, which grows, and before it those that it has filled."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from nocturn.store.confined import Folder

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from nocturn.store.place import Place

__all__ = ["CURRENT", "Volumes", "volume"]

CURRENT: Final = "journal.jsonl"
_ROTATED: Final = re.compile(r"journal-([0-9]{6,12})\.jsonl")


def volume(number: int) -> str:
    """Gives the name of the rotated file of this number."""
    return f"journal-{number:06}.jsonl"


class Volumes:
    """The files of one journal.

    Args:
        folder: The workspace's ``.nocturn/``; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Folder(folder)

    def numbers(self) -> list[int]:
        """Gives the numbers of the rotated files that are there, oldest first."""
        found = (_ROTATED.fullmatch(name) for name in self._folder.names())
        return sorted(int(each[1]) for each in found if each and each[0] == volume(int(each[1])))

    @contextmanager
    def current(self) -> Generator[Place]:
        """Finds where the file that grows is or would be."""
        with self._folder.place(CURRENT) as place:
            yield place

    def places(self) -> Iterator[Place]:
        """Finds the files that are there, oldest first, each good until the next is asked for."""
        for name in (*map(volume, self.numbers()), CURRENT):
            with self._folder.place(name) as place:
                if place.entry is not None:
                    yield place

    def turn(self, number: int) -> None:
        """Makes the file that grows the rotated one of this number, where nothing is yet."""
        with self._folder.place(CURRENT) as place, self._folder.place(volume(number)) as to:
            place.move_to(to)

    def remove(self, numbers: Iterable[int]) -> None:
        """Removes rotated files; one that is not there is no trouble."""
        for number in numbers:
            with self._folder.place(volume(number)) as place:
                place.drop()

    @contextmanager
    def opened(self, after: int = 0) -> Generator[list[tuple[int | None, int, int]]]:
        """Opens the files to read them, oldest first.

        Args:
            after: Only those after the rotated file of this number.

        Yields:
            For each its number (None: the one that grows), a descriptor and its size by now.

        Raises:
            NocturnError: ``STORAGE``, and what else a place that is no plain file gives.
        """
        while True:
            with ExitStack() as stack:
                numbers = self.numbers()
                kept = [(each, volume(each)) for each in numbers if each > after]
                files = [
                    (number, fd, os.fstat(fd).st_size)
                    for number, name in (*kept, (None, CURRENT))
                    if (fd := self._entered(stack, name)) is not None
                ]
                if self.numbers() != numbers:
                    continue  # one was filled meanwhile, and what it had would be left out
                yield files
                return

    def _entered(self, stack: ExitStack, name: str) -> int | None:
        place = stack.enter_context(self._folder.place(name))
        return (
            None
            if place.entry is None
            else stack.enter_context(place.open_file(os.O_RDONLY, make=False))
        )

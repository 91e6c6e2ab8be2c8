"""The way that a read takes: every link resolved by hand, and none that leaves."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections import deque
from typing import TYPE_CHECKING, Final

from nocturn.errors import NAME_TAKEN, NocturnError
from nocturn.names import same_name_key
from nocturn.store.directory import Directory, is_link
from nocturn.store.trouble import escapes, not_a_note, not_found, shown
from nocturn.visible import visible

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Way", "spelled"]

_LINK_HOPS: Final = 40
"""As Linux: a longer chain of links is taken for a circle."""


class Way:
    """One walk from a root to a file, with every directory on the way held open.

    Args:
        root: Where the root is, as an absolute path.
        top: The root, open; the way closes it.
        path: The path to follow, for reading.
    """

    def __init__(self, root: Path, top: Directory, path: str) -> None:
        self._root = root
        self._path = path
        self._open = [top]
        # A part that the caller gave is looked up by name; a part of a link is taken as it is.
        self._ahead = deque((part, True) for part in path.split("/"))
        self._hops = 0
        self._link: str | None = None

    def end(self) -> tuple[Directory, str, str | None]:
        """Walks to the end.

        Returns:
            The directory, the name in it, and what the given path's entry says if it is a link.

        Raises:
            NocturnError: ``NOT_FOUND``, ``NOT_A_NOTE`` for a folder, ``PATH_ESCAPE``.
            OSError: The disk refused, or a link was swapped in.
        """
        while self._ahead:
            part, given = self._ahead.popleft()
            if part in {"", "."}:
                continue
            if part == "..":
                self._climb()
                continue
            at = self._open[-1]
            name = self._look_up(at, part) if given else part
            status = at.status(name)
            if status is not None and is_link(status):
                self._turn(at.link_text(name), last=given and not self._ahead)
            elif status is None or (self._ahead and not stat.S_ISDIR(status.st_mode)):
                raise not_found(self._path)
            elif self._ahead:
                self._open.append(at.folder(name))
            else:
                return at, name, self._link
        raise not_a_note(self._path)

    def close(self) -> None:
        """Closes every directory of the way."""
        for each in self._open:
            each.close()

    def _look_up(self, at: Directory, name: str) -> str:
        try:
            there = spelled(at, name, [])
        except NocturnError:
            there = None
        if there is None:
            raise not_found(self._path)
        return there

    def _climb(self) -> None:
        if len(self._open) == 1:
            raise escapes(self._path)
        self._open.pop().close()

    def _turn(self, text: str, *, last: bool) -> None:
        self._hops += 1
        if self._hops > _LINK_HOPS:
            raise not_found(self._path)
        if last:
            self._link = text
        if os.path.isabs(text):
            text = self._from_root(text)
            while len(self._open) > 1:
                self._open.pop().close()
        parts = text.replace(os.sep, "/").split("/")
        self._ahead.extendleft((each, False) for each in reversed(parts))

    def _from_root(self, target: str) -> str:
        """Gives an absolute target relative to the root, by its text alone."""
        for root in (str(self._root), os.path.realpath(self._root)):
            if target == root or target.startswith(root + os.sep):
                return target[len(root) :]
        raise escapes(self._path)


def spelled(at: Directory, name: str, before: list[str]) -> str | None:
    """Finds how a canonical name is spelled on disk, where it may be decomposed.

    Args:
        at: The directory to look in.
        name: One part of a canonical path, or a name as spelled on disk.
        before: The parts that lead to ``at``, for the message.

    Returns:
        The name on disk; None where there is none.

    Raises:
        NocturnError: ``NAME_TAKEN``, where a name that differs in case stands in its way.
    """
    names = at.names()
    if name in names:
        return name
    key = same_name_key(name)
    rivals = [each for each in names if same_name_key(each) == key]
    for each in rivals:
        if unicodedata.normalize("NFC", each) == name:
            return each
    if not rivals:
        return None
    existing = "/".join([*before, rivals[0]])
    message = (
        f"{shown(name)} differs from the existing {shown(existing)} only in case, and not every "
        "system can hold both: use the existing name, or another one"
    )
    raise NocturnError(NAME_TAKEN, message, detail={"existing": visible(existing, keep="")})

"""What a note is at a moment: its version, and how to see later whether it was touched.

A version is a keyed hash of a file's bytes, so that it tells nobody anything. Two kinds of note
have more or less in it: one over 4 MiB is versioned by its size, times and place, since hashing
it whole would make every look slow; a link by what it says too, since it is the entry that a
write replaces.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from nocturn.errors import CONFLICT, NocturnError
from nocturn.store.directory import Content
from nocturn.store.history import KEPT_BYTES
from nocturn.store.trouble import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.store.confined import Folder
    from nocturn.store.place import Place

__all__ = ["ANY", "LOOKED_BYTES", "AnyVersion", "IfVersion", "Look", "Looks", "require", "stamp"]

LOOKED_BYTES: Final = KEPT_BYTES + 1
"""What is read of a note to know its version."""


class AnyVersion(Enum):
    """The type of :data:`ANY`."""

    ANY = "any"


ANY: Final = AnyVersion.ANY
"""For ``if_version``: whatever version is there, or none."""

IfVersion: TypeAlias = str | AnyVersion | None
"""A version that must be there; None: nothing may be there yet; :data:`ANY`."""


@dataclass(frozen=True, slots=True)
class Look:
    """What was at a path.

    Attributes:
        content: What was there, at most its first 4 MiB and a byte; None for nothing.
        version: Its version token; None for nothing.
        stamp: What changes whenever the entry does; None for nothing.
    """

    content: Content | None = None
    version: str | None = None
    stamp: str | None = None

    @property
    def kept(self) -> bytes | None:
        """The whole content, where the history can keep it: not a link's nor a large file's."""
        content = self.content
        whole = content is not None and content.link is None and len(content.data) <= KEPT_BYTES
        return content.data if content is not None and whole else None


class Looks:
    """Looks at notes.

    Args:
        folder: The ``memory/`` folder.
        token: The keyed hash that makes versions.
    """

    def __init__(self, folder: Folder, token: Callable[[bytes], str]) -> None:
        self._folder = folder
        self._token = token

    def at(self, place: Place) -> Look:
        """Looks at a place.

        Raises:
            NocturnError: ``STORAGE``, the disk refuses.
        """
        content = self._content(place)
        return Look() if content is None else Look(content, self.version(content), stamp(place))

    def version(self, content: Content) -> str:
        """Gives the version of what was read, ``LOOKED_BYTES`` of it or all there is."""
        data, status = content.data, content.status
        if len(data) > KEPT_BYTES:
            state = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            data = b"\0large\0" + repr((*state, status.st_ctime_ns)).encode()
        if content.link is not None:
            data = b"\0link\0" + os.fsencode(content.link) + b"\0" + data
        return self._token(data)

    def of_text(self, data: bytes) -> str:
        """Gives the version that a regular file with this content would have."""
        return self._token(data)

    def _content(self, place: Place) -> Content | None:
        if place.entry is None:
            return None
        link = place.link_text()
        if link is None:
            return place.read(LOOKED_BYTES)
        try:
            return self._folder.read(place.path, LOOKED_BYTES)
        except NocturnError:
            return Content(b"", place.entry, link)


def require(path: str, look: Look, if_version: IfVersion) -> None:
    """Refuses what is not in the version that must be there.

    Raises:
        NocturnError: ``CONFLICT``, with the present version.
    """
    if if_version is ANY or look.version == if_version:
        return
    if look.version is None:
        message = f"{shown(path)} is gone since it was read: write it without a version"
    elif if_version is None:
        message = f"{shown(path)} is there already: read it first, then give its version"
    else:
        message = f"{shown(path)} was changed since it was read: read it again"
    raise NocturnError(CONFLICT, message, detail={"version": look.version})


def stamp(place: Place) -> str | None:
    """Gives what changes whenever the entry at a place does; None where nothing is."""
    if place.entry is None:
        return None
    found = place.entry
    return f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"

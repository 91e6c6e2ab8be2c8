"""What goes wrong with a path or a disk, in words that say what a person can do about it."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from nocturn.errors import (
    BAD_ARGUMENTS,
    NAME_TAKEN,
    NOT_A_NOTE,
    NOT_FOUND,
    PATH_ESCAPE,
    STORAGE,
    NocturnError,
)
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = [
    "disk_trouble",
    "escapes",
    "given_path",
    "not_a_note",
    "not_found",
    "shown",
    "taken",
    "trouble_of",
]

_PERMISSION: Final = (
    "permission is missing: check who owns the workspace and your data folder (nocturn doctor "
    "names them), and their modes"
)
_ADVICE: Final = {
    errno.ENOSPC: "the disk is full, in bytes or in files: free some space and try again",
    errno.EDQUOT: "the disk quota is used up: free some space and try again",
    errno.EROFS: "the disk is read-only: choose a workspace that can be written, and a data folder "
    "(NOCTURN_DATA)",
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.ENOENT: "a folder vanished meanwhile: try again",
    errno.ESTALE: "a folder vanished meanwhile: try again",
    errno.ENOTDIR: "a file is where a folder should be: move it away and try again",
    errno.EISDIR: "a folder came to its place meanwhile: move it away and try again",
    errno.EMFILE: "too many files are open: close some and try again",
    errno.ENFILE: "too many files are open: close some and try again",
    errno.ENAMETOOLONG: "the name is longer than this disk takes: shorten it",
    errno.EIO: "the disk reports a fault: check it before you try again",
}


@contextmanager
def disk_trouble(what: str) -> Generator[None]:
    """Turns an ``OSError`` inside it into a :class:`NocturnError`.

    Args:
        what: What was being done, for people: ``writing "people/lina.md"``. No absolute path.

    Raises:
        NocturnError: ``STORAGE`` with what to do about it, or ``PATH_ESCAPE`` where a link stands
            where none may be.
    """
    try:
        yield
    except OSError as error:
        raise trouble_of(error, what) from None


def trouble_of(error: OSError, what: str) -> NocturnError:
    """Gives the error that stands for this ``OSError``, whose own text has absolute paths."""
    name = errno.errorcode.get(error.errno or 0, "an unknown error")
    if error.errno == errno.ELOOP:
        return NocturnError(PATH_ESCAPE, f"{what} met a link where none may be: remove the link")
    advice = _ADVICE.get(error.errno or 0, f"the disk refused ({name}): check it and try again")
    return NocturnError(STORAGE, f"{what} failed, {advice}", detail={"errno": name})


def shown(path: str) -> str:
    """Gives a path in quotes, hidden characters visible."""
    return f'"{visible(path, keep="")}"'


def given_path(text: str, field: str) -> str:
    """Gives a path that a person has named, absolute, and links on its way as they are.

    Args:
        text: The path; ``~`` is their home.
        field: What it is, for the message.

    Raises:
        NocturnError: ``BAD_ARGUMENTS``, it is no path.
    """
    if not text or "\0" in text:
        message = f"{field} is empty or has a NUL character: give a path"
        raise NocturnError(BAD_ARGUMENTS, message, detail={"field": field})
    with disk_trouble(f"finding {field}"):  # the current folder may be gone
        return os.path.abspath(os.path.expanduser(text))


def not_found(path: str) -> NocturnError:
    """Nothing is there."""
    return NocturnError(NOT_FOUND, f"{shown(path)} is not there: look at the list of notes")


def taken(path: str) -> NocturnError:
    """Something has the name already."""
    message = f"{shown(path)} is there already: use another name, or move that away first"
    return NocturnError(NAME_TAKEN, message, detail={"existing": visible(path, keep="")})


def not_a_note(path: str) -> NocturnError:
    """A folder, a FIFO, a socket or a device is there."""
    return NocturnError(NOT_A_NOTE, f"{shown(path)} is no regular file: use another name")


def escapes(path: str) -> NocturnError:
    """A link on its way leaves."""
    message = f"{shown(path)} goes through a link that leaves the folder: remove the link"
    return NocturnError(PATH_ESCAPE, message)

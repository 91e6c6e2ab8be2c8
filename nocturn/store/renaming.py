"""Renaming that never overwrites: in one step where the system has one, else in two."""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from nocturn.names import same_name_key

if TYPE_CHECKING:
    from nocturn.store.directory import Directory

__all__ = ["rename_new"]

_NO_REPLACE: Final = 1
_NOT_HERE: Final = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM, errno.EMLINK}
"""What a file system says that cannot do it: FUSE's, and those without hard links."""


def rename_new(at: Directory, name: str, to: Directory, new_name: str) -> None:
    """Moves an entry, a link as the link, to a name that nothing has.

    A name that differs from its own in case alone, where the file system sees no difference, is
    its own: then it is spelled anew.

    Raises:
        FileExistsError: Something has the name.
        OSError: As ``os.rename``; the entry is where it was.
    """
    if to.status(new_name) is not None:
        # By what is listed: exFAT by FUSE gives one file two inodes, when asked by two names.
        key = same_name_key(new_name)
        if at is not to or [each for each in at.names() if same_name_key(each) == key] != [name]:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        at.rename(name, to, new_name)
        return
    for way in (_at_once, _in_two_steps):
        try:
            way(at, name, to, new_name)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
        else:
            return
    at.rename(name, to, new_name)  # nothing had the name a moment ago


def _at_once(at: Directory, name: str, to: Directory, new_name: str) -> None:
    call, source, target = _renameat2(), at.descriptor, to.descriptor
    if call is None or source is None or target is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    if call(source, os.fsencode(name), target, os.fsencode(new_name), _NO_REPLACE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _in_two_steps(at: Directory, name: str, to: Directory, new_name: str) -> None:
    at.link(name, to, new_name)
    at.unlink(name)


@cache
def _renameat2() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes

    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)

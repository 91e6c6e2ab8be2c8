"""A person's own programs for a question: the pager for all of it, the editor for another text."""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from nocturn.guard.terminal import Terminal

__all__ = ["edit", "view"]

_EDITED_BYTES: Final = 4_194_304
"""What is read of an edited file, far over what any argument may have."""


def view(terminal: Terminal, page: str) -> bool:
    """Shows a text in the person's pager, ``less`` where ``PAGER`` names none.

    Args:
        terminal: Where.
        page: What, with everything hidden in it made visible.

    Returns:
        Whether there is a pager.
    """
    # The text is a stranger's: no keys that start programs, no filters in front of it, no escapes.
    settings = {"LESSSECURE": "1", "LESSOPEN": "", "LESSCLOSE": "", "LESS": "-~"}
    return terminal.run(_program("PAGER", "less"), page.encode("utf-8", "replace"), **settings)


def edit(terminal: Terminal, text: str) -> tuple[str | None, str]:
    """Has a person edit a text in ``VISUAL``, ``EDITOR`` or ``vi``.

    It is in a file that nobody else may read, in a folder of its own outside of every workspace;
    both are gone afterwards, with whatever the editor has put beside it.

    Args:
        terminal: Where.
        text: What.

    Returns:
        The text as it was saved, None where there is none to go by; and, then, why, for the person.
    """
    command = _program("VISUAL", "") or _program("EDITOR", "vi")
    with tempfile.TemporaryDirectory(prefix="nocturn-", ignore_cleanup_errors=True) as folder:
        path = os.path.join(folder, "text.md")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        if not terminal.run([*command, path], None):
            return None, f"{command[0]} did not run, or did not end well: nothing was changed"
        return _saved(path, text)


def _saved(path: str, text: str) -> tuple[str | None, str]:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _NO_LINK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None, "there is no file any more: nothing was changed"
            data = file.read(_EDITED_BYTES + 1)
    except OSError:
        return None, "there is no file any more: nothing was changed"
    if len(data) > _EDITED_BYTES:
        return None, f"what was saved is over {_EDITED_BYTES:,} bytes: nothing was changed"
    try:
        saved = data.decode()
    except UnicodeDecodeError:
        return None, "what was saved is not UTF-8: nothing was changed"
    # Many editors end the last line by themselves, which is nobody's edit.
    if saved in (text, text + "\n"):
        return None, "nothing was changed"
    return saved, ""


def _program(variable: str, otherwise: str) -> list[str]:
    try:
        return shlex.split(os.environ.get(variable, "")) or shlex.split(otherwise)
    except ValueError:  # a quote that is not closed
        return shlex.split(otherwise)


# Not to wait for somebody at the other end, should a FIFO have come in its place.
_NO_LINK: Final = os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

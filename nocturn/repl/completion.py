"""What may stand at the cursor: names of live values, tools, notes, commands."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import Completer, Completion

from nocturn.errors import NocturnError
from nocturn.repl.commands import COMMANDS
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from nocturn.registry.tool import Tool
    from nocturn.repl.desk import Desk

__all__ = ["NameCompleter", "signature"]

_TEXT: Final = re.compile(r"""nocturn\.memory\.\w+\(\s*["'`]([^"'`\\]*)$""")
_TOOL: Final = re.compile(r"""nocturn\.call(?:Async)?\(\s*["'`]([\w-]*)$""")
_PART: Final = re.compile(r"[\w$]*$")
_CALLED: Final = re.compile(r"nocturn\.([\w.]+)\([^()]*$")
_NOTES: Final = 200
"""How many notes are offered; a path that goes on tells them apart."""


class NameCompleter(Completer):
    """Completes at the cursor, and runs nothing of the guest's.

    Args:
        desk: Whose session.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yields what may stand there."""
        del complete_event
        before = document.text_before_cursor
        if before.startswith("."):
            yield from self._in_command(before)
        elif found := _TEXT.search(before):
            yield from self._notes(found[1])
        elif found := _TOOL.search(before):
            for tool in self._desk.workspace.tools:
                if tool.name.startswith(found[1]) and not tool.by_hand:
                    yield _completion(tool.name, found[1], tool.description.partition("\n")[0])
        else:
            part = _PART.search(before)
            typed = part[0] if part else ""
            line = before.rpartition("\n")[2]
            for name in self._desk.session.complete(line):
                yield _completion(name, typed)

    def _in_command(self, before: str) -> Iterator[Completion]:
        name, space, given = before.partition(" ")
        if not space:
            for each, command in COMMANDS.items():
                if each.startswith(name):
                    yield _completion(each, name, command.does)
        elif name in (".show", ".edit", ".memory"):
            yield from self._notes(given)
        elif name == ".tools":
            for tool in self._desk.workspace.tools:
                if tool.name.startswith(given) and not tool.by_hand:
                    yield _completion(tool.name, given)

    def _notes(self, typed: str) -> Iterator[Completion]:
        fitting = (each for each in self._desk.notes() if each["path"].startswith(typed))
        try:
            for each in islice(fitting, _NOTES):
                yield _completion(each["path"], typed, each["summary"])
        except NocturnError:  # a folder that cannot be read is told of when it is asked for
            return


def signature(desk: Desk, text: str) -> str:
    """Returns how the tool is called whose call the cursor is in; empty where it is in none."""
    found = _CALLED.search(text)
    if found is None:
        return ""
    for tool in desk.workspace.tools:
        wrapper = _wrapper(tool)
        if wrapper.startswith(f"nocturn.{found[1]}("):
            return f"{wrapper}   {tool.description.partition(chr(10))[0]}"
    return ""


def _wrapper(tool: Tool) -> str:
    return str(tool.page.get("wrapper", ""))


def _completion(text: str, typed: str, meta: str = "") -> Completion:
    shown = visible(text, keep="")
    return Completion(text, -len(typed), display=shown, display_meta=visible(meta, keep=""))

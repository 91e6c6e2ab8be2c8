"""What may stand at the cursor: names of live values, tools, notes, commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from prompt_toolkit.completion import Completer, Completion

from nocturn.errors import NocturnError
from nocturn.repl.commands import COMMANDS
from nocturn.visible import first_hidden, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from nocturn.registry.tool import Tool
    from nocturn.repl.desk import Desk

__all__ = ["NameCompleter", "signature"]

_STRING: Final = re.compile(r"""(["'`])([^"'`\\]*)$""")
"""A string that is open, where its quote stands an odd number of times before it."""
_TOOL: Final = re.compile(r"""nocturn\.call(?:Async)?\(\s*["'`][\w-]*$""")
_PATH: Final = re.compile(r"([\w$.]*\.)?([\w$]*)$")
_CALLED: Final = re.compile(r"nocturn\.([\w.]+)\(")
_NOTES: Final = 100
"""How many notes are offered; a path that goes on tells them apart."""


class NameCompleter(Completer):
    """Completes at the cursor, and runs nothing of the guest's.

    What is put into the line is never more than it looks like: no name in which something hides,
    and no path that would end its string.

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
        try:
            yield from self._found(document.text_before_cursor)
        except NocturnError:  # what cannot be read is told of when it is asked for
            return

    def _found(self, before: str) -> Iterator[Completion]:
        line = before.rpartition("\n")[2]
        string = _STRING.search(line)
        if before.startswith("."):
            yield from self._in_command(before)
        elif string is None or line.count(string[1]) % 2 == 0:
            yield from self._names(line)
        elif _TOOL.search(line):
            yield from self._tools(string[2])
        else:
            yield from self._notes(string[2], quote=string[1])

    def _in_command(self, before: str) -> Iterator[Completion]:
        name, space, given = before.partition(" ")
        command = COMMANDS.get(name)
        if not space:
            for each, known in COMMANDS.items():
                if each.startswith(name):
                    yield from _completion(each, name, known.does)
        elif name == ".tools":
            yield from self._tools(given)
        elif command is not None and command.takes in ("PATH", "[PREFIX]"):
            yield from self._notes(given)

    def _names(self, line: str) -> Iterator[Completion]:
        path = _PATH.search(line)
        owner, typed = (path[1] or "", path[2]) if path else ("", "")
        about = {_name(tool): tool.description.partition("\n")[0] for tool in self._given()}
        for name in self._desk.session.complete(line):
            yield from _completion(name, typed, about.get(owner + name, ""))

    def _tools(self, typed: str) -> Iterator[Completion]:
        for tool in self._given():
            if tool.name.startswith(typed):
                yield from _completion(tool.name, typed, tool.description.partition("\n")[0])

    def _notes(self, typed: str, quote: str = "") -> Iterator[Completion]:
        for each in self._desk.notes(typed, most=_NOTES):
            yield from _completion(_quoted(each.path, quote), typed, each.summary)

    def _given(self) -> Iterator[Tool]:
        return (each for each in self._desk.workspace.tools if not each.by_hand)


def signature(desk: Desk, text: str) -> str:
    """Returns how the tool is called whose call the cursor is in; empty where it is in none."""
    called = [each for each in _CALLED.finditer(text) if _is_open(text[each.end() :])]
    if not called:
        return ""
    name = f"nocturn.{called[-1][1]}"
    for tool in desk.workspace.tools:
        if _name(tool) == name:
            return f"{_wrapper(tool)}   {tool.description.partition(chr(10))[0]}"
    return ""


def _is_open(text: str) -> bool:
    return text.count(")") <= text.count("(")


def _name(tool: Tool) -> str:
    return _wrapper(tool).partition("(")[0]


def _wrapper(tool: Tool) -> str:
    return str(tool.page.get("wrapper", ""))


def _quoted(path: str, quote: str) -> str:
    if not quote:
        return path
    path = path.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return path.replace("${", "\\${") if quote == "`" else path


def _completion(text: str, typed: str, about: str = "") -> Iterator[Completion]:
    if first_hidden(text) is None and text != typed:
        yield Completion(text, -len(typed), display_meta=visible(about, keep=""))

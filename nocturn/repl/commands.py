"""The commands of the prompt, which begin with a dot: one table, which ``.help`` prints."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.layout import RUN_CHARACTERS, changed_lines, local_time, say, table, tell
from nocturn.limits import Limits
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.repl.desk import Desk

__all__ = ["COMMANDS", "Leave", "obey"]

_LOG_LINES: Final = 20
_FILE_BYTES: Final = Limits().source_bytes


class Leave(Exception):
    """The prompt is to be left."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        takes: What stands behind its name, for people; empty for nothing.
        does: What it does, for people.
        function: Does it, given what stands behind its name; returns whether that went well.
    """

    takes: str
    does: str
    function: Callable[[Desk, str], bool | None]


def obey(desk: Desk, line: str) -> bool:
    """Does what a line that begins with a dot says.

    Returns:
        Whether it went well.

    Raises:
        Leave: The prompt is to be left.
    """
    name, _, given = line.strip().partition(" ")
    command = COMMANDS.get(name)
    given = given.strip()
    if command is None:
        tell(f"there is no command {visible(name, keep='')}; .help lists those that there are")
        return False
    if bool(given) and not command.takes:
        tell(f"{name} takes nothing behind it")
        return False
    if not given and command.takes and not command.takes.startswith("["):
        tell(f"{name} takes {command.takes}")
        return False
    try:
        return command.function(desk, given) is not False
    except NocturnError as error:
        tell(visible(f"{error.code}: {error.message}" if error.code else error.message))
    except OSError as error:
        tell(visible(f"{given}: {error.strerror}", keep=""))
    return False


def _help(_: Desk, __: str) -> None:
    say(table((f"{name} {each.takes}".strip(), each.does) for name, each in COMMANDS.items()))
    say("anything else is JavaScript; Ctrl-C ends a line that runs, Ctrl-D leaves")


def _tools(desk: Desk, name: str) -> bool | None:
    if not name:
        given = [each for each in desk.workspace.tools if not each.by_hand]
        say(table((each.name, each.gate, each.description.partition("\n")[0]) for each in given))
        return None
    tool = desk.workspace.tools.get(name)
    if tool is None or tool.by_hand:
        tell(f"there is no tool named {visible(name, keep='')}; .tools lists those that there are")
        return False
    from nocturn.registry.page import page

    say(page(tool))
    return None


def _types(desk: Desk, _: str) -> None:
    say(desk.workspace.types())


def _memory(desk: Desk, prefix: str) -> None:
    rows = ((each.path, f"{each.bytes} B", each.summary) for each in desk.notes(prefix))
    _show_or(desk, table(rows), "(no notes)")


def _catalog(desk: Desk, _: str) -> None:
    _show_or(desk, desk.workspace.memory.catalog(), "(no notes)")


def _show(desk: Desk, path: str) -> None:
    desk.screen.show(desk.workspace.memory.read(path))


def _edit(desk: Desk, path: str) -> bool:
    from nocturn.editing import Edit, kept

    note = Edit.open(desk.workspace, path)
    for warning in note.warnings():
        tell(warning)
    saved, why = note.in_editor()
    if saved is None:
        tell(why)
        return False
    try:
        written = note.save(saved, mode=desk.mode, agent=desk.agent)
    except BaseException:  # Ctrl-C at a question, too
        tell(f"nothing was written; your text is in {kept(saved)}")
        raise
    say(f"{written['path']}: {written['bytesWritten']} bytes")
    return True


def _load(desk: Desk, file: str) -> bool:
    with open(os.path.expanduser(file), "rb") as stream:
        data = stream.read(_FILE_BYTES + 1)
    return desk.run(_text(data, file), filename=file).ok


def _save(desk: Desk, file: str) -> None:
    text = "".join(f"{line}\n" for line in desk.kept)
    with open(os.path.expanduser(file), "x", encoding="utf-8") as stream:
        stream.write(text)
    say(f"{visible(file, keep='')}: {len(desk.kept)} lines that ended well")


def _limits(desk: Desk, _: str) -> None:
    say(table((name, f"{value:,}") for name, value in asdict(desk.limits).items()))


def _undo(desk: Desk, _: str) -> bool | None:
    if not desk.last_run:
        tell("no line has changed anything")
        return False
    undone = desk.workspace.memory.undo(run=desk.last_run, mode=desk.mode, agent=desk.agent)
    desk.screen.show(changed_lines(undone))
    desk.last_run = ""
    return None


def _log(desk: Desk, _: str) -> None:
    from nocturn.store.wording import told, without_finished

    found, _position = desk.workspace.journal.last(_LOG_LINES, lambda _: True)
    rows = [told(line) for line in without_finished(found)]
    cells = ((local_time(r.at), r.run[:RUN_CHARACTERS], r.tool, r.deeds, r.outcome) for r in rows)
    _show_or(desk, table(cells), "(nothing yet)")


def _vars(desk: Desk, _: str) -> None:
    rows = desk.session.vars()
    shown = table((each["kind"], each["name"], each["shown"]) for each in rows)
    _show_or(desk, shown, "(nothing)")


def _reset(desk: Desk, _: str) -> None:
    desk.reset()


def _quit(_: Desk, __: str) -> None:
    raise Leave


def _show_or(desk: Desk, text: str, nothing: str) -> None:
    if text:
        desk.screen.show(text)
    else:
        say(nothing)


def _text(data: bytes, file: str) -> str:
    if len(data) > _FILE_BYTES:
        raise ConfigurationError(f"{file} is over {_FILE_BYTES:,} bytes: load it in parts")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8: save it as UTF-8") from None


COMMANDS: Final = {
    ".help": Command("", "these lines", _help),
    ".tools": Command("[NAME]", "the tools, or all about one", _tools),
    ".types": Command("", "what there is as TypeScript declarations", _types),
    ".vars": Command("", "what the session has declared", _vars),
    ".memory": Command("[PREFIX]", "the notes", _memory),
    ".catalog": Command("", "what an assistant is told of them", _catalog),
    ".show": Command("PATH", "a note", _show),
    ".edit": Command("PATH", "a note in your editor, saved as a script would save it", _edit),
    ".load": Command("FILE", "run a script in this session", _load),
    ".save": Command("FILE", "put the lines that ended well into a new file", _save),
    ".limits": Command("", "what a line may use", _limits),
    ".undo": Command("", "take back what the last line that wrote has changed", _undo),
    ".log": Command("", "the journal's last lines", _log),
    ".reset": Command("", "begin anew, with nothing declared", _reset),
    ".quit": Command("", "leave, as Ctrl-D does", _quit),
}
"""Their names, in the order in which they are listed."""

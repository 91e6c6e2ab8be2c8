"""``nocturn memory``: a person's way to the notes, by the same road that a script takes."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nocturn.cli.changing import change
from nocturn.cli.checking import check
from nocturn.cli.coming import export_notes, import_notes
from nocturn.cli.editing import edit
from nocturn.cli.groups import Changing, spread
from nocturn.cli.history import diff, history, restore, trash, undo
from nocturn.cli.options import READ_BYTES, Folder, Json, SecretEnv, open_workspace
from nocturn.cli.purge import purge, rescan
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.workspace import Workspace

__all__ = ["memory"]

memory = typer.Typer(
    name="memory",
    help="List, show, write, amend, remove and bring back notes.",
    no_args_is_help=True,
)

Path = Annotated[str, typer.Argument(help="The note's path, such as people/lina.md.")]


@memory.command("list")
def list_notes(workspace: Folder = None, secret_env: SecretEnv = None, json: Json = False) -> int:
    """List the notes: path, bytes, when, summary."""
    from nocturn.layout import say, table

    with open_workspace(workspace, secret_env=secret_env) as ws:
        notes = _all(ws)
    if json:
        say(dumps(notes))
    elif notes:
        say(table((n["path"], str(n["bytes"]), n["modified"], n["summary"]) for n in notes))
    return 0


@memory.command()
def show(
    path: Path, workspace: Folder = None, secret_env: SecretEnv = None, json: Json = False
) -> int:
    """Show one note."""
    from nocturn.layout import say
    from nocturn.visible import visible

    with open_workspace(workspace, secret_env=secret_env) as ws:
        text = ws.memory.read(path)
        say(dumps({**ws.memory.stat(path), "text": text}) if json else visible(text))
    return 0


@memory.command()
def catalog(
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    stats: Annotated[bool, typer.Option("--stats", help="Say how much room is left.")] = False,
    json: Json = False,
) -> int:
    """Print the catalog, as every later prompt carries it."""
    from nocturn.layout import say

    with open_workspace(workspace, secret_env=secret_env) as ws:
        if stats:
            told = ws.memory.catalog_stats()
            say(dumps(told) if json else _room_in_words(told))
        elif json:
            say(dumps(ws.memory.catalog()))
        elif text := ws.memory.catalog():
            say(text)
    return 0


@memory.command()
def search(
    query: Annotated[
        str, typer.Argument(help='Words that a note must have, "several in a row", beginn*.')
    ],
    limit: Annotated[int, typer.Option(help="Notes at most, 1 to 50.")] = 10,
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    json: Json = False,
) -> int:
    """Find notes by what they say, the best first."""
    from nocturn.layout import say
    from nocturn.visible import visible

    with open_workspace(workspace, secret_env=secret_env) as ws:
        found = ws.memory.search(query, limit=limit)
    if json:
        say(dumps(found))
        return 0
    for each in found:
        say(f"{each['path']} — {visible(each['summary'])}\n    {visible(each['snippet'])}")
    return 0


@memory.command()
@spread
def write(
    path: Path,
    summary: Annotated[str, typer.Argument(help="One line.")],
    content: Annotated[str, typer.Argument(help="The body; - reads stdin.")] = "-",
    *,
    given: Changing,
) -> int:
    """Write one note, whole."""
    body = _given(content, "the content")
    return change(
        given,
        lambda notes, options: notes.write(path, summary, body, **options),
        _size_in_words,
    )


@memory.command("rm")
@spread
def remove(
    path: Path,
    *,
    given: Changing,
) -> int:
    """Move one note to the trash."""
    return change(
        given,
        lambda notes, options: notes.remove(path, **options),
        lambda note: f"{note['path']}: in the trash",
    )


# A text may begin with a hyphen, as an item of a list does.
@memory.command(context_settings={"ignore_unknown_options": True})
@spread
def append(
    path: Path,
    text: Annotated[str, typer.Argument(help="What comes to its end; - reads stdin.")] = "-",
    *,
    given: Changing,
) -> int:
    """Add to the end of one note, on a line of its own.

    Example: nocturn memory append people/lina.md "- loves swimming"
    """
    more = _given(text, "the text")
    return change(
        given,
        lambda notes, options: notes.append(path, more, **options),
        _size_in_words,
    )


@memory.command()
@spread
def move(
    path: Path,
    to: Annotated[str, typer.Argument(metavar="TO", help="Its new path.")],
    *,
    given: Changing,
) -> int:
    """Give one note another path; its history follows.

    Example: nocturn memory move lina.md people/lina.md
    """
    return change(
        given,
        lambda notes, options: notes.move(path, to, **options),
        lambda note: f"{note['path']}: is {note['to']} now",
    )


for _command in (history, diff, restore, undo, purge, rescan):
    memory.command()(_command)
memory.add_typer(trash)


def _given(text: str, what: str) -> str:
    """Returns the text of an argument, or stdin's where that is a hyphen."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read(READ_BYTES).decode()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{what} is not UTF-8: save it as UTF-8") from None


def _room_in_words(told: dict[str, int]) -> str:
    from nocturn.layout import table

    return table(
        (
            ("used", f"{told['bytes']:,} of {told['limit']:,} bytes, {told['left']:,} left"),
            ("notes listed", f"{told['listed']:,}"),
            ("not listed", f"{told['not_listed']:,}, {told['too_long']:,} of them too long a line"),
            ("unreadable", f"{told['unreadable']:,}"),
        )
    )


def _size_in_words(note: dict[str, Any]) -> str:
    return f"{note['path']}: {note['bytesWritten']} bytes"


def _all(ws: Workspace) -> list[dict[str, str]]:
    notes: list[dict[str, str]] = []
    cursor = None
    while True:
        page = ws.memory.list(cursor=cursor)
        notes += page["notes"]
        cursor = page["cursor"]
        if cursor is None:
            return notes


memory.command()(edit)
memory.command()(check)
memory.command("import")(import_notes)
memory.command("export")(export_notes)

"""``nocturn memory``: a person's way to the notes, by the same road that a script takes."""

from __future__ import annotations

import sys
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nocturn.cli.checking import check
from nocturn.cli.coming import export_notes, import_notes
from nocturn.cli.editing import edit
from nocturn.cli.options import (
    READ_BYTES,
    AgentName,
    DryRun,
    Folder,
    Guarded,
    Json,
    SecretEnv,
    Watched,
    Within,
    mode_of,
    open_workspace,
)
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.workspace import Workspace

__all__ = ["memory"]

memory = typer.Typer(
    name="memory", help="List, show, write and remove notes.", no_args_is_help=True
)

Path = Annotated[str, typer.Argument(help="The note's path, such as people/lina.md.")]


@memory.command("list")
def list_notes(workspace: Folder = None, secret_env: SecretEnv = None, json: Json = False) -> int:
    """List the notes: path, bytes, when, summary."""
    from nocturn.cli.layout import say, table

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
    from nocturn.cli.layout import say
    from nocturn.visible import visible

    with open_workspace(workspace, secret_env=secret_env) as ws:
        text = ws.memory.read(path)
        say(dumps({**ws.memory.stat(path), "text": text}) if json else visible(text))
    return 0


@memory.command()
def catalog(workspace: Folder = None, secret_env: SecretEnv = None) -> int:
    """Print the catalog, as every later prompt carries it."""
    from nocturn.cli.layout import say

    with open_workspace(workspace, secret_env=secret_env) as ws:
        if text := ws.memory.catalog():
            say(text)
    return 0


@memory.command()
def write(
    path: Path,
    summary: Annotated[str, typer.Argument(help="One line.")],
    content: Annotated[str, typer.Argument(help="The body; - reads stdin.")] = "-",
    workspace: Folder = None,
    watched: Watched = None,
    guarded: Guarded = False,
    within: Within = None,
    agent: AgentName = None,
    secret_env: SecretEnv = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Write one note, whole."""
    if content == "-":
        try:
            content = sys.stdin.buffer.read(READ_BYTES).decode()
        except UnicodeDecodeError:
            raise ConfigurationError("the content is not UTF-8: save it as UTF-8") from None
    mode = mode_of(watched, guarded)
    with open_workspace(workspace, secret_env=secret_env, mode=mode, within=within) as ws:
        done = ws.memory.write(path, summary, content, mode=mode, agent=agent, dry_run=dry_run)
    return _say_done(done, json, lambda note: f"{note['path']}: {note['bytesWritten']} bytes")


@memory.command("rm")
def remove(
    path: Path,
    workspace: Folder = None,
    watched: Watched = None,
    guarded: Guarded = False,
    within: Within = None,
    agent: AgentName = None,
    secret_env: SecretEnv = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> int:
    """Move one note to the trash."""
    mode = mode_of(watched, guarded)
    with open_workspace(workspace, secret_env=secret_env, mode=mode, within=within) as ws:
        done = ws.memory.remove(path, mode=mode, agent=agent, dry_run=dry_run)
    return _say_done(done, json, lambda note: f"{note['path']}: in the trash")


def _say_done(done: dict[str, Any], json: bool, in_words: Callable[[dict[str, Any]], str]) -> int:
    from nocturn.cli.layout import diff_lines, say

    if json:
        say(dumps(done))
    elif "would_write" in done:
        for each in done["would_write"]:
            say(diff_lines(each["diff"]))
    else:
        say(in_words(done))
    return 0


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

"""What notes were, and going back: ``nocturn memory history``, and ``nocturn undo`` of a run."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nocturn.cli.changing import change
from nocturn.cli.groups import Changing, spread
from nocturn.cli.options import Folder, Json, SecretEnv, open_workspace
from nocturn.errors import BAD_ARGUMENTS, NOT_FOUND, ConfigurationError, NocturnError
from nocturn.layout import changed_lines

if TYPE_CHECKING:
    from nocturn.workspace import Workspace

__all__ = ["diff", "history", "restore", "trash", "undo", "undo_run"]

_RUN_CHARACTERS: Final = 4
"""A shorter beginning could meet another run than the one that was meant."""

trash = typer.Typer(
    name="trash", help="List what was removed, bring it back, or remove it for good."
)

Path = Annotated[str, typer.Argument(help="The note's path, such as people/lina.md.")]
Number = Annotated[int, typer.Argument(metavar="NUMBER", help="As nocturn memory history has it.")]
Slot = Annotated[str, typer.Argument(metavar="ID", help="As nocturn memory trash has it.")]


def history(
    path: Path, workspace: Folder = None, secret_env: SecretEnv = None, json: Json = False
) -> int:
    """List the states of a note, oldest first.

    Number, when, what, bytes, who, which run. What a hand has changed is there too, as seen.

    Example: nocturn memory history people/lina.md
    """
    from nocturn.layout import local_time, say, table

    with open_workspace(workspace, secret_env=secret_env) as ws:
        states = ws.memory.history(path)
        if not states:
            ws.memory.stat(path)  # refuses the path that never was, in the words of elsewhere
    if json:
        say(dumps(states))
    elif states:
        say(
            table(
                (
                    str(each["number"]),
                    local_time(each["at"]),
                    _verb(each),
                    f"{each['bytes']} B",
                    each["agent"] or "",
                    each["run"] or "",
                )
                for each in states
            )
        )
    return 0


def diff(
    path: Path,
    old: Annotated[
        int | None, typer.Argument(metavar="OLD", help="A state's number; the last but one if not.")
    ] = None,
    new: Annotated[
        int | None, typer.Argument(metavar="NEW", help="Another's; as it is now if not given.")
    ] = None,
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    json: Json = False,
) -> int:
    """Show what changed in a note, as a unified diff.

    Example: nocturn memory diff people/lina.md 12 15
    """
    from nocturn.layout import say
    from nocturn.visible import visible

    with open_workspace(workspace, secret_env=secret_env) as ws:
        older = _last_but_one(ws, path) if old is None else old
        text = ws.memory.diff(path, older, new)
    if json:
        say(dumps({"path": path, "old": older, "new": new, "diff": text}))
    elif text:
        say(visible(text).rstrip("\n"))
    return 0


@spread
def restore(
    path: Path,
    number: Number,
    *,
    given: Changing,
) -> int:
    """Bring a note back to a state that it had.

    Example: nocturn memory restore people/lina.md 12
    """
    return change(
        given,
        lambda memory, options: memory.restore(path, number, **options),
        changed_lines,
    )


@spread
def undo(
    path: Path,
    *,
    given: Changing,
) -> int:
    """Take back the last change of a note; once more brings it back.

    Example: nocturn memory undo people/lina.md
    """
    return change(
        given,
        lambda memory, options: memory.undo(path, **options),
        changed_lines,
    )


@spread
def undo_run(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Its id, or the beginning: nocturn log has it.")
    ],
    *,
    given: Changing,
) -> int:
    """Take back all that one run has written, moved and removed, in one question.

    Where a note was changed since, nothing is done.

    Example: nocturn undo 1f2e3d4c
    """
    with given.open() as ws:
        whole = _whole_id(ws, run)
    return change(
        given,
        lambda memory, options: memory.undo(run=whole, **options),
        changed_lines,
    )


@trash.callback(invoke_without_command=True)
def list_trash(
    context: typer.Context,
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    json: Json = False,
) -> int:
    """List what was removed, the oldest first: id, when, bytes, path."""
    from nocturn.layout import local_time, say, table

    if context.invoked_subcommand is not None:
        return 0
    with open_workspace(workspace, secret_env=secret_env) as ws:
        rows = ws.memory.trash()
    if json:
        say(dumps(rows))
    elif rows:
        say(
            table(
                (each["slot"], local_time(each["at"]), f"{each['bytes']} B", each["path"])
                for each in rows
            )
        )
    return 0


@trash.command("restore")
@spread
def restore_from_trash(
    slot: Slot,
    *,
    given: Changing,
) -> int:
    """Bring a removed note back to where it was.

    Example: nocturn memory trash restore 20260301T083000Z-1f2e3d4c
    """
    return change(
        given,
        lambda memory, options: memory.recover(slot, **options),
        changed_lines,
    )


@trash.command("empty")
def empty_trash(
    yes: Annotated[bool, typer.Option("--yes", help="Do it without a question.")] = False,
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Remove for good what is in the trash; a note's history keeps what it said.

    Example: nocturn memory trash empty --yes
    """
    from nocturn.cli.person import agreed
    from nocturn.layout import say, tell

    with open_workspace(workspace) as ws:
        entries = ws.notes.trash.entries()
        question = f"Remove {len(entries)} from the trash for good?"
        if entries and not yes and not agreed(question, "say --yes to empty it"):
            tell("nocturn: nothing was removed")
            return 1
        for each in entries:
            ws.notes.trash.drop(each)
    say(dumps({"removed": len(entries)}) if json else f"removed for good: {len(entries)}")
    return 0


def _last_but_one(ws: Workspace, path: str) -> int:
    """Returns the number of the state that a note had before it came to be as it is."""
    numbers: list[int] = [each["number"] for each in ws.memory.history(path)]
    if len(numbers) < 2:  # noqa: PLR2004 - a difference is between two
        raise NocturnError(NOT_FOUND, "the note has one state or none: there is nothing to compare")
    return numbers[-2]


def _whole_id(ws: Workspace, beginning: str) -> str:
    """Returns the id of the one run that begins like this."""
    if len(beginning) < _RUN_CHARACTERS:
        raise ConfigurationError(
            f"a run is named by its first {_RUN_CHARACTERS} characters or more"
        )
    lines, _ = ws.journal.last(
        1 << 62, lambda entry: str(entry.get("run", "")).startswith(beginning)
    )
    runs = {str(each.entry["run"]) for each in lines}
    if len(runs) > 1:
        raise NocturnError(BAD_ARGUMENTS, f"{len(runs)} runs begin like this: give more of the id")
    return runs.pop() if runs else beginning


def _verb(state: dict[str, Any]) -> str:
    if state["verb"] != "move":
        return str(state["verb"] if state["version"] or state["verb"] == "remove" else "seen gone")
    arrow = "to" if state["version"] is None else "from"
    return f"move {arrow} {state['partner']}"

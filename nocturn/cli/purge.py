"""``nocturn memory purge`` and ``rescan``: for the day a secret got in."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from nocturn.cli.options import Folder, Json, SecretEnv, open_workspace
from nocturn.errors import ConfigurationError, NocturnError

if TYPE_CHECKING:
    from nocturn.purge import Held, Purged

__all__ = ["purge", "rescan"]


def purge(
    path: Annotated[
        str | None, typer.Argument(help="A note's path: it goes, with its whole past.")
    ] = None,
    value: Annotated[
        bool, typer.Option("--value", help="A value, typed at a hidden prompt or on stdin.")
    ] = False,
    entry: Annotated[
        str | None, typer.Option("--entry", metavar="NAME", help="The value of a vault's entry.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without a question.")] = False,
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Forget a note or a value for good, in every store and the journal.

    A note goes under every name that it had; a value becomes [REDACTED], its encodings too.

    Keep it in the vault first, so that nothing writes it again: nocturn vault set TOKEN

    Example: nocturn memory purge --entry TOKEN
    """
    from nocturn.cli.person import agreed, typed
    from nocturn.layout import say, tell
    from nocturn.visible import visible

    if path is not None and (value or entry is not None):  # not echoed: it may be the value
        raise ConfigurationError(
            "give a path, or --value, or --entry NAME; a value is never an argument, where others "
            "see it and the shell keeps it: take what you have just typed for known"
        )
    if (path is not None) + value + (entry is not None) != 1:
        raise ConfigurationError("say what: give a note's path, or --value, or --entry NAME")
    with open_workspace(workspace) as ws:
        if path is not None:
            names = ", ".join(ws.redacted(ws.purge.names_of(path)))
            what = f"the note {names} with its whole past"
        else:
            what = "the value" if entry is None else f"the value of {entry}"
        secret = typed("Value (not shown): ") if value else ""
        question = visible(f"Purge {what}? It cannot be undone.", keep="")
        if not yes and not agreed(question, "say --yes to purge it"):
            tell("nocturn: nothing was purged")
            return 1
        if path is not None:
            done = ws.purge.note(path)
        else:
            done = ws.purge.value(secret) if entry is None else ws.purge.entry(entry)
        told = dumps(ws.redacted(done.to_dict())) if json else _in_words(done)
    say(told)
    return 0


def rescan(workspace: Folder = None, secret_env: SecretEnv = None, json: Json = False) -> int:
    """Find what has become a secret since, in notes, trash and history.

    The exit status is 1 where something is found; nocturn memory purge takes it out.

    Example: nocturn memory rescan --json
    """
    from nocturn.layout import say, table

    found: list[Held] = []
    trouble = None
    with open_workspace(workspace, secret_env=secret_env) as ws:
        try:
            found.extend(ws.purge.rescan())
        except NocturnError as error:  # what was found before is told first
            trouble = error
    if json:
        say(dumps([each.to_dict() for each in found]))
    elif found:
        say(table(_cells(each) for each in found))
    if trouble is not None:
        raise trouble
    return 1 if found else 0


def _cells(held: Held) -> tuple[str, ...]:
    where = held.where if held.number is None else f"{held.where} {held.number}"
    place = "in its name" if held.line is None else f"line {held.line}"
    return where, held.path, place, f"holds {held.secret}"


def _in_words(done: Purged) -> str:
    from nocturn.layout import table
    from nocturn.purge import NOT_REACHED
    from nocturn.visible import visible

    lines = ["it was nowhere"]
    if done.places:
        lines = ["purged, in so many places:"]
        lines.append(table((f"  {name}", str(count)) for name, count in done.places.items()))
    lines += [f"left, for you to edit: {visible(each, keep='')}" for each in done.left]
    return "\n".join((*lines, "no purge reaches:", *(f"  {each}" for each in NOT_REACHED)))

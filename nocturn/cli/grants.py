"""``nocturn grants``: the yeses that last, what they cover, and how they are taken back."""

from __future__ import annotations

import re
from json import dumps
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from nocturn.effects import Grant

__all__ = ["grant_lines", "grants"]

grants = typer.Typer(
    name="grants", help="List, explain, give and revoke the yeses that last.", no_args_is_help=True
)

_SHOWN_NOTES: Final = 3
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

Agent = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")]
Verb = Annotated[str, typer.Argument(metavar="VERB", help="Such as write or remove.")]


@grants.command("list")
def list_grants(workspace: Folder = None, json: Json = False) -> int:
    """List the grants: id, whose, for what, until when, and the notes that each covers now."""
    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        found = ws.grants.load()
        covered = [ws.permissions.covered(each) for each in found]
    if json:
        rows = zip(found, covered, strict=True)
        say(dumps([{**grant.to_dict(), "covers": notes} for grant, notes in rows]))
    elif found:
        say(grant_lines(found, covered))
    return 0


@grants.command()
def revoke(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="As nocturn grants list shows them.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="All that this agent has.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All that there are.")] = False,
    workspace: Folder = None,
) -> int:
    """Take grants back; it holds for runs that are under way, too."""
    from nocturn.layout import say

    if sum((bool(ids), agent is not None, every)) != 1:
        raise ConfigurationError("say which: give ids, or --agent NAME, or --all")
    with open_workspace(workspace) as ws:
        found = ws.grants.load()
        known = {each.id for each in found}
        if unknown := [each for each in ids or () if each not in known]:
            raise ConfigurationError(f"no grant has the id {unknown[0]!r}: nocturn grants list")
        chosen = [
            each.id for each in found if every or each.agent == agent or each.id in (ids or ())
        ]
        gone = ws.grants.revoke(*chosen)
    say("\n".join(f"{each.id}: revoked" for each in gone) or "nothing to do: there are none")
    return 0


@grants.command()
def explain(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Such as memory.")],
    verb: Verb,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Such as people/lina.md.")],
    agent: Agent,
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Say which grant covers a call, or of each why it does not."""
    from nocturn.layout import say, table

    with open_workspace(workspace) as ws:
        effect = ws.permissions.effect(kind, verb, target)
        found = [(each, each.miss(agent, effect)) for each in ws.grants.load()]
    if json:
        say(dumps([{**grant.to_dict(), "why_not": why or None} for grant, why in found]))
        return 0
    rows = (
        (each.id, each.agent, f"{each.kind} {each.verb} {each.pattern}", why or "covers it")
        for each, why in found
    )
    if all(why for _, why in found):
        say("no grant covers it" if found else "no grant covers it: there are none")
    say(table(rows)) if found else None
    return 0


@grants.command()
def add(
    agent: Agent,
    verb: Verb,
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="One note, or with --folder what is right in it."),
    ],
    folder: Annotated[bool, typer.Option("--folder", help="TARGET is a folder.")] = False,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="Not of notes.")] = "memory",
    lasting: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Such as 30m, 12h, 7d, 2w.")
    ] = None,
    workspace: Folder = None,
) -> int:
    """Say yes ahead: for runs in mode strict, which ask nobody."""
    from nocturn.effects import Effect, Mode
    from nocturn.layout import say, tell

    time = None if lasting is None else _duration(lasting)
    with open_workspace(workspace) as ws:
        given = ws.permissions.grant(agent, verb, target, kind=kind, folder=folder, lasting=time)
        covered = ws.permissions.covered(given)
        example = Effect(kind, verb, f"{given.target}/x.md" if folder else given.target)
        strict = ws.permissions.explain(Mode.STRICT, example, agent)
    say(grant_lines([given], [covered]))
    if strict.outcome == "policy":
        tell(f"nocturn: it changes nothing, since the policy denies it ({strict.ruling.where})")
    return 0


def grant_lines(found: Iterable[Grant], covered: Iterable[tuple[str, ...] | None]) -> str:
    """Returns grants as a table; ``covered`` has the notes of each, None where it is for others."""
    from nocturn.layout import table

    return table(
        (
            each.id,
            each.agent,
            f"{each.kind} {each.verb}",
            each.pattern,
            _until(each),
            _notes(notes),
        )
        for each, notes in zip(found, covered, strict=True)
    )


def _until(grant: Grant) -> str:
    until = grant.to_dict()["expires_at"]
    return "expired" if grant.expired else f"until {until}" if until else "always"


def _notes(notes: tuple[str, ...] | None) -> str:
    if notes is None:
        return ""
    if not notes:
        return "no note now"
    more = f" and {len(notes) - _SHOWN_NOTES} more" if len(notes) > _SHOWN_NOTES else ""
    return "now " + ", ".join(notes[:_SHOWN_NOTES]) + more


def _duration(given: str) -> timedelta:
    from datetime import timedelta

    found = re.fullmatch(r"([1-9][0-9]{0,4})([mhdw])", given)
    if found is None:
        raise ConfigurationError(f"--for is {given!r}: give a time such as 30m, 12h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})

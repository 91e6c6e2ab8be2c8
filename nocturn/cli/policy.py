"""``nocturn init`` and ``nocturn policy``: the rules of a workspace, and which one ruled."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.guard.policy import Policy, Rule
    from nocturn.permissions import Explanation

__all__ = ["init", "outcome_lines", "policy", "rule_lines"]

policy = typer.Typer(
    name="policy", help="Show, check and explain what scripts may do.", no_args_is_help=True
)

_OUTCOMES: Final = {
    "allow": "runs, nobody is asked",
    "grant": "runs, since it was granted",
    "ask": "a person is asked",
    "unattended": "refused: it needs a yes, and nobody is asked",
    "policy": "refused",
}


def init(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="The folder; else --workspace.")
    ] = None,
    workspace: Folder = None,
) -> int:
    """Make a workspace: its folder, a commented policy.toml and memory/; nothing is overwritten."""
    from nocturn.layout import say

    with open_workspace(path or workspace) as ws:
        made = ws.permissions.set_up()
        say("\n".join(f"{each}: made" for each in made) or "nothing to do: it is all there")
    return 0


@policy.command()
def show(workspace: Folder = None, json: Json = False) -> int:
    """Show the rules in force, and where each stands."""
    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        found = ws.permissions.policy()
    say(dumps([each.to_dict() for each in _rules(found)]) if json else rule_lines(found))
    return 0


@policy.command()
def check(workspace: Folder = None) -> int:
    """Look for mistakes in policy.toml, trusted or not; each is said with its line."""
    from nocturn.layout import say, tell

    with open_workspace(workspace) as ws:
        found = ws.permissions.read("policy.toml")
    if found is None:
        say("there is no policy.toml: the built-in policy holds (nocturn init makes one)")
        return 0
    say(f"policy.toml: sound, {len(found.policy.rules)} rules")
    if not found.trusted:
        tell("nocturn: it is not trusted, so nothing gated runs: nocturn trust takes it")
    return 0


@policy.command()
def explain(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="Such as memory.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Such as people/lina.md.")],
    verb: Annotated[str, typer.Option("--verb", metavar="VERB", help="What would be done.")] = (
        "write"
    ),
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="MODE", help="One mode; else all three.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Whose run; else one without a name.")
    ] = "",
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Say what would become of a call, which line ruled, and which grants cover it."""
    from nocturn.effects import Mode
    from nocturn.layout import say

    if mode is not None and mode not in {each.value for each in Mode}:
        raise ConfigurationError(f"--mode is {mode!r}: give strict, guarded or watched")
    with open_workspace(workspace) as ws:
        effect = ws.permissions.effect(kind, verb, target)
        modes = Mode if mode is None else (Mode(mode),)
        found = [ws.permissions.explain(each, effect, agent) for each in modes]
    say(dumps([each.to_dict() for each in found]) if json else outcome_lines(found))
    return 0


def rule_lines(found: Policy) -> str:
    """Returns a policy as a table, a rule a line, with what lies beneath it."""
    from nocturn.layout import table

    head = ("where", "ruling", "kind", "verb", "target", "mode", "agent")
    return table((head, *map(_row, _rules(found))))


def outcome_lines(found: list[Explanation]) -> str:
    """Returns what would become of an effect, a mode a line, and the grants that cover it."""
    from nocturn.layout import table

    rows = (
        (each.mode.value, _ruling(each.ruling.rule), each.ruling.where, _OUTCOMES[each.outcome])
        for each in found
    )
    grants = found[0].grants
    covered = (("grant", each.id, f"{each.agent} {each.verb} {each.pattern}") for each in grants)
    return "\n".join(filter(None, (table(rows), table(covered) or "no grant covers it")))


def _rules(found: Policy) -> tuple[Rule, ...]:
    return found.rules + (() if found.beneath is None else _rules(found.beneath))


def _row(rule: Rule) -> tuple[str, ...]:
    told = rule.to_dict()
    cells = (told[key] for key in ("kind", "verb", "target", "mode", "agent"))
    words = ("any" if c is None else c if isinstance(c, str) else ",".join(c) for c in cells)
    return (rule.where, _ruling(rule), *words)


def _ruling(rule: Rule | None) -> str:
    if rule is None:
        return "ask, always"
    told = rule.to_dict()
    return f"{told['ruling']}, {told['recall']}" if told["recall"] else str(told["ruling"])

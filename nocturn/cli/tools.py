"""``nocturn tools`` and ``nocturn types``: what a script has."""

from __future__ import annotations

from nocturn.cli.options import Folder, Json, open_workspace

__all__ = ["tools", "types"]


def tools(workspace: Folder = None, json: Json = False) -> int:
    """List the tools that a script has."""
    from nocturn.layout import say, table

    given = [each for each in open_workspace(workspace).tools if not each.by_hand]
    if json:
        from json import dumps

        say(dumps([each.to_dict() for each in given]))
        return 0
    rows = (
        (each.name, each.axis, each.gate, each.description.partition("\n")[0]) for each in given
    )
    say(table(rows))
    return 0


def types(workspace: Folder = None) -> int:
    """Print what a script has as TypeScript declarations, for an editor or a model."""
    from nocturn.layout import say

    say(open_workspace(workspace).types())
    return 0

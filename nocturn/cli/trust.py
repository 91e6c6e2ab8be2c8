"""``nocturn trust``: looks at a policy or grants that came from elsewhere, and takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from nocturn.cli.grants import grant_lines
from nocturn.cli.options import Folder, open_workspace
from nocturn.cli.person import agreed
from nocturn.cli.policy import rule_lines
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.permissions import Permissions, Shown

__all__ = ["trust"]


def trust(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="policy.toml or grants.json; both where not given."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take them without a question.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Trust them no more.")] = False,
    workspace: Folder = None,
) -> int:
    """Show the workspace's policy.toml and grants.json, and take them as they are now.

    Trust is for this content in this place: a changed, moved or copied file needs it again.
    """
    from nocturn.layout import say, table
    from nocturn.permissions import FILES

    if listing + revoke + yes > 1 or (listing and files):
        raise ConfigurationError("give one of --list, --revoke and --yes; --list takes no file")
    with open_workspace(workspace) as ws:
        if listing:
            if rows := ws.permissions.trusted_places():
                say(table(rows))
            return 0
        if revoke:
            gone = ws.permissions.distrust(files or FILES)
            say("\n".join(f"{each}: not trusted" for each in gone) or "nothing was trusted here")
            return 0
        return _take(ws.permissions, files or FILES, named=bool(files), yes=yes)


def _take(
    permissions: Permissions, names: tuple[str, ...] | list[str], *, named: bool, yes: bool
) -> int:
    from nocturn.layout import say

    found = {name: permissions.read(name) for name in names}
    for name, shown in found.items():
        if shown is None:
            if named:
                raise ConfigurationError(f"there is no {name} in the workspace")
            continue
        if shown.trusted:
            say(f"{name}: trusted already")
            continue
        say(_page(permissions, shown))
        if not yes and not agreed(f"Trust {name} as shown?", f"say --yes to trust {name}"):
            say(f"{name}: not trusted")
            return 1
        permissions.trust(shown)
        say(f"{name}: trusted")
    if not any(found.values()):
        say("there is nothing to trust: no policy.toml and no grants.json")
    return 0


def _page(permissions: Permissions, shown: Shown) -> str:
    """Returns all that would be trusted: what it says, and a policy's text with its comments."""
    from nocturn.visible import visible

    head = visible(str(shown.path), keep="")
    if shown.path.name != "policy.toml":
        covered = [permissions.covered(each) for each in shown.grants]
        return f"{head}\n{grant_lines(shown.grants, covered) or 'no grants'}"
    lines = shown.data.decode("utf-8-sig").splitlines()
    text = (f"{at:5} | {visible(line, keep='')}" for at, line in enumerate(lines, 1))
    return "\n".join((head, *text, "", rule_lines(shown.policy), ""))

"""``nocturn backup``: a workspace in one file, and back."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from nocturn.cli.options import Folder, Json, open_workspace

__all__ = ["backup"]


def backup(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The backup, such as notes.zip.")],
    restore: Annotated[
        bool,
        typer.Option("--restore", help="Make the workspace, a new folder, out of the backup."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
    workspace: Folder = None,
    json: Json = False,
) -> int:
    """Put all of a workspace that cannot be made again into one file, or back.

    Notes, persona, trash, policy, grants, journal, history, and the vault as it is encrypted. Keys
    are not in it: keep keys/ of your data folder, or your passphrase, in another place. FILE is a
    zip archive that nobody but you can read.

    nocturn backup notes.zip

    nocturn backup --restore notes.zip --workspace new-folder
    """
    from nocturn.layout import say, tell
    from nocturn.visible import visible

    with open_workspace(workspace) as ws:
        done = ws.restore(file) if restore else ws.backup(file, replace=force)
    if json:
        say(dumps(done))
        return 0
    for path in done["skipped"]:
        tell(visible(f"skipped {path}: it is no plain file, or cannot be read", keep=""))
    say(f"{done['files']:,} files, {done['bytes']:,} bytes")
    if restore:
        tell("nocturn: its policy and grants are not trusted here yet: nocturn trust shows them")
    elif done["vault"]:
        tell("nocturn: the vault is in it, encrypted; its key is not: keep that apart")
    return 0

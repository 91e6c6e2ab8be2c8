"""``nocturn memory check``: looks through the notes for what will give trouble."""

from __future__ import annotations

from json import dumps
from typing import Annotated

import typer

from nocturn.cli.options import Folder, Json, SecretEnv, open_workspace

__all__ = ["check"]


def check(
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Mend what is safe: modes, what killed writers left, names that are not composed.",
        ),
    ] = False,
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    json: Json = False,
) -> int:
    """Look through the notes for what will give trouble.

    Names that not every system takes, doubles by case or form, broken preambles, what is too large
    or cannot be read, secrets, text that reads like instructions, links to notes that are not
    there, modes, what killed writers have left. The exit status is 1 where something remains.

    nocturn memory check --fix
    """
    from nocturn.layout import say, table

    with open_workspace(workspace, secret_env=secret_env) as ws:
        found = ws.memory.check(fix=fix)
    if json:
        say(dumps(found))
    elif found:
        say(
            table(
                (
                    each["path"],
                    each["kind"],
                    f"{each['what']}: {'mended' if each['fixed'] else each['advice']}",
                )
                for each in found
            )
        )
    return 0 if all(each["fixed"] for each in found) else 1

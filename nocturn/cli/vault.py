"""``nocturn vault``: named secrets, put in by a person; no command prints a value."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.cli.person import LARGEST_BYTES, text_of, typed
from nocturn.errors import BAD_ARGUMENTS, ConfigurationError, NocturnError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["vault"]

vault = typer.Typer(
    name="vault",
    help="Keep the values that must not leave, encrypted in the workspace.",
    no_args_is_help=True,
)

_OWN: Final = "NOCTURN_"
_NEVER_FOUND: Final = "nocturn: that is under 4 characters: it is kept, and never looked for"

Name = Annotated[str, typer.Argument(metavar="NAME", help="The secret's name.")]
Weak = Annotated[
    bool, typer.Option("--weak", help="Take a value that could be guessed; it may block notes.")
]
Extra = Annotated[list[str] | None, typer.Argument(hidden=True)]


@vault.command("set", context_settings={"ignore_unknown_options": True})
def put(name: Name, extra: Extra = None, workspace: Folder = None, weak: Weak = False) -> int:
    """Keep a value: typed at a hidden prompt, or read from stdin. It is never an argument."""
    from nocturn.layout import say, tell

    if extra:  # not echoed, as the usual error would
        raise ConfigurationError(
            "a value is never an argument, where others see it and the shell keeps it: give it at "
            "the prompt or on stdin, and take what you have just typed for known"
        )
    with open_workspace(workspace) as ws:
        value = typed("Value (not shown): ")
        ws.vault.set(name, value, weak)
    if _is_too_short(value):
        tell(_NEVER_FOUND)
    say(f"{name}: kept")
    return 0


@vault.command("list")
def list_names(workspace: Folder = None, json: Json = False) -> int:
    """List the secrets: name, when it was made and changed, whether it is weak."""
    from json import dumps

    from nocturn.layout import say, table

    with open_workspace(workspace) as ws:
        rows = ws.vault.list()
    if json:
        say(dumps(rows))
    elif rows:
        say(
            table(
                (row["name"], row["created"], row["updated"], "weak" if row["weak"] else "")
                for row in rows
            )
        )
    return 0


@vault.command("rm")
def remove(name: Name, workspace: Folder = None) -> int:
    """Remove a secret; its value is not guarded any more."""
    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        ws.vault.remove(name)
    say(f"{name}: removed")
    return 0


@vault.command()
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Its name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name that it shall have.")],
    workspace: Folder = None,
) -> int:
    """Give a secret another name."""
    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        ws.vault.rename(old, new)
    say(f"{new}: was {old}")
    return 0


@vault.command("import-env")
def import_env(
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="Such as '*_TOKEN'; quote it.")],
    workspace: Folder = None,
    weak: Weak = False,
) -> int:
    """Keep the environment variables whose names match; weak values are left out, and named."""
    from fnmatch import fnmatchcase

    values = {
        name: value
        for name, value in os.environ.items()
        if fnmatchcase(name, pattern) and not name.startswith(_OWN)
    }
    if not values:
        raise ConfigurationError("no environment variable has such a name: quote the pattern")
    return _import(values, workspace, weak)


@vault.command("import-dotenv")
def import_dotenv(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .env file.")],
    workspace: Folder = None,
    weak: Weak = False,
) -> int:
    """Keep the values of a .env file; weak values are left out, and named."""
    from nocturn.store.dotenv import parsed

    try:
        with open(file, "rb") as dotenv:
            data = dotenv.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(f"the file {file} cannot be read: {error.strerror}") from None
    values = parsed(text_of(data, "the file"))
    if not values:
        raise ConfigurationError(f"the file {file} has no value")
    return _import(values, workspace, weak)


@vault.command()
def rekey(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="KIND", help="file, keyring or passphrase; else as it is."),
    ] = None,
    workspace: Folder = None,
) -> int:
    """Seal the vault under a new key; --to changes what protects it.

    A new passphrase is typed twice at a hidden prompt, or read from stdin; give it from then on as
    NOCTURN_MASTER_PASSPHRASE or in the file that NOCTURN_MASTER_PASSPHRASE_FILE names.
    """
    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        new = None
        if to == "passphrase":
            if not ws.vault.check()["there"]:
                raise ConfigurationError("there is no vault: nocturn vault set NAME makes one")
            new = typed("New passphrase (not shown): ", again="The same again: ")
        ws.vault.rekey(to, passphrase=new)
        found = ws.vault.check()
    say(f"rekeyed: {found['secrets']} secrets, protected by {found['protection']}")
    return 0


@vault.command()
def check(workspace: Folder = None, json: Json = False) -> int:
    """Open the vault, and say what protects it."""
    from json import dumps

    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        found = ws.vault.check()
    if json:
        say(dumps(found))
    elif found["there"]:
        weak = f", {found['weak']} of them weak" if found["weak"] else ""
        say(f"opens: {found['secrets']} secrets{weak}, protected by {found['protection']}")
    else:
        say(f"there is no vault; a new one would be protected by {found['protection']}")
    return 0


def _import(values: Mapping[str, str], workspace: str | None, weak: bool) -> int:
    """Keeps what may be kept and names the rest; to keep nothing at all is a failure."""
    from nocturn.layout import say, tell
    from nocturn.visible import visible

    with open_workspace(workspace) as ws:
        left_out = ws.vault.set_many(values, weak)
    for name, reason in left_out.items():
        tell(f"nocturn: {visible(name, keep='')} was left out: {reason}")
    for name, value in values.items():
        if name not in left_out:
            say(f"{name}: kept")
            if _is_too_short(value):
                tell(_NEVER_FOUND)
    if len(left_out) == len(values):
        raise NocturnError(BAD_ARGUMENTS, "nothing was kept: see the reasons above")
    return 0


def _is_too_short(value: str) -> bool:
    from nocturn.limits import SECRET_CHARACTERS

    return len(value) < SECRET_CHARACTERS

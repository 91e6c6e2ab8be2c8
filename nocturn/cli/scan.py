"""``nocturn scan``: the leak scanner for a person or a hook, over files and not over calls."""

from __future__ import annotations

import codecs
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nocturn.cli import codes
from nocturn.cli.options import Folder, Json, SecretEnv, open_workspace
from nocturn.errors import LEAK_BLOCKED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nocturn.guard.search import Found
    from nocturn.workspace import Workspace

__all__ = ["scan"]

_PIECE_BYTES: Final = 1_048_576
_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def scan(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE…|-", help="What to look through; - or nothing reads stdin."),
    ] = None,
    workspace: Folder = None,
    secret_env: SecretEnv = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where something warns.")] = False,
    json: Json = False,
) -> int:
    """Look for secrets in files: those of the vault, and tokens and keys by their shape.

    One line a finding, FILE:LINE:COLUMN: what; never a value. The exit status is 3 where something
    is found that blocks, else 2 where a file cannot be read, else 0.
    """
    from dataclasses import asdict
    from itertools import chain
    from json import dumps

    from nocturn.layout import say, tell
    from nocturn.visible import visible

    rows: list[dict[str, Any]] = []
    leaks = unread = False
    with open_workspace(workspace, secret_env=secret_env) as ws:
        for file in files or ["-"]:
            name, in_name = _name(ws, file)
            try:
                for found in chain(in_name, ws.scan(_pieces(file))):
                    leaks = leaks or found.blocks or strict
                    if json:
                        rows.append({"file": name, **asdict(found)})
                    else:
                        say(visible(_line(name, found), keep=""))
            except OSError as error:
                unread = True
                tell(visible(f"nocturn: {name} cannot be read: {_why(error)}", keep=""))
    if json:
        say(dumps(rows))
    if leaks:
        return codes.of_error(LEAK_BLOCKED, {})
    return codes.USAGE if unread else 0


def _name(ws: Workspace, file: str) -> tuple[str, list[Found]]:
    """Returns what to call a file, and what is found in its name, which is then not shown."""
    from dataclasses import replace

    from nocturn.guard.scanner import REDACTED

    if file == "-":
        return "<stdin>", []
    found = [replace(each, what=f"in its name: {each.what}") for each in ws.scan([file])]
    return (REDACTED if any(each.blocks for each in found) else file), found


def _pieces(file: str) -> Iterator[str]:
    """Yields a file's text. What is not UTF-8 is scanned too, as far as it is ASCII."""
    with nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb") as stream:
        data = stream.read(_PIECE_BYTES)
        encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        while data:
            yield decoder.decode(data)
            data = stream.read(_PIECE_BYTES)
        yield decoder.decode(b"", final=True)


def _line(name: str, found: Found) -> str:
    rule = f" ({found.rule})" if found.rule else ""
    warning = "" if found.blocks else "warning: "
    return f"{name}:{found.line}:{found.column}: {warning}{found.what}{rule}"


def _why(error: OSError) -> str | None:
    if isinstance(error, IsADirectoryError):
        return "it is a folder, give its files"
    return error.strerror

"""``nocturn run`` and ``nocturn eval``: a script, what it does and what became of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from nocturn.cli import codes
from nocturn.cli.groups import Running, spread
from nocturn.cli.options import READ_BYTES, Json
from nocturn.errors import ConfigurationError, RunInterrupted

if TYPE_CHECKING:
    from nocturn.host.result import RunResult

__all__ = ["evaluate", "run"]

Args = Annotated[
    list[str] | None,
    typer.Argument(help="nocturn.args in the script; after -- where one begins with a hyphen."),
]


@spread
def run(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A .js or .ts file; - reads stdin.")
    ],
    args: Args = None,
    *,
    given: Running,
    json: Json = False,
    interactive: Annotated[
        bool,
        typer.Option("--interactive", "-i", help="Stay in a session afterwards, as in repl."),
    ] = False,
) -> int:
    """Run a script. What it prints goes to stdout, the transcript of its calls to stderr."""
    source, name = _read(file)
    folder = None if file == "-" else os.path.dirname(os.path.realpath(file))
    if interactive:
        if json or file == "-":
            raise ConfigurationError("--interactive stays with you: give a FILE, and no --json")
        from nocturn.cli.repl import talk

        return talk(given, (source, name, folder, args or []))
    return _run(source, name, args or [], given, json=json, folder=folder)


@spread
def evaluate(
    code: Annotated[
        str, typer.Argument(metavar="CODE|-", help="JavaScript; - reads it from stdin.")
    ],
    args: Annotated[
        list[str] | None,
        typer.Argument(help="nocturn.args in the script; a - among them is what stdin gives."),
    ] = None,
    *,
    given: Running,
    json: Json = False,
) -> int:
    """Run a piece of code and print its value.

    cat people.txt | nocturn eval "nocturn.args[0].length" -
    """
    args = args or []
    if [code, *args].count("-") > 1:
        raise ConfigurationError("stdin can be read once: give - for the code or for one argument")
    source: str | bytes = _read(code)[0] if code == "-" else code
    args = [_stdin() if each == "-" else each for each in args]
    return _run(source, "<eval>", args, given, json=json, show_value=True)


def _run(
    source: str | bytes,
    name: str,
    args: list[str],
    given: Running,
    *,
    json: bool,
    show_value: bool = False,
    folder: str | None = None,
) -> int:
    from nocturn.layout import (
        call_line,
        console_line,
        diff_lines,
        error_lines,
        say,
        tell,
        value_text,
    )

    with given.open(given.isolation) as ws:
        try:
            result = ws.run(
                source,
                filename=name,
                folder=folder,
                lang=given.lang,
                mode=given.mode,
                agent=given.agent,
                args=args,
                limits=given.limits,
                dry_run=given.dry_run,
                # While a call waits for a person, neither is told: nothing comes between question
                # and answer.
                on_call=lambda call: tell(call_line(call)),
                on_console=None if json else lambda line: say(console_line(line)),
            )
        except RunInterrupted as interrupt:
            result = interrupt.result
    if json:
        say(result.to_json())
    elif show_value and result.ok and (text := value_text(result.value)) is not None:
        say(text)
    if result.error is not None and not json:
        tell(error_lines(result.error))
    for rejection in result.unhandled_rejections:
        if not json:
            tell(f"nocturn: nobody looked at this rejection:\n{error_lines(rejection)}")
    for each in result.would_write or ():
        if not json:
            tell(diff_lines(each.diff))
    _tell_what_next(result, given)
    return codes.of_result(result)


def _tell_what_next(result: RunResult, given: Running) -> None:
    """Says how a person can go on from what the calls did, or could not do."""
    from nocturn.layout import RUN_CHARACTERS, tell

    done = [call for call in result.calls if call.code is None and not given.dry_run]
    if any(each["kind"] == "memory" for call in done for each in call.effects):
        tell(f"nocturn: nocturn undo {result.run[:RUN_CHARACTERS]} takes back what it changed")
    if given.mode == "strict" and any(call.ruling == "unattended" for call in result.calls):
        tell("nocturn: nobody was there to allow it; --watched (at a terminal) or --guarded do")


def _stdin() -> str:
    from nocturn.cli.person import text_of

    return text_of(sys.stdin.buffer.read(READ_BYTES), "what stdin gives")


def _read(file: str) -> tuple[bytes, str]:
    if file == "-":
        return sys.stdin.buffer.read(READ_BYTES), "<stdin>"
    try:
        with open(file, "rb") as script:
            return script.read(READ_BYTES), file
    except OSError as error:
        raise ConfigurationError(f"the script {file} cannot be read: {error.strerror}") from None

"""The ``nocturn`` command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from nocturn.cli import codes
from nocturn.cli.agent import agent as agents
from nocturn.cli.agent import prompt
from nocturn.cli.approvals import approvals
from nocturn.cli.backup import backup
from nocturn.cli.doctor import doctor
from nocturn.cli.grants import grants
from nocturn.cli.groups import Running, spread
from nocturn.cli.history import undo_run
from nocturn.cli.log import log
from nocturn.cli.memory import memory
from nocturn.cli.options import READ_BYTES, Folder, Json, open_workspace
from nocturn.cli.policy import init, policy
from nocturn.cli.repl import repl, talk
from nocturn.cli.scan import scan
from nocturn.cli.serve import serve
from nocturn.cli.trust import trust
from nocturn.cli.vault import vault
from nocturn.errors import ConfigurationError, IsolationError, NocturnError, RunInterrupted

if TYPE_CHECKING:
    import click

    from nocturn.host.result import RunResult

__all__ = ["main"]

Args = Annotated[
    list[str] | None,
    typer.Argument(help="nocturn.args in the script; after -- where one begins with a hyphen."),
]
_OUR_FAULT: Final = "nocturn: this is a fault of nocturn's own, please report it"

app = typer.Typer(
    name="nocturn",
    help="Run JavaScript that you do not trust; it acts through guarded tools only.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(memory)
app.add_typer(vault)
app.add_typer(policy)
app.add_typer(grants)
app.add_typer(approvals)
app.add_typer(agents)


def _print_version(wanted: bool) -> None:
    if wanted:
        from nocturn import __version__
        from nocturn.layout import say

        say(f"nocturn {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    *,
    one_liner: Annotated[
        str | None,
        typer.Option(
            "--print",
            "-p",
            metavar="CODE",
            help="As eval CODE; nocturn.args[0] is what is piped in.",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print it and leave.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Run JavaScript that you do not trust; it acts through guarded tools only."""
    del version  # its callback has left
    if one_liner is None:
        return
    if context.invoked_subcommand is not None:
        raise ConfigurationError(f"-p runs its code: leave {context.invoked_subcommand} away")
    given = ["--", one_liner] if sys.stdin.isatty() else ["--", one_liner, "-"]
    command = cast("click.Group", context.command).commands["eval"]
    raise typer.Exit(command.main(given, prog_name="nocturn eval", standalone_mode=False))


def main() -> None:
    """Runs the command line and exits with its status."""
    _open_closed_streams()
    try:
        status = app(standalone_mode=False) or 0
    except typer.Exit as wanted:
        status = wanted.exit_code
    except BrokenPipeError:  # whoever read our output has gone, as `head` does
        from nocturn.layout import discard

        discard(sys.stdout)
        status = 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - nothing is above this
        status = _tell_why(error)
    sys.exit(status)


def _open_closed_streams() -> None:
    """Opens /dev/null for each stream that the caller has closed.

    Python has None there; and the next file that is opened, a note perhaps, would be that stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - the process has it to its end


def _tell_why(error: BaseException) -> int:
    """Says what ended the command, and returns its exit status."""
    from nocturn.layout import discard, tell
    from nocturn.visible import visible

    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        tell("nocturn: interrupted")
        return codes.INTERRUPTED
    if isinstance(error, NocturnError):
        tell(visible(f"nocturn: {error}"))
        if isinstance(error, ConfigurationError):
            return codes.USAGE
        if isinstance(error, IsolationError):
            return codes.TOO_LITTLE_ISOLATION
        return codes.of_error(error.code, error.detail)
    if isinstance(error, OSError) and error.filename is None:  # a stream, not a file
        discard(sys.stdout)
        tell(visible(f"nocturn: its input or output failed: {error.strerror}"))
        return codes.OUR_FAULT
    # Typer vendors or wraps click, so its usage errors are known by their shape.
    message = getattr(error, "format_message", None)
    if message is not None:
        if said := message():  # none where the help was shown instead
            asked = getattr(getattr(error, "ctx", None), "info_name", "")
            if asked in ("run", "eval") and "such option" in said:
                said += " (what is the script's goes after --)"
            tell(visible(f"nocturn: {said}"))
        return int(getattr(error, "exit_code", codes.USAGE))
    import traceback

    tell(visible("".join(traceback.format_exception(error)) + _OUR_FAULT))
    return codes.OUR_FAULT


@app.command()
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
        return talk(given, (source, name, folder, args or []))
    return _run(source, name, args or [], given, json=json, folder=folder)


@app.command("eval")
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


@app.command()
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


@app.command()
def types(workspace: Folder = None) -> int:
    """Print what a script has as TypeScript declarations, for an editor or a model."""
    from nocturn.layout import say

    say(open_workspace(workspace).types())
    return 0


app.command("undo")(undo_run)

# In the order in which help lists them: after what is used most.
for _command in (repl, prompt, init, log, backup, serve, scan, trust, doctor):
    app.command()(_command)


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

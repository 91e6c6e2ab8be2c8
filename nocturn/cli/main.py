"""The ``nocturn`` command."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from nocturn.cli import codes
from nocturn.errors import ConfigurationError, IsolationError, NocturnError

if TYPE_CHECKING:
    from typer.core import TyperGroup

__all__ = ["main"]

_COMMANDS: Final = {
    "run": "running.run",
    "eval": "running.evaluate",
    "tools": "tools.tools",
    "types": "tools.types",
    "undo": "history.undo_run",
    "repl": "repl.repl",
    "prompt": "agent.prompt",
    "init": "policy.init",
    "log": "log.log",
    "backup": "backup.backup",
    "serve": "serve.serve",
    "scan": "scan.scan",
    "trust": "trust.trust",
    "doctor": "doctor.doctor",
    "memory": "memory.memory",
    "vault": "vault.vault",
    "policy": "policy.policy",
    "grants": "grants.grants",
    "approvals": "approvals.approvals",
    "agent": "agent.agent",
}
"""Where each command is, in the order in which help lists them: after what is used most."""
_OUR_FAULT: Final = "nocturn: this is a fault of nocturn's own, please report it"


def _app(words: list[str]) -> typer.Typer:
    """Returns as much of the command line as these words need: the command that they name, or all.

    Each command that is there has to be imported and built, at a millisecond or two.
    """
    app = typer.Typer(
        name="nocturn",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(_about)
    wanted = words[0] if words else ""
    if wanted in ("-p", "--print") and words[2:] == []:
        wanted = "eval"
    for name in (wanted,) if wanted in _COMMANDS else _COMMANDS:
        module, _, attribute = _COMMANDS[name].partition(".")
        command = getattr(import_module(f"nocturn.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command(name)(command)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from nocturn import __version__
        from nocturn.layout import say

        say(f"nocturn {__version__}")
        raise typer.Exit


def _about(
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
    command = cast("TyperGroup", context.command).commands["eval"]
    raise typer.Exit(command.main(given, prog_name="nocturn eval", standalone_mode=False))


def main() -> None:
    """Runs the command line and exits with its status."""
    _open_closed_streams()
    try:
        status = _app(sys.argv[1:])(standalone_mode=False) or 0
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

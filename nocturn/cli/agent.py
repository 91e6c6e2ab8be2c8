"""``nocturn agent`` and ``nocturn prompt``: a persona that speaks, and what it is told."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from nocturn.cli import codes
from nocturn.cli.groups import Acting, spread
from nocturn.cli.options import READ_BYTES, Json, SecretEnv, person_of, secrets_of
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Generator

    from nocturn.agents.agent import Agent
    from nocturn.agents.spec import RuntimeOptions
    from nocturn.repl.chat import Transcript

__all__ = ["agent", "prompt"]

agent = typer.Typer(
    name="agent",
    help="Make a persona, talk with it, or have it do one thing.",
    no_args_is_help=True,
)

Persona = Annotated[str, typer.Argument(metavar="DIR", help="The persona's folder.")]
Model = Annotated[
    str,
    typer.Option("--model", metavar="NAME", envvar="NOCTURN_MODEL", help="The model's name."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        envvar="OPENAI_BASE_URL",
        help="Where a /chat/completions is; OpenAI's where not given.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key-from-vault",
        metavar="NAME",
        help="The vault's entry with the API key; OPENAI_API_KEY where not given.",
    ),
]
Notes = Annotated[
    str | None,
    typer.Option(
        "--workspace",
        metavar="DIR",
        envvar="NOCTURN_WORKSPACE",
        help="A workspace whose notes it reads and writes; without one it has none.",
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="How long one answer may take in all."),
]


@dataclass(kw_only=True)
class Speaking(Acting):
    """Which model a persona speaks through, and how long it may take."""

    model: Model
    base_url: BaseUrl = None
    key: Key = None
    workspace: Notes = None
    timeout: Seconds = None

    def options(self, shown: Transcript, *, stream: bool = False) -> RuntimeOptions:
        """Returns what one answer takes.

        Args:
            shown: Is told what happens.
            stream: Whether it is told of each piece of text.
        """
        from nocturn.agents.spec import RuntimeOptions, vault

        api_key = None if self.key is None else vault(self.key)
        options = RuntimeOptions(self.base_url, api_key, stream=stream, on_event=shown)
        return options if self.timeout is None else replace(options, deadline_seconds=self.timeout)


@agent.command("new")
def new(directory: Persona) -> int:
    """Make the files of a new persona, with a README that explains them."""
    from nocturn.agents.beginnings import begin_persona
    from nocturn.layout import say
    from nocturn.visible import visible

    for each in begin_persona(directory):
        say(visible(each.name, keep=""))
    return 0


@agent.command("run")
@spread
def run(
    directory: Persona,
    text: Annotated[str, typer.Argument(metavar="PROMPT|-", help="- reads stdin.")],
    *,
    given: Speaking,
    json: Json = False,
) -> int:
    """Have a persona do one thing, and print its answer; its calls are told on stderr."""
    from nocturn.layout import say
    from nocturn.repl.chat import Transcript

    asked = _stdin() if text == "-" else text
    shown = Transcript()
    options = given.options(shown)
    with _agent(directory, given) as made:
        result = made.run(options, asked)
    if json:
        say(dumps(result.to_dict()))
    else:
        shown.end(result)
    return codes.of_task(result.status)


@agent.command("chat")
@spread
def chat(
    directory: Persona,
    *,
    given: Speaking,
) -> int:
    """Talk with a persona at the terminal, or line by line from stdin; Ctrl-D leaves."""
    from nocturn.repl.chat import Transcript, at_terminal, converse

    shown = Transcript(marked=at_terminal())
    options = given.options(shown, stream=True)
    with _agent(directory, given) as made:
        made.check(options)
        return codes.of_task(converse(made, options, shown))


def prompt(
    directory: Persona, workspace: Notes = None, secret_env: SecretEnv = None, json: Json = False
) -> int:
    """Print exactly what a model would be told of a persona; with --json also its tools."""
    from nocturn.layout import say
    from nocturn.visible import visible

    given = Speaking(model="none", workspace=workspace, watched=False, secret_env=secret_env)
    with _agent(directory, given) as made:
        told = made.briefing()
    if json:
        say(dumps(told))
    else:
        say(visible("\n\n".join(each["content"] for each in told["messages"])))
    return 0


@contextmanager
def _agent(directory: str, given: Speaking) -> Generator[Agent]:
    """Gives the agent that the options name, and closes what was opened for it."""
    from nocturn.agents.agent import agent_from_dir
    from nocturn.agents.spec import AgentSpec

    spec = AgentSpec(given.model, mode=given.mode, name=given.agent)
    if given.workspace is None:
        if given.key is not None:
            raise ConfigurationError("--key-from-vault needs a vault: give --workspace")
        if given.guarded:
            raise ConfigurationError(
                "--guarded needs a place where a question waits: give --workspace"
            )
        person = person_of(given.mode, given.within)
        spec = replace(spec, secrets=secrets_of(given.secret_env), approver=person)
        with agent_from_dir(directory, spec) as made:
            yield made
        return
    with given.open() as ws:
        approver = ws.inbox_approver() if given.guarded else None
        with agent_from_dir(directory, replace(spec, workspace=ws, approver=approver)) as made:
            yield made


def _stdin() -> str:
    data = sys.stdin.buffer.read(READ_BYTES)
    try:
        return data.decode()
    except UnicodeDecodeError:
        pass  # raised out here: the decoder's error would carry the text along
    raise ConfigurationError("the prompt from stdin is not UTF-8: save it as UTF-8")

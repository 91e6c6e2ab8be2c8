"""``nocturn approvals``: answers the questions of runs that nobody looks on at."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.errors import CONFLICT, ConfigurationError, NocturnError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nocturn.store.asked import Asked
    from nocturn.store.inbox import Inbox

__all__ = ["approvals"]

approvals = typer.Typer(
    name="approvals",
    help="Answer what runs with --guarded ask: from another terminal, the first answer counts.",
    no_args_is_help=True,
)

_OPTIONS: Final = ("once", "session", "always", "widen")
_LOOK_SECONDS: Final = 0.3

Id = Annotated[str, typer.Argument(metavar="ID", help="The question's id, or its beginning.")]


@approvals.command("list")
def list_waiting(workspace: Folder = None, json: Json = False) -> int:
    """List the questions that wait: id, until when, who asks, what for."""
    from json import dumps

    from nocturn.layout import say, table

    with open_workspace(workspace) as ws:
        waiting = ws.inbox.waiting()
    if json:
        say(dumps([_told(each) for each in waiting]))
    elif waiting:
        say(table(_cells(each) for each in waiting))
    return 0


@approvals.command()
def show(beginning: Id, workspace: Folder = None) -> int:
    """Show one question whole, as it is asked at a terminal."""
    from shutil import get_terminal_size

    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        asked = ws.inbox.get(beginning)
    if asked.question:
        from nocturn.guard.page import page_of
        from nocturn.guard.question import Question

        say(page_of(Question.from_dict(asked.question), get_terminal_size().columns, whole=True))
    say(f"question {asked.id} {_state(asked)}")
    return 0


@approvals.command()
def approve(
    beginning: Id,
    workspace: Folder = None,
    option: Annotated[
        str, typer.Option("--option", metavar="OPTION", help="once, session, always or widen.")
    ] = "once",
) -> int:
    """Say yes: once, or as the option says."""
    if option not in _OPTIONS:
        raise ConfigurationError(f"--option is {option!r}: give one of {', '.join(_OPTIONS)}")
    return _answer(workspace, beginning, option)


@approvals.command()
def deny(beginning: Id, workspace: Folder = None) -> int:
    """Say no."""
    return _answer(workspace, beginning, None)


@approvals.command()
def watch(workspace: Folder = None, json: Json = False) -> int:
    """Follow the questions as they come; at a terminal, ask them here, one after the other."""
    from json import dumps

    from nocturn.layout import say

    with open_workspace(workspace) as ws:
        if not json and sys.stdin.isatty() and sys.stdout.isatty():
            _ask_here(ws.inbox)
        for asked in _news(ws.inbox):
            say(dumps(_told(asked) | {"state": asked.state}) if json else _line(asked))
    return 0


def _answer(workspace: str | None, beginning: str, option: str | None) -> int:
    from nocturn.layout import say, tell

    with open_workspace(workspace) as ws:
        asked = ws.inbox.answer(beginning, option, "terminal")
        taken = ws.inbox.is_taken(asked.id)
    if not taken:
        tell(
            f"nocturn: the answer to {asked.id} is kept, but the run that asked has not taken it: "
            "it has most likely ended, and then nothing is done"
        )
        return 1
    say(f"{asked.id}: {'no' if option is None else f'yes, {option}'}")
    return 0


def _ask_here(inbox: Inbox) -> None:
    """Asks each question at this terminal, until Ctrl-C."""
    from nocturn.layout import say

    say("waiting for questions; Ctrl-C ends")
    seen: set[str] = set()
    for asked in _news(inbox):
        if asked.state == "waiting" and asked.id not in seen:
            seen.add(asked.id)
            say(_asked_here(inbox, asked))


def _asked_here(inbox: Inbox, asked: Asked) -> str:
    """Asks one question and returns what became of it, in a line."""
    from dataclasses import replace
    from datetime import UTC, datetime

    from nocturn.guard.approver import TerminalApprover
    from nocturn.guard.ports import NO_ANSWER
    from nocturn.guard.question import Option, Question

    left = datetime.fromisoformat(asked.expires_at) - datetime.now(UTC)
    approver = TerminalApprover(
        timeout_seconds=max(0.1, left.total_seconds()),
        wanted=lambda: inbox.get(asked.id).state == "waiting",
    )
    # What is edited would have to go all the way again, and that is in another process.
    answer = approver.ask(replace(Question.from_dict(asked.question), text=None))
    if answer is not NO_ANSWER:
        option = answer.value if isinstance(answer, Option) else None
        try:
            inbox.answer(asked.id, option, "terminal")
        except NocturnError as late:
            if late.code != CONFLICT:
                raise
        else:
            inbox.is_taken(asked.id)
    return _line(inbox.get(asked.id))


def _news(inbox: Inbox) -> Iterator[Asked]:
    """Yields each question as it comes, and again when it waits no more."""
    import time

    waiting: dict[str, Asked] = {}
    token = ""
    while True:
        now = inbox.changes()
        if now != token:
            token = now
            before, waiting = waiting, {each.id: each for each in inbox.waiting()}
            yield from (inbox.get(each) for each in before if each not in waiting)
            yield from (asked for each, asked in waiting.items() if each not in before)
        time.sleep(_LOOK_SECONDS)


def _told(asked: Asked) -> dict[str, Any]:
    question = asked.question
    return {
        "id": asked.id,
        "effects": question.get("effects", []),
        "agent": question.get("agent"),
        "asked_at": asked.asked_at,
        "expires_at": asked.expires_at,
        "options": [each["value"] for each in question.get("options", [])],
    }


def _cells(asked: Asked) -> tuple[str, ...]:
    until = asked.expires_at
    return asked.id, f"until {until}", str(asked.question.get("agent")), _effects(asked.question)


def _line(asked: Asked) -> str:
    from nocturn.layout import table

    return table([(*_cells(asked)[:1], _state(asked), *_cells(asked)[2:])])


def _effects(question: Mapping[str, Any]) -> str:
    effects: Iterable[Mapping[str, str]] = question.get("effects", [])
    return ", ".join(f"{each['kind']} {each['verb']} {each['target']}" for each in effects)


def _state(asked: Asked) -> str:
    if asked.state == "answered":
        answer = "no" if asked.answer is None else f"yes, {asked.answer}"
        taken = "" if asked.taken else "; the run that asked has not taken it"
        return f"answered {answer}, by {asked.answered_by}{taken}"
    return {
        "waiting": f"waits until {asked.expires_at}",
        "expired": "expired: nobody answered in time",
        "withdrawn": "withdrawn: the run that asked has ended",
    }[asked.state]

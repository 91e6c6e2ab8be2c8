"""``nocturn log``: what was called and what became of it, and whether the journal is whole."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nocturn.cli.options import Folder, Json, open_workspace
from nocturn.errors import ConfigurationError
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nocturn.store.inspection import Verdict
    from nocturn.store.trail import Line, Trail

__all__ = ["log"]

_LINES: Final = 40
_LOOK_SECONDS: Final = 0.2
_BROKEN: Final = 3
_SHOWN_CHARACTERS: Final = 200


def log(
    workspace: Folder = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look for lines that were changed, added or cut.")
    ] = False,
    run: Annotated[str, typer.Option("--run", metavar="ID", help="Only this run.")] = "",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Only this agent.")] = "",
    lines: Annotated[
        int, typer.Option("-n", "--lines", metavar="N", help="How many of the last lines.")
    ] = _LINES,
    json: Json = False,
) -> int:
    """Show the journal: one line a call, with its run, its ruling, its code and its time.

    --verify looks at the whole of it; exit status 0: whole, 3: not, with the lines.
    """
    if lines < 0:
        raise ConfigurationError(f"-n is {lines}: give how many lines, 0 or more")
    if verify and (follow or run or agent):
        raise ConfigurationError("--verify looks at every line: give it alone")
    with open_workspace(workspace) as ws:
        trail = ws.journal
        if verify:
            return _tell_verdict(trail, json=json)
        return _show(trail, _wanted(run, agent), lines, follow=follow, json=json)


def _show(
    trail: Trail,
    wanted: Callable[[dict[str, Any]], bool],
    count: int,
    *,
    follow: bool,
    json: bool,
) -> int:
    from nocturn.layout import say, table, tell
    from nocturn.store.wording import without_finished

    found, position = trail.last(count, wanted)
    if json:
        for line in found:
            say(_as_json(line))
    elif found:
        say(table(_cells(line) for line in without_finished(found)))
        if not all(line.sealed for line in found):
            tell("nocturn: nothing vouches for the lines marked ?: see nocturn log --verify")
    while follow:
        import time

        time.sleep(_LOOK_SECONDS)
        new, position = trail.since(position)
        for line in new:
            if not wanted(line.entry):
                continue
            if json:
                say(_as_json(line))
            elif line.entry.get("phase") != "intent":  # its outcome says all of it
                say(visible("  ".join(cell for cell in _cells(line) if cell), keep=""))
    return 0


def _wanted(run: str, agent: str) -> Callable[[dict[str, Any]], bool]:
    def wanted(entry: dict[str, Any]) -> bool:
        return (not run or str(entry.get("run", "")).startswith(run)) and (
            not agent or entry.get("agent") == agent
        )

    return wanted


def _cells(line: Line) -> tuple[str, ...]:
    """Returns a line's cells: when, run, who, what, on what, how it ended, how much, how long."""
    from nocturn.layout import RUN_CHARACTERS, local_time
    from nocturn.store.wording import told

    said = told(line)
    cells = (
        ("" if line.sealed else "? ") + local_time(said.at),
        said.run[:RUN_CHARACTERS],
        said.agent,
        said.tool,
        said.deeds,
        said.outcome,
        "" if said.size_bytes is None else f"{said.size_bytes} B",
        "" if said.ms is None else f"{said.ms} ms",
    )
    return tuple(_clipped(cell) for cell in cells)


def _clipped(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"


def _as_json(line: Line) -> str:
    return dumps({**line.entry, "sealed": line.sealed})


def _tell_verdict(trail: Trail, *, json: bool) -> int:
    from nocturn.layout import say, tell

    verdict = trail.verify()
    if json:
        say(dumps(verdict.to_dict()))
    else:
        for text in _verdict_lines(verdict):
            say(visible(text, keep=""))
    if verdict.whole:
        return 0
    if not json:
        tell(
            f"nocturn: if you took lines away yourself, move {trail.known_in} in the data folder "
            "away: the journal is then known from its own last line on"
        )
    return _BROKEN


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    from nocturn.layout import local_time

    if verdict.begins is None:
        yield "there is no chain yet: it begins with the next write"
    else:
        file, line, at = verdict.begins
        state = "whole" if verdict.whole else "NOT WHOLE"
        yield f"{state}: {verdict.lines} sealed lines, {verdict.first} to {verdict.last}"
        yield f"the chain begins at {file}:{line}, {local_time(at)}"
    for finding in verdict.findings:
        yield f"{finding.file}:{finding.line} {finding.what}"
    if verdict.problems > len(verdict.findings):
        yield f"and {verdict.problems - len(verdict.findings)} more"
    if verdict.before:
        yield f"before it are {verdict.before} lines that nothing vouches for"
    if verdict.torn:
        yield f"torn by a crash, with nothing missing: {verdict.torn}"
    if verdict.purged:
        yield f"purged, as a later line tells of each: {verdict.purged}"
    if not verdict.end_is_known:
        yield "how far it went is not known in this place: a cut of its last lines cannot be seen"

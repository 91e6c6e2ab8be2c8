"""The whole house, each part against the least it could cost: starts, runs, calls, writes, catalog.

The workspace lies in a temporary folder: set TMPDIR to measure another disk. On a file system in
memory an fsync costs nothing, and the writes say little.
"""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
from measure import Row
from yardsticks import files
from yardsticks.engine import run_with_prelude
from yardsticks.processes import Echo, Start, pinned, start_all

from nocturn import Limits, Workspace, tool
from nocturn.limits import CATALOG_READ_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_COLD: Final = """
import sys
from nocturn import Workspace
with Workspace(sys.argv[1], isolation="best-effort") as ws:
    print(ws.run("1+1").value, flush=True)
"""
_NOTES: Final = 500
_REST_SECONDS: Final = 0.005
"""In which a worker that was used up is replaced."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often things are timed.

    Attributes:
        starts: Starts of a process.
        runs: Runs, writes and catalogs.
        calls: Calls in one run.
    """

    starts: int = 15
    runs: int = 200
    calls: int = 5_000


_QUICK: Final = Rounds(starts=1, runs=3, calls=50)


@tool(axis="read", effects="ungated")
def nothing() -> None:
    """Does nothing: what a call costs is the road."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    given = measure.options(__doc__).parse_args(arguments)
    rounds = _QUICK if given.quick else Rounds()
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        rows = [
            row
            for rows in (
                _starts(folder, rounds),
                _runs(folder, rounds),
                _calls(folder, rounds),
                _notes(Path(folder), rounds),
            )
            for row in rows
        ]
    print(measure.machine(), end="\n\n")
    print(measure.table(rows, markdown=given.markdown))
    return 0


def _starts(folder: str, rounds: Rounds) -> Iterator[Row]:
    command = Path(sys.executable).with_name("nocturn")
    by_import = (sys.executable, "-c", "from nocturn.cli.main import main; main()")
    eval_command = (str(command),) if command.exists() else by_import
    started = start_all(
        {
            "python -c pass": Start((sys.executable, "-c", "pass"), to_end=True),
            "cold: python -c to the first result of 1+1": Start(
                (sys.executable, "-c", _COLD, f"{folder}/cold")
            ),
            "cold: nocturn eval 1+1, to its end": Start(
                (
                    *eval_command,
                    "eval",
                    "1+1",
                    "--workspace",
                    f"{folder}/cold",
                    "--isolation",
                    "best-effort",
                ),
                to_end=True,
            ),
        },
        rounds=rounds.starts,
    )
    bare, *rest = started.values()
    yield Row(bare)
    for sample in rest:
        yield Row(sample, bare)


def _runs(folder: str, rounds: Rounds) -> Iterator[Row]:
    with Workspace(f"{folder}/runs", isolation="best-effort") as ws, Echo() as echo:

        def run() -> None:
            _require_two(ws)

        idle = measure.measure(
            {
                "socket-pair turn, two processes, after a rest": lambda: echo.turns(1),
                "context + prelude + 1+1 in this process, after a rest": run_with_prelude,
                "warm: ws.run('1+1'), pool idle": run,
            },
            rounds=rounds.runs,
            rest_seconds=_REST_SECONDS,
        )
        turn, engine, warm = idle.values()
        busy = measure.measure({"warm: ws.run('1+1'), back to back": run}, rounds=rounds.runs)
        yield from (Row(turn), Row(engine), Row(warm, engine))
        yield from (Row(sample, engine) for sample in busy.values())


def _calls(folder: str, rounds: Rounds) -> Iterator[Row]:
    cores = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else [0]
    places: list[tuple[str, int | None, int | None]] = [("anywhere", None, None)]
    if sys.platform == "linux":
        places.append(("on one core", cores[0], cores[0]))
    if len(cores) > 1:
        places.append(("on two cores", cores[0], cores[1]))
    limits = Limits(wall_seconds=60, cpu_seconds=60, calls=rounds.calls)
    source = f"for (let i = 0; i < {rounds.calls}; i += 1) nocturn.call('nothing')"
    for place, here, there in places:
        with Workspace(
            f"{folder}/calls", isolation="best-effort", tools=[nothing], limits=limits
        ) as ws:
            with pinned(there):  # the worker's processes inherit this
                ws.run("1")
            with Echo(there) as echo, pinned(here):

                def run(ws: Workspace = ws) -> None:
                    ws.run(source).raise_for_error()

                def turns(echo: Echo = echo) -> None:
                    echo.turns(rounds.calls)

                turn, call = measure.measure(
                    {
                        f"socket-pair turn, {place}": turns,
                        f"call of a bare tool in one run, {place}": run,
                    },
                    rounds=3,
                    warm_ups=1,
                    operations=rounds.calls,
                ).values()
            yield from (Row(turn), Row(call, turn))


def _notes(folder: Path, rounds: Rounds) -> Iterator[Row]:
    with Workspace(folder / "notes") as ws:
        for size, words in ((500, "500 bytes"), (65_536, "64 KiB")):
            content = "x" * size
            memory = folder / "notes" / "memory"
            ws.memory.write("mine.md", "a summary", content)

            def write(content: str = content) -> None:
                ws.memory.write("mine.md", "a summary", content)

            def replace(memory: Path = memory, content: str = content) -> None:
                files.replace_durably(memory, "bare.txt", content.encode())

            least, written = measure.measure(
                {
                    f"write + fsync + rename + fsync, {words}": replace,
                    f"memory_write, {words}": write,
                },
                rounds=max(3, rounds.runs // 4),
            ).values()
            yield from (Row(least), Row(written, least))
    with Workspace(folder / "many") as ws:
        memory = folder / "many" / "memory"
        for number in range(_NOTES):
            note = memory / f"topic-{number % 20}" / f"note-{number}.md"
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"---\ndescription: note {number}\n---\nbody\n" * 2, encoding="utf-8")
        least, catalog = measure.measure(
            {
                f"walk + read {_NOTES} heads": lambda: files.read_heads(memory, CATALOG_READ_BYTES),
                f"catalog of {_NOTES} notes": ws.memory.catalog,
            },
            rounds=max(3, rounds.runs // 20),
            warm_ups=1,
        ).values()
        yield from (Row(least), Row(catalog, least))


def _require_two(ws: Workspace) -> None:
    result = ws.run("1+1").raise_for_error()
    if result.value != 1 + 1:
        msg = "1+1 came out wrong"
        raise RuntimeError(msg)


if __name__ == "__main__":
    raise SystemExit(main())

"""HumanEval-X in JavaScript: 164 programs, each run by nocturn and by a Node process of its own.

The problems lie beside this project, in ``../shared`` (``--shared``). Prompt, solution and test
make one program; its verdict is ``clean``, ``asserts fail`` or ``throws``. Then each runs once
more with what its function returns negated, which the asserts must tell apart.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
from measure import duration

from nocturn import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CLEAN", "FAILS", "THROWS", "Problem", "main", "problems", "verdict_of"]

CLEAN: Final = "clean"
FAILS: Final = "asserts fail"
THROWS: Final = "throws"
VERDICTS: Final = (CLEAN, FAILS, THROWS)
_DECLARED: Final = re.compile(r"^(?:const|let|var|function)\s+(\w+)", re.MULTILINE)
_FAILED: Final = "Assertion failed"
_QUICK: Final = 8
_TOLD: Final = 10
"""How many programs with different verdicts are named."""
_ROOT: Final = Path(__file__).resolve().parents[2]
_NODE_SECONDS: Final = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem.

    Attributes:
        name: Such as ``JavaScript/0``.
        solution: The function, as it should be.
        test: Calls it, and asserts.
        function: The function's name.
    """

    name: str
    solution: str
    test: str
    function: str

    @property
    def program(self) -> str:
        """The whole program."""
        return self.solution + self.test

    @property
    def wrong(self) -> str:
        """The program, its test given a function that returns the opposite."""
        negated = f"const {self.function} = (...given) => !right(...given);"
        return f"{self.solution}\n((right) => {{ {negated}\n{self.test}\n}})({self.function});"


def problems(shared: Path | None = None) -> list[Problem]:
    """Reads the problems.

    Args:
        shared: The folder of what is shared between projects; None for the one beside this project.

    Returns:
        All of them; none where the file is not there.
    """
    path = (shared or _ROOT.parent / "shared") / "data" / "humaneval_js.jsonl.gz"
    if not path.exists():
        return []
    found: list[Problem] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            # The function under test is the last that is declared, behind its helpers.
            *_, function = _DECLARED.findall(row["declaration"])
            solution = row["prompt"] + row["canonical_solution"]
            found.append(Problem(row["task_id"], solution, row["test"], function))
    return found


def verdict_of(ws: Workspace, program: str) -> str:
    """Runs a program in nocturn."""
    result = ws.run(program)
    if result.status != "ok":
        return THROWS
    failed = any(line.level == "error" and line.text.startswith(_FAILED) for line in result.console)
    return FAILS if failed else CLEAN


def _by_node(node: str, program: str) -> str:
    done = subprocess.run(
        [node, "-"],
        input=program,
        capture_output=True,
        text=True,
        timeout=_NODE_SECONDS,
        check=False,
    )
    if done.returncode:
        return THROWS
    return FAILS if _FAILED in done.stderr else CLEAN


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status: 1 where the verdicts differ."""
    parser = measure.options(__doc__)
    parser.add_argument("--shared", type=Path, default=None)
    given = parser.parse_args(arguments)
    every = problems(given.shared)[: _QUICK if given.quick else None]
    if not every:
        print("skipped: ../shared/data/humaneval_js.jsonl.gz is not there")
        return 0
    lines: list[tuple[str, ...]] = [
        ("by", *VERDICTS, "wrong told apart", "all", "a program", "times nocturn")
    ]
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder, Workspace(folder) as ws:
        ws.run("1")

        def ours(program: str) -> str:
            return verdict_of(ws, program)

        line, verdicts, took = _judged("nocturn, a worker each", ours, every)
        lines.append((*line, ""))
    theirs = verdicts
    if node := shutil.which("node"):
        line, theirs, longer = _judged(
            "node, a process each", lambda program: _by_node(node, program), every
        )
        lines.append((*line, f"{longer / took:.1f}"))
    else:
        lines.append(("node is not there", *[""] * 7))
    differ = [name for name, verdict in verdicts.items() if theirs[name] != verdict]
    print(measure.machine(), end="\n\n")
    print(measure.layout(lines, markdown=given.markdown))
    for name in differ[:_TOLD]:
        print(f"{name}: nocturn says {verdicts[name]}, node {theirs[name]}")
    if differ[_TOLD:]:
        print(f"and {len(differ) - _TOLD} more")
    return 1 if differ else 0


def _judged(
    by: str, judge: Callable[[str], str], every: Sequence[Problem]
) -> tuple[tuple[str, ...], dict[str, str], float]:
    start = time.perf_counter()
    verdicts = {each.name: judge(each.program) for each in every}
    took = time.perf_counter() - start
    counts = Counter(verdicts.values())
    right = [each for each in every if verdicts[each.name] == CLEAN]
    apart = sum(judge(each.wrong) != CLEAN for each in right)
    cells = (
        by,
        *(str(counts[verdict]) for verdict in VERDICTS),
        f"{apart} of {len(right)}",
        duration(took),
        duration(took / len(every)),
    )
    return cells, verdicts, took


if __name__ == "__main__":
    sys.exit(main())

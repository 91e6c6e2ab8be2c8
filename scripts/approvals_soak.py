"""Hundreds of questions, whose asker, or whose approvers, are killed at random points.

Each question has one asker and two approvers that race, each a process of its own, and any of them
may get SIGKILL at any moment. Whatever happens: no write without a yes, no yes lost that was
confirmed to the person while the asker lived, and no question answered twice. Exits with 1, and
says what was wrong, where something is. For systems that fork.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nocturn import NocturnError, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nocturn.store.asked import Asked
    from nocturn.store.inbox import Inbox

__all__ = ["Round", "main", "problems_of"]

ASK_SECONDS: Final = 0.8
"""How long a question waits: what nobody answers is to be over soon."""
ASKER_SECONDS: Final = 0.2
"""Within so long of its start an asker is killed, if it is."""
APPROVER_SECONDS: Final = 0.05
DOOMED: Final = 0.8
"""How many of the approvers are killed in a round in which they may be."""
RUN_EVERY: Final = 10
"""So often the asker is a script in a worker; else it is a call from Python."""


@dataclass(frozen=True, slots=True)
class Round:
    """What came of one question.

    Attributes:
        asker: What the asker said, ``allowed`` or why not; empty where it did not get to it.
        killed: Whether the asker was killed.
        approvers: For each approver what it wanted and what it said of it: ``confirmed``, ``kept``
            where nobody had taken it, or why not; empty where it did not get to it.
        written: Whether the note is there.
        asked: The question in the inbox; None where it was not put.
    """

    asker: str
    killed: bool
    approvers: tuple[tuple[str | None, str], ...]
    written: bool
    asked: Asked | None


def problems_of(name: str, ended: Round) -> list[str]:
    """Returns a sentence for each thing that must not be."""
    asked = ended.asked
    answer = asked.answer if asked is not None and asked.state == "answered" else None
    given = [want for want, said in ended.approvers if said in ("confirmed", "kept")]
    confirmed = [want for want, said in ended.approvers if said == "confirmed"]
    checks = {
        "a note was written without a yes": ended.written and answer != "once",
        "a yes stands there that nobody gave": answer is not None
        and answer not in [want for want, _ in ended.approvers],
        "two answers were accepted": len(given) > 1,
        "the answer that was accepted is another": bool(given) and given != [answer],
        "a yes that was confirmed was lost": "once" in confirmed
        and not ended.killed
        and not ended.written,
        "a yes was kept, and its asker, who lived, did not take it": answer == "once"
        and not ended.killed
        and not ended.written,
        "a no was not heeded": answer is None and ended.asker == "allowed",
        "an asker that lived said nothing": not ended.killed and not ended.asker,
    }
    return [f"{name}: {what} ({ended})" for what, wrong in checks.items() if wrong]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs it all and prints what came of it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=200, help="questions")
    parser.add_argument("--seed", type=int, default=None, help="to do the same again")
    given = parser.parse_args(arguments)
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    logging.getLogger("nocturn").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="nocturn-approvals-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        problems, ends = _soak(Path(folder) / "ws", given.count, random.Random(seed))  # noqa: S311 - dice
    for problem in problems[:20]:
        print(f"approvals_soak: {problem}", file=sys.stderr)
    print(", ".join(f"{count} {end}" for end, count in sorted(ends.items())), file=sys.stderr)
    print(
        f"approvals_soak: {len(problems)} problems in {given.count} questions (--seed {seed})"
        if problems
        else f"approvals_soak: {given.count} questions, none answered twice, no yes lost"
    )
    return 1 if problems else 0


def _soak(folder: Path, count: int, dice: random.Random) -> tuple[list[str], Counter[str]]:
    problems: list[str] = []
    ends: Counter[str] = Counter()
    with Workspace(folder) as ws:
        ws.memory.write("first.md", "s", "c")  # loads what each process then has from its birth
        for number in range(count):
            ended = _round(ws.inbox, folder, number, dice)
            problems += problems_of(f"question {number}", ended)
            ends["askers killed"] += ended.killed
            ends["approvers killed"] += sum(not said for _, said in ended.approvers)
            ends["written"] += ended.written
            ends[f"asker: {ended.asker or 'silent'}"] += 1
        with ws.inbox.ask({"options": []}, 1.0) as last:  # tidies up
            left = [each.name for each in (folder / ".nocturn/asking").iterdir()]
            if left != [last.id]:
                problems.append(f"{len(left) - 1} askers that are gone are still said to be there")
    return problems, ends


def _round(inbox: Inbox, folder: Path, number: int, dice: random.Random) -> Round:
    name = f"n{number}.md"
    before = {each.id for each in inbox.waiting()}
    asker = _Child(lambda: _ask(folder, name, in_worker=number % RUN_EVERY == 0))
    victim = dice.choice(("asker", "approvers", "approvers", "all", "none"))
    if victim in ("asker", "all"):
        asker.doom(dice.uniform(0, ASKER_SECONDS))
    identity = None
    while identity is None and asker.goes_on():
        time.sleep(0.001)
        identity = next((each.id for each in inbox.waiting() if each.id not in before), None)
    approvers: list[tuple[str | None, _Child]] = []
    if identity is not None:
        wants = dice.choice((("once", "once"), ("once", None), (None, "once")))
        approvers = [(want, _Child(_answering(folder, identity, want))) for want in wants]
        for _, approver in approvers:
            if victim in ("approvers", "all") and dice.random() < DOOMED:
                approver.doom(dice.uniform(0, APPROVER_SECONDS))
    going = [asker, *(each for _, each in approvers)]
    while going := [each for each in going if each.goes_on()]:
        time.sleep(0.001)
    return Round(
        asker=asker.said(),
        killed=asker.killed,
        approvers=tuple((want, each.said()) for want, each in approvers),
        written=(folder / "memory" / name).exists(),
        asked=None if identity is None else inbox.get(identity),
    )


def _ask(folder: Path, name: str, *, in_worker: bool) -> str:
    with Workspace(folder, ask_seconds=ASK_SECONDS, isolation="best-effort") as ws:
        if in_worker:
            result = ws.run(f"nocturn.memory.write('{name}', 's', 'c')", mode="guarded")
            return "allowed" if result.ok else str(result.error and result.error.detail)
        try:
            ws.memory.write(name, "s", "c", mode="guarded")
        except NocturnError as refused:
            return str(refused.detail.get("reason", refused.code))
        return "allowed"


def _answering(folder: Path, identity: str, want: str | None) -> Callable[[], str]:
    def answer() -> str:
        with Workspace(folder) as ws:
            try:
                ws.inbox.answer(identity, want, "python")
            except NocturnError as late:
                return str(late.code)
            return "confirmed" if ws.inbox.is_taken(identity) else "kept"

    return answer


class _Child:
    """A process that does one thing, says how it went, and may be killed before.

    Args:
        work: What it does; returns what it says.
    """

    def __init__(self, work: Callable[[], str]) -> None:
        self.killed = False
        self._started = time.monotonic()
        self._doom: float | None = None
        self._ended = False
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.write(writing, work().encode())
            finally:
                os._exit(0)
        os.close(writing)

    def doom(self, seconds: float) -> None:
        """Has it killed so long after its start."""
        self._doom = self._started + seconds

    def goes_on(self) -> bool:
        """Returns whether it is still there, and kills it when it is time."""
        if self._ended:
            return False
        if self._doom is not None and time.monotonic() >= self._doom:
            self._doom = None
            os.kill(self._pid, signal.SIGKILL)
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid:
            self._ended = True
            self.killed = os.WIFSIGNALED(status)
        return not self._ended

    def said(self) -> str:
        """Returns what it said before it ended."""
        try:
            return os.read(self._reading, 4_096).decode()
        finally:
            os.close(self._reading)


if __name__ == "__main__":
    raise SystemExit(main())

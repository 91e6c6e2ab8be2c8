"""Hundreds of questions, whose asker, approvers or page are killed at random points.

Each question has one asker and two approvers that race; every other time one of them is a browser
before the page of ``nocturn serve``, which is started again whenever it dies, and answered again by
who was not told what came of it. Each is a process of its own, and any may get SIGKILL at any
moment. Whatever happens: no write without a yes, no yes lost that was confirmed to the person while
the asker lived, and no question answered twice. Exits with 1, and says what was wrong, where
something is. For systems that fork.
"""

from __future__ import annotations

import argparse
import http.client
import importlib
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn import NocturnError, Workspace
from nocturn.cli.main import main as nocturn
from nocturn.errors import CONFLICT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from nocturn.store.asked import Answerer, Asked
    from nocturn.store.inbox import Inbox

__all__ = ["Person", "Round", "main", "problems_of"]

ASK_SECONDS: Final = 0.8
"""How long a question waits: what nobody answers is to be over soon."""
ASKER_SECONDS: Final = 0.2
"""Within so long of its start an asker is killed, if it is."""
APPROVER_SECONDS: Final = 0.05
PAGE_SECONDS: Final = 0.25
"""So long a browser takes from its sign-in to the word that it is done, with a page that starts."""
PATIENCE_SECONDS: Final = 10.0
"""Within so long a page is back, on a busy machine too."""
DOOMED: Final = 0.8
"""How many of the approvers are killed in a round in which they may be."""
DOOMED_AGAIN: Final = 0.3
"""How many of the pages are killed that were started in place of one that was."""
RUN_EVERY: Final = 10
"""So often the asker is a script in a worker; else it is a call from Python."""
PAGE_EVERY: Final = 2
"""So often one of the approvers is a browser; else both are calls from Python."""


@dataclass(frozen=True, slots=True)
class Person:
    """What one approver wanted, and heard.

    Attributes:
        by: Where it answers.
        want: Its answer; None for a no.
        said: What it said of it: ``confirmed``; ``kept`` where nobody had taken it; ``twice`` where
            it was accepted though the page had shown that another was; ``no page`` where none came
            back; or the code of a refusal. Empty where it was killed before.
    """

    by: Answerer
    want: str | None
    said: str


@dataclass(frozen=True, slots=True)
class Round:
    """What came of one question.

    Attributes:
        asker: What the asker said, ``allowed`` or why not; empty where it did not get to it.
        killed: Whether the asker was killed.
        approvers: Who answered, or was about to.
        written: Whether the note is there.
        asked: The question in the inbox; None where it was not put.
    """

    asker: str
    killed: bool
    approvers: tuple[Person, ...]
    written: bool
    asked: Asked | None


def problems_of(name: str, ended: Round) -> list[str]:
    """Returns a sentence for each thing that must not be."""
    asked = ended.asked
    answer, by = None, None
    if asked is not None and asked.state == "answered":
        answer, by = asked.answer, asked.answered_by
    wanted = [(each.want, each.by) for each in ended.approvers]
    given = [(each.want, each.by) for each in ended.approvers if each.said in ("confirmed", "kept")]
    said = {each.said for each in ended.approvers}
    confirmed = [each.want for each in ended.approvers if each.said == "confirmed"]
    checks = {
        "a note was written without a yes": ended.written and answer != "once",
        "a yes stands there that nobody gave": answer is not None and (answer, by) not in wanted,
        "two answers were accepted": len(given) > 1 or "twice" in said,
        "the answer that was accepted is another": bool(given) and given != [(answer, by)],
        "a yes that was confirmed was lost": "once" in confirmed
        and not ended.killed
        and not ended.written,
        "a yes was kept, and its asker, who lived, did not take it": answer == "once"
        and not ended.killed
        and not ended.written,
        "a no was not heeded": answer is None and ended.asker == "allowed",
        "an asker that lived said nothing": not ended.killed and not ended.asker,
        "the page did not come back": "no page" in said,
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
    with Workspace(folder) as ws, _Page.of(folder, dice) as page:
        ws.memory.write("first.md", "s", "c")  # loads what each process then has from its birth
        for number in range(count):
            watched = page if number % PAGE_EVERY else None
            ended = _round(ws.inbox, folder, watched, number, dice)
            problems += problems_of(f"question {number}", ended)
            ends["askers killed"] += ended.killed
            ends["approvers killed"] += sum(not each.said for each in ended.approvers)
            ends["written"] += ended.written
            ends[f"asker: {ended.asker or 'silent'}"] += 1
            if ended.asked is not None and ended.asked.answered_by is not None:
                ends[f"answered by {ended.asked.answered_by}"] += 1
                ends["answered by a page that died before it said so"] += any(
                    each.by == ended.asked.answered_by == "page" and each.said == CONFLICT
                    for each in ended.approvers
                )
        with ws.inbox.ask({"options": []}, 1.0) as last:  # tidies up
            left = [each.name for each in (folder / ".nocturn/asking").iterdir()]
            if left != [last.id]:
                problems.append(f"{len(left) - 1} askers that are gone are still said to be there")
    ends["pages killed"] = page.killed
    if page.broken:
        problems.append(f"{page.broken} pages ended that nobody had killed")
    return problems, ends


def _round(
    inbox: Inbox, folder: Path, page: _Page | None, number: int, dice: random.Random
) -> Round:
    name = f"n{number}.md"
    before = {each.id for each in inbox.waiting()}
    victim = dice.choice(("asker", "approvers", "approvers", "page", "page", "all", "none"))
    if page is not None:
        page.tend(hunted=False)
    asker = _Child(lambda: _ask(folder, name, in_worker=number % RUN_EVERY == 0))
    if victim in ("asker", "all"):
        asker.doom(dice.uniform(0, ASKER_SECONDS))
    identity = None
    while identity is None and asker.goes_on():
        time.sleep(0.001)
        identity = next((each.id for each in inbox.waiting() if each.id not in before), None)
    approvers: list[tuple[Answerer, str | None, _Child]] = []
    if identity is not None:
        links = None if page is None else page.links
        doomed = DOOMED if victim in ("approvers", "all") else 0.0
        approvers = list(_approvers(folder, identity, links, doomed, dice))
        if page is not None and victim in ("page", "all"):
            page.doom(dice.uniform(0, PAGE_SECONDS))
    going = [asker, *(each for *_, each in approvers)]
    while going := [each for each in going if each.goes_on()]:
        if page is not None:
            page.tend(hunted=victim in ("page", "all"))
        time.sleep(0.001)
    return Round(
        asker=asker.said(),
        killed=asker.killed,
        approvers=tuple(Person(place, want, each.said()) for place, want, each in approvers),
        written=(folder / "memory" / name).exists(),
        asked=None if identity is None else inbox.get(identity),
    )


def _approvers(
    folder: Path, identity: str, links: Path | None, doomed: float, dice: random.Random
) -> Generator[tuple[Answerer, str | None, _Child]]:
    """Starts two that race, the second at the page where there are links; kills so many."""
    first, second = dice.choice((("once", "once"), ("once", None), (None, "once")))
    # With no page to go through it would nearly always be the first.
    wait = 0.0 if links is None else dice.uniform(0, PAGE_SECONDS)
    plans: list[tuple[Answerer, str | None, Callable[[], str], float]] = [
        ("python", first, _answering(folder, identity, first, wait), wait + APPROVER_SECONDS),
        ("python", second, _answering(folder, identity, second), APPROVER_SECONDS)
        if links is None
        else ("page", second, _pressing(links, identity, second), PAGE_SECONDS),
    ]
    for by, want, work, seconds in plans:
        child = _Child(work)
        if dice.random() < doomed:
            child.doom(dice.uniform(0, seconds))
        yield by, want, child


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


def _answering(
    folder: Path, identity: str, want: str | None, wait: float = 0.0
) -> Callable[[], str]:
    def answer() -> str:
        time.sleep(wait)
        with Workspace(folder) as ws:
            try:
                ws.inbox.answer(identity, want, "python")
            except NocturnError as late:
                return str(late.code)
            return "confirmed" if ws.inbox.is_taken(identity) else "kept"

    return answer


def _pressing(links: Path, identity: str, want: str | None) -> Callable[[], str]:
    """Answers in a browser's place; where the page dies in between, once more at the next one."""

    def press() -> str:
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            try:
                return _pressed(_link(links), identity, want)
            except (OSError, http.client.HTTPException):
                time.sleep(0.005)
        return "no page"

    return press


def _pressed(link: str, identity: str, want: str | None) -> str:
    address, _, token = link.partition("/#in=")
    headers = {"Origin": f"http://{address}", "Content-Type": "application/json"}

    def send(method: str, path: str, **body: str | None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(address, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    status, told = send("POST", "/api/login", token=token)
    if status != http.client.OK:
        raise ConnectionError("the link of a page that is gone, or that another has used up")
    headers["Authorization"] = f"Bearer {told['session']}"
    path = f"/api/questions/{identity}"
    _, shown = send("GET", path)
    status, told = send("POST", f"{path}/answer", option=want, digest=shown["digest"])
    if status != http.client.OK:
        return str(told["error"]["code"])
    if shown["state"] != "waiting":
        return "twice"
    return "confirmed" if told["taken"] else "kept"


def _link(links: Path) -> str:
    """Returns the link that was shown last, without its scheme; a line that is cut is none yet."""
    lines = links.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if not whole:
        raise ConnectionError("a page that has only just begun")
    return whole[-1].strip().removeprefix("sign in: http://")


class _Page:
    """``nocturn serve`` of a workspace, which somebody starts again when it is gone.

    Args:
        folder: The workspace.
        dice: Decides whether the next one is killed too.

    Attributes:
        links: The file in which it shows its links.
        killed: How many were.
        broken: How many ended otherwise.
    """

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.links = folder.with_name("links")
        self.killed = 0
        self.broken = 0
        self._folder = folder
        self._dice = dice
        self._child: _Child | None = None

    @classmethod
    @contextmanager
    def of(cls, folder: Path, dice: random.Random) -> Generator[_Page]:
        """Gives a page, which none may outlast the block."""
        page = cls(folder, dice)
        try:
            yield page
        finally:
            page.doom(0)
            while page._child is not None and page._child.goes_on():
                time.sleep(0.001)

    def tend(self, *, hunted: bool) -> None:
        """Starts it where there is none.

        Args:
            hunted: Whether what is started in place of one that was killed may be killed as well.
        """
        if self._child is not None and self._child.goes_on():
            return
        if self._child is None:
            importlib.import_module("nocturn.web.server")  # each then has it from its birth
        else:
            self.killed += self._child.killed
            self.broken += not self._child.killed
        self._child = _Child(self._serve)
        if hunted and self._dice.random() < DOOMED_AGAIN:
            self.doom(self._dice.uniform(0, PAGE_SECONDS))

    def doom(self, seconds: float) -> None:
        """Has it killed so long from now."""
        if self._child is not None:
            self._child.doom(seconds)

    def _serve(self) -> str:
        shown = os.open(self.links, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(shown, sys.stdout.fileno())
        sys.argv = ["nocturn", "serve", "--workspace", str(self._folder)]
        nocturn()
        return ""


class _Child:
    """A process that does one thing, says how it went, and may be killed before.

    Args:
        work: What it does; returns what it says.
    """

    def __init__(self, work: Callable[[], str]) -> None:
        self.killed = False
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
        """Has it killed so long from now."""
        self._doom = time.monotonic() + seconds

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

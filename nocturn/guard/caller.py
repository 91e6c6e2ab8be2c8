"""Whose call it is, and what this run was refused so far."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nocturn.guard.cover import Gathered
from nocturn.names import agent_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.effects import Effect, Mode
    from nocturn.guard.asking import Asking
    from nocturn.guard.ports import Clock

__all__ = ["Asked", "Caller", "Finding", "Standing", "agent_of"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the screen saw. For the person and the journal, never for the guest.

    Attributes:
        tool: The tool that was called.
        place: Where in the call, in words.
        secret: The name of the secret that was found; empty where there is none.
        rule: The rule whose form the text has; empty where it is a secret of the vault's, or where
            a call was refused unscanned.
    """

    tool: str
    place: str
    secret: str
    rule: str = ""


@dataclass(slots=True)
class Standing:
    """What is held against a caller, whatever it runs next: a session's lines share it.

    Attributes:
        blocks: Leak blocks so far.
        agent_blocks: Leak blocks of the agent over all its runs, as of the last block.
        outside: The tools from which text from outside was taken in, in order.
        findings: What the screen saw.
        trail: The pieces of secrets that it was allowed to carry.
        lock: Held by whoever reads or changes these.
    """

    blocks: int = 0
    agent_blocks: int = 0
    outside: tuple[str, ...] = ()
    findings: list[Finding] = field(default_factory=list[Finding])
    trail: Gathered = field(default_factory=Gathered)
    lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def take_in(self, tool: str) -> None:
        """Notes text from outside: no later call is above doubt."""
        with self.lock:
            if tool not in self.outside:
                self.outside = (*self.outside, tool)


@dataclass(slots=True)
class Asked:
    """What a person was asked in one run: the runs of a conversation share it.

    Attributes:
        questions: Questions put so far.
        refused: Effects that a person refused or left unanswered, with the reason.
        lock: Held by whoever reads or changes these.
    """

    questions: int = 0
    refused: dict[Effect, str] = field(default_factory=dict["Effect", str])
    lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)


@dataclass(slots=True)
class Caller:
    """One run, as the guard knows it. Shared by all its calls, which may come from many threads.

    Attributes:
        agent: Whose run it is; grants belong to it.
        named: Whether ``agent`` is a name that was given, not a hash of the script.
        mode: Who is there to ask.
        run: The run's id.
        cage: The tools that exist for this caller; None for all of them.
        script: The script's file name, for people.
        clock: Stands still while a person decides.
        alive: Whether the run still waits for the outcome.
        dry: Whether nothing that writes is done, and what it would have written is told.
        told_characters: What a dry run has told of so far.
        standing: What is held against it; more than one run may share it.
        asked: What a person was asked, and said no to.
        asking: Who asks for this run alone; None for whoever asks for the workspace.
        lock: Held by whoever reads or changes ``told_characters``.
    """

    agent: str
    named: bool
    mode: Mode
    run: str
    cage: frozenset[str] | None
    script: str
    clock: Clock
    alive: Callable[[], bool]
    dry: bool = False
    told_characters: int = 0
    standing: Standing = field(default_factory=Standing)
    asked: Asked = field(default_factory=Asked)
    asking: Asking | None = None
    lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)


def agent_of(name: str | None, source: str) -> tuple[str, bool]:
    """Returns an agent's identity and whether it is a name.

    A nameless script is known by its hash, so a changed script is another agent. The colon keeps
    the two apart: a given name cannot hold one.

    Args:
        name: The name that was given, if one was.
        source: The script's source.

    Raises:
        NocturnError: ``BAD_ARGUMENTS``, the name is not in the form of one.
    """
    if name is not None:
        return agent_name(name), True
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    return f"script:{digest[:16]}", False

"""An agent: a persona's folder, a model that speaks for it, and the tools that it has.

::

    with agent_from_dir("ava", AgentSpec(model="gpt-5")) as ava:
        result = ava.run(RuntimeOptions(), "remember that I like dark roast")
        print(result.status, result.text)

Its soul is read once, when it is made: what it remembers in a session counts from the next on.
"""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.belongings import NOTE_TOOLS, Belongings, host_tools
from nocturn.agents.briefing import briefing, offers
from nocturn.agents.calling import Hands
from nocturn.agents.endpoint import environment_key, require_package
from nocturn.agents.home import compose_soul, memory_of
from nocturn.agents.pending import AskingAloud, OpenQuestion
from nocturn.agents.result import TaskResult
from nocturn.agents.span import Span
from nocturn.agents.spec import AgentSpec, RuntimeOptions, VaultKey, require_header
from nocturn.agents.task import Given, Task
from nocturn.agents.teller import Teller
from nocturn.errors import ConfigurationError, RunInterrupted
from nocturn.given import absolute
from nocturn.secret import Secret
from nocturn.strength import weakness_of
from nocturn.visible import visible
from nocturn.workspace import Workspace

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Self

    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver
    from nocturn.stage import Stage

__all__ = ["Agent", "agent_from_dir"]


def agent_from_dir(directory: str | os.PathLike[str], spec: AgentSpec) -> Agent:
    """Makes an agent out of a persona's folder.

    Args:
        directory: The folder; its files may be missing.
        spec: What else the agent is made of.

    Raises:
        ConfigurationError: The folder is none, or the spec is not usable.
    """
    if not isinstance(spec, AgentSpec):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
        raise ConfigurationError(f"spec is a {type(spec).__name__}: give AgentSpec(model=…)")
    folder = Path(absolute(directory))
    if not folder.is_dir():
        name = visible(folder.name, keep="")
        raise ConfigurationError(
            f"there is no folder {name}: nocturn agent new makes one, with the files of a persona"
        )
    return Agent(folder, spec)


class Agent:
    """An agent, and its session: from now until it is closed. Made by :func:`agent_from_dir`.

    It does one thing at a time; all methods may be called from any thread.

    Args:
        folder: The persona's folder, absolute.
        spec: What else it is made of.
    """

    def __init__(self, folder: Path, spec: AgentSpec) -> None:
        self._spec = spec
        self._stage, self._owned = _stage_of(folder, spec)
        self._tools = host_tools(spec.tools)
        self._gates: dict[str, Gate] = {}
        if spec.memory:
            memory, gates = memory_of(folder, self._stage)
            self._tools += memory
            self._gates |= gates
        self._soul: Final = compose_soul(folder)
        self._hands = Hands()
        self._lock = threading.Lock()
        self._closed = False
        self._task: Task | None = None
        self._span: Span | None = None
        self._abandon = weakref.finalize(self, lambda: None)
        self._keys: set[str] = set()
        with self._belongings(None):  # what is wrong with the tools is told now
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what it is at; it does nothing any more."""
        with self._lock:
            self._closed = True
        self.cancel()
        if self._owned:
            self._stage.close()

    def briefing(self) -> dict[str, Any]:
        """Returns what a model would be told: ``{"messages", "tools"}``, redacted."""
        with self._belongings(None) as belongings:
            system = briefing(self._soul, self._stage, belongings.tools)
            messages = [{"role": "system", "content": system}] if system else []
            return {"messages": messages, "tools": offers(self._stage, belongings.tools)}

    def check(self, options: RuntimeOptions) -> None:
        """Finds out whether a run could begin, before anything is said.

        Args:
            options: What it would be given.

        Raises:
            ConfigurationError: The openai package is not installed, or there is no key.
        """
        require_package()
        self._key(options)

    def run(
        self, options: RuntimeOptions, prompt: str, *, after: TaskResult | None = None
    ) -> TaskResult:
        """Has the agent do something.

        Args:
            options: What the run is given.
            prompt: What it is asked for.
            after: The result whose conversation goes on; None: this is a new one.

        Returns:
            What it came to, whatever happened; ``pending`` where a question is open, which
            :meth:`resume` answers.

        Raises:
            ConfigurationError: An argument is not usable, there is no key, or it is at work.
            RunInterrupted: Ctrl-C.
        """
        return self._waited(self._begun(options, prompt, after))

    async def run_async(
        self, options: RuntimeOptions, prompt: str, *, after: TaskResult | None = None
    ) -> TaskResult:
        """Does what :meth:`run` does without blocking the event loop.

        Cancelling the task ends the run.
        """
        begun: list[Task] = []
        given_up = threading.Event()

        def begin() -> None:
            begun.append(self._begun(options, prompt, after))
            if given_up.is_set():
                begun[0].stop()

        try:
            await asyncio.to_thread(begin)
        except asyncio.CancelledError:  # the thread goes on all the same, and what it begins
            given_up.set()
            for each in begun:
                each.stop()
            raise
        return await self._awaited(begun[0])

    def resume(self, answer: object) -> TaskResult:
        """Answers the open question of a ``pending`` run, which goes on.

        Args:
            answer: ``True`` or ``"once"``, or the value of another option of the question; an
                :class:`nocturn.Edited` text where it has one. Everything else is a no.

        Returns:
            What the run came to, or the next open question.

        Raises:
            ConfigurationError: No question is open.
            RunInterrupted: Ctrl-C.
        """
        return self._waited(self._answered(answer))

    async def resume_async(self, answer: object) -> TaskResult:
        """Does what :meth:`resume` does without blocking the event loop."""
        return await self._awaited(self._answered(answer))

    def cancel(self) -> None:
        """Ends what it is at as ``interrupted``; an open question counts as a no."""
        span = self._span
        if span is not None:
            span.stop()

    # ---- the beginning of a run ------------------------------------------------------------------

    def _begun(self, options: RuntimeOptions, prompt: str, after: TaskResult | None) -> Task:
        if not isinstance(options, RuntimeOptions):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError(
                f"options is a {type(options).__name__}: give RuntimeOptions(base_url=…)"
            )
        if not isinstance(prompt, str) or not prompt.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError("the prompt is no text, or an empty one: say something")
        if after is not None and not isinstance(after, TaskResult):  # pyright: ignore[reportUnnecessaryIsInstance] - a user's
            raise ConfigurationError(f"after is a {type(after).__name__}: give a run's result")
        require_package()
        with self._lock:
            if self._closed:
                raise ConfigurationError("the agent is closed: make a new one")
            if self._task is not None and self._task.goes_on:
                raise ConfigurationError(
                    "the agent is at work, or a question of its is open: resume it or cancel it"
                )
            self._task, self._span = self._made(options, prompt, after)
            return self._task

    def _made(
        self, options: RuntimeOptions, prompt: str, after: TaskResult | None
    ) -> tuple[Task, Span]:
        key = self._key(options)
        span = Span(options.deadline_seconds)
        tell = Teller(options.on_event, self._stage.redacted, key)
        approver = self._spec.approver
        question = None
        if approver is None and self._spec.mode == "guarded":
            approver = question = OpenQuestion(span)
        if approver is not None:
            approver = AskingAloud(approver, span, tell)  # type: ignore[arg-type] # the spec has made it one
        belongings = self._belongings(approver)
        before = () if after is None else after.messages
        given = Given(
            model=self._spec.model,
            options=options,
            system=partial(briefing, self._soul, self._stage, belongings.tools),
            offers=offers(self._stage, belongings.tools),
            tools=belongings.tools,
            # What was said before, too: there may be secrets since that nobody knew of.
            messages=_redacted((*before, {"role": "user", "content": prompt}), self._stage),
            agent=self._spec.name or "",
            redacted=self._stage.redacted,
            close=belongings.close,
        )
        task = Task(given, key, span, self._hands, question, tell)
        self._abandon.detach()
        self._abandon = weakref.finalize(self, span.stop)  # nobody could answer or cancel it
        task.start()
        return task, span

    def _belongings(self, approver: Approver | None) -> Belongings:
        return Belongings(
            self._stage,
            tools=self._tools,
            gates=self._gates,
            notes=NOTE_TOOLS if isinstance(self._stage, Workspace) else (),
            mode=self._spec.mode,
            agent=self._spec.name,
            approver=approver,
            nature=self._soul,
        )

    def _key(self, options: RuntimeOptions) -> str:
        """Returns the endpoint's key, and has it guarded from now on."""
        key = options.api_key
        if isinstance(key, VaultKey):
            return _vault_key(self._stage, key.name)  # the vault is guarded already
        if key is None:
            key = environment_key()
        # A key that could be guessed opens nothing (local servers take "none"), and to look for
        # it would block innocent notes.
        if key not in self._keys and weakness_of(key) is None:
            self._keys.add(key)
            self._stage.guard([_Key(key)])
        return key

    # ---- the end of a run ------------------------------------------------------------------------

    def _answered(self, answer: object) -> Task:
        task = self._task
        if task is None or not task.answer(answer):
            raise ConfigurationError("no question is open, so that there is nothing to resume")
        return task

    def _waited(self, task: Task) -> TaskResult:
        try:
            return task.wait()
        except KeyboardInterrupt:
            self.cancel()
            raise RunInterrupted(task.wait()) from None

    async def _awaited(self, task: Task) -> TaskResult:
        try:
            return await task.wait_async()
        except asyncio.CancelledError:
            self.cancel()
            raise


@dataclass(frozen=True, slots=True)
class _Key:
    """The endpoint's key, as a source of secrets."""

    _value: str

    def __repr__(self) -> str:
        return "_Key()"

    def secrets(self) -> tuple[Secret, ...]:
        return (Secret("the model's API key", self._value),)


def _stage_of(folder: Path, spec: AgentSpec) -> tuple[Stage, bool]:
    """Returns where the agent works, and whether it is the agent's own to close."""
    if isinstance(spec.workspace, Workspace):
        spec.workspace.guard(spec.secrets)
        return spec.workspace, False
    if spec.workspace is not None:
        return Workspace(spec.workspace, secrets=spec.secrets), True
    from nocturn.agents.bare import BareStage

    return BareStage(folder, spec.secrets), True


def _redacted(messages: Iterable[Mapping[str, Any]], stage: Stage) -> list[dict[str, Any]]:
    """Returns messages without secrets; what the protocol itself says in them stays."""
    cleaned: list[dict[str, Any]] = []
    for each in messages:
        message = dict(each)
        said = message.get("content")  # a text; or parts, in a conversation from elsewhere
        if isinstance(said, str):
            said = said.encode("utf-8", "replace").decode()
        message["content"] = stage.redacted(said)
        if "tool_calls" in message:
            message["tool_calls"] = [_call_redacted(call, stage) for call in message["tool_calls"]]
        cleaned.append(message)
    return cleaned


def _call_redacted(call: Mapping[str, Any], stage: Stage) -> dict[str, Any]:
    function = call["function"]
    arguments = json.dumps(stage.redacted(json.loads(function["arguments"])))
    return {**call, "function": {**function, "arguments": arguments}}


def _vault_key(stage: Stage, name: str) -> str:
    if not isinstance(stage, Workspace):
        raise ConfigurationError("a key in a vault needs a workspace: give AgentSpec(workspace=…)")
    for secret in stage.vault.secrets():
        if secret.name == name:
            require_header(secret.value, f"the vault's {name}")
            return secret.value
    raise ConfigurationError(f"the vault has no {name}: nocturn vault set {name} puts it there")

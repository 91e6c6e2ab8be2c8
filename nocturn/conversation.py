"""A conversation: calls and runs that the guard takes for one run.

A model calls a tool, then writes a script that calls others, then calls a tool again. What is held
against it, and what a person was asked, must not begin anew in between.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from nocturn.errors import CANCELLED, NocturnError
from nocturn.registry.call import Call

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from typing import Self

    from nocturn.guard.caller import Caller
    from nocturn.host.execution import Execution
    from nocturn.host.result import RunResult
    from nocturn.limits import Limits
    from nocturn.registry.dispatch import Dispatcher
    from nocturn.registry.tool import Tool

    class Prepare(Protocol):
        """Makes a script ready to run in a conversation."""

        def __call__(
            self,
            talk: Conversation,
            source: str | bytes,
            filename: str,
            lang: Literal["js", "ts"] | None,
        ) -> tuple[Execution, Callable[[Call], Any]]:
            """Returns the run and what answers its calls."""
            ...


__all__ = ["Conversation", "NoClock", "call_of"]


class Conversation:
    """Calls and runs with one caller. Made by a stage; safe to use from many threads.

    Args:
        dispatcher: Runs its calls.
        caller: Whose they are.
        ended: Set once it is over.
        limits: The limits of each run in it.
        prepare: Makes a script ready to run.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: Caller,
        ended: threading.Event,
        limits: Limits,
        prepare: Prepare,
    ) -> None:
        self.dispatcher = dispatcher
        self._caller = caller
        self._ended = ended
        self._limits = limits
        self._prepare = prepare
        self._running: set[Execution] = set()

    @property
    def id(self) -> str:
        """What the journal and the history call all of it: ``ws.memory.undo(run=…)``."""
        return self._caller.run

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that exist in it, in the registry's order."""
        cage = self._caller.cage
        return tuple(t for t in self.dispatcher.registry if cage is None or t.name in cage)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it, and what runs in it: no call begins any more; safe from any thread."""
        self._ended.set()
        for execution in tuple(self._running):
            execution.cancel()

    def call(self, name: str, arguments: Any) -> Any:
        """Calls a tool, by the same road that a guest's call takes.

        Args:
            name: The tool's name; any text.
            arguments: What it is given; any value of JSON's.

        Returns:
            The tool's value, redacted. In a dry run ``{"value", "would_write"}``: what the tool
            would have returned, and a list of ``{"path", "diff"}``.

        Raises:
            NocturnError: The call was refused or failed.
        """
        return self.dispatch(call_of(name, arguments))

    def dispatch(self, call: Call) -> Any:
        """Runs a call, which knows afterwards what became of it; otherwise as :meth:`call`."""
        value = self.dispatcher.dispatch(call, self._caller, self._limits.call_bytes)
        if not self._caller.dry:
            return value
        told = call.would_write
        return {
            "value": value,
            "would_write": [] if told is None else [{"path": told[0], "diff": told[1]}],
        }

    def run(
        self,
        source: str | bytes,
        *,
        filename: str = "<script>",
        lang: Literal["js", "ts"] | None = None,
    ) -> RunResult:
        """Runs a script in a worker of its own, whose calls are this conversation's.

        Args:
            source: The script; it gets no files.
            filename: What errors call it.
            lang: ``js`` or ``ts``; None: by the filename.

        Returns:
            What the run was, whatever happened to it; not redacted.

        Raises:
            NocturnError: ``CANCELLED``, the conversation is over.
            ConfigurationError: An argument is not usable, or no worker can be had.
            IsolationError: The machine gives less isolation than was asked for.
            RunInterrupted: Ctrl-C.
        """
        execution, dispatch = self._prepare(self, source, filename, lang)
        self._running.add(execution)
        try:
            if self._ended.is_set():  # after it can be cancelled, so that it never slips through
                raise NocturnError(CANCELLED, "the conversation is over, so that nothing runs")
            return execution.run(dispatch)
        finally:
            self._running.discard(execution)

    def caller_of(self, execution: Execution, filename: str) -> Caller:
        """Returns this conversation's caller as a run of it has it: with the run's clock and end.

        What is held against it and what was asked is shared; what is ``by_hand`` no script has.

        Args:
            execution: The run, which gets the conversation's id.
            filename: The script's name.
        """
        execution.identity = self._caller.run
        return replace(
            self._caller,
            cage=frozenset(each.name for each in self.tools if not each.by_hand),
            script=filename,
            clock=execution.clock,
            alive=lambda: self._caller.alive() and execution.alive(),
        )


def call_of(name: str, arguments: Any) -> Call:
    """Returns a call as it comes from Python."""
    call = Call(name, arguments)
    try:
        text = json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        call.problem = "the arguments are not JSON values"
    else:
        call.size_bytes = len(text.encode("utf-8", "surrogatepass"))
    return call


class NoClock:
    """A call from Python has no clock that could stand still."""

    def pause(self) -> None:
        """Does nothing."""

    def resume(self) -> None:
        """Does nothing."""

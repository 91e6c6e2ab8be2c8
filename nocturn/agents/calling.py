"""Makes the calls of one turn, side by side, and has an outcome for each, whatever they do."""

from __future__ import annotations

import logging
import threading
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.events import CallBegan, CallEnded
from nocturn.agents.tool import ToolContext, ToolResult
from nocturn.errors import BAD_ARGUMENTS, CANCELLED, INTERNAL, LIMIT, UNKNOWN_TOOL
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nocturn.agents.events import Event
    from nocturn.agents.reply import WantedCall
    from nocturn.agents.span import Span
    from nocturn.agents.tool import AgentTool

__all__ = ["Calling", "Hands"]

_LOG: Final = logging.getLogger("nocturn")

CALLS_MADE: Final = 32
"""How many calls of a turn are made; the others are answered without."""
AT_ONE_TIME: Final = 8
HANGING: Final = 32
"""So many threads may hang in tools; with more of them an agent makes no more calls."""
OUTPUT_CHARACTERS: Final = 262_144
"""What a model is told of an outcome; a note of the largest size is half of it."""
_NAME_CHARACTERS: Final = 100


class Hands:
    """The threads of an agent that are in a tool; nothing ends one that hangs, so they count."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = 0

    def take_up(self, work: Callable[[], None]) -> bool:
        """Has a thread do ``work``; returns False where too many hang already."""
        with self._lock:
            if self._busy >= HANGING:
                return False
            self._busy += 1
        threading.Thread(target=self._do, args=(work,), name="nocturn-tool", daemon=True).start()
        return True

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            with self._lock:
                self._busy -= 1


@dataclass(slots=True)
class _Turn:
    """The calls of a turn and what came of them, by their place."""

    wanted: Sequence[WantedCall]
    results: list[ToolResult | None]
    next: int = 0
    over: bool = False

    def ended(self) -> bool:
        return self.over


class Calling:
    """Makes calls for one run.

    Args:
        tools: What the agent has.
        span: The run's.
        hands: The agent's.
        redacted: Takes every secret out of what JSON can hold.
        tell: Told of each call.
        agent: The agent's name; empty where it has none.
    """

    def __init__(
        self,
        tools: Iterable[AgentTool],
        span: Span,
        hands: Hands,
        redacted: Callable[[Any], Any],
        tell: Callable[[Event], None],
        agent: str,
    ) -> None:
        self._tools = {each.name: each for each in tools}
        self._span = span
        self._hands = hands
        self._redacted = redacted
        self._tell = tell
        self._agent = agent

    def make(self, wanted: Sequence[WantedCall], results: list[ToolResult | None]) -> None:
        """Makes a turn's calls; those that cannot be are answered for.

        Args:
            wanted: The calls.
            results: As many places, each filled once its outcome is in: those too that were when
                the run was stopped.

        Raises:
            StoppedError: The run was stopped, or its time is over.
        """
        turn = _Turn(wanted[:CALLS_MADE], results)
        for at in range(CALLS_MADE, len(wanted)):
            said = f"{LIMIT}: a turn has at most {CALLS_MADE} calls: make this one again later"
            results[at] = ToolResult(said, is_error=True)
        workers = 0
        for _ in range(min(AT_ONE_TIME, len(turn.wanted))):
            workers += self._hands.take_up(lambda: self._work(turn))
        if not workers:
            said = f"{LIMIT}: {HANGING} calls of before still hang, so that none begins"
            results[:] = [each or ToolResult(said, is_error=True) for each in results]
        try:
            self._span.wait(lambda: all(results))
        finally:
            with self._span.changed:
                turn.over = True  # no call begins any more, and no outcome counts

    def _work(self, turn: _Turn) -> None:
        while True:
            with self._span.changed:
                if turn.over or turn.next >= len(turn.wanted):
                    return
                at = turn.next
                turn.next += 1
            call = turn.wanted[at]
            result = self._outcome(call, lambda: not turn.ended())
            with self._span.changed:
                if turn.ended():
                    return
                turn.results[at] = result
                self._span.changed.notify_all()

    def _outcome(self, call: WantedCall, alive: Callable[[], bool]) -> ToolResult:
        name = self._redacted(visible(call.tool[:_NAME_CHARACTERS], keep=""))
        try:
            self._tell(CallBegan(call.id, name, self._redacted(call.arguments)))
            result = self._result(call, name, alive)
            output = _cut(self._redacted(_text(result.output)))
        except BaseException:  # noqa: BLE001 - a tool that breaks is an outcome, SystemExit too
            words = self._redacted(traceback.format_exc())
            _LOG.error("the tool %s broke\n%s", name, visible(words))
            result = ToolResult("", is_error=True)
            output = f"{INTERNAL}: the tool broke; the host's log has what happened"
        told = ToolResult(output, result.is_error is not False, result.ruling)
        if alive():
            self._tell(CallEnded(call.id, name, told.output, told.is_error, told.ruling))
        return told

    def _result(self, call: WantedCall, name: str, alive: Callable[[], bool]) -> ToolResult:
        tool = self._tools.get(call.tool)
        if tool is None:
            there = ", ".join(self._tools) or "none"
            said = f"{UNKNOWN_TOOL}: there is no tool named {name!r}; there is: {there}"
            return ToolResult(said, is_error=True)
        if call.problem:
            return ToolResult(f"{BAD_ARGUMENTS}: {call.problem}", is_error=True)
        if not alive():
            return ToolResult(f"{CANCELLED}: the run ended before the call began", is_error=True)
        return tool.execute(call.arguments, ToolContext(call.id, self._agent, alive))


def _text(output: object) -> str:
    """Returns an outcome as text that UTF-8 can hold."""
    return str(output).encode("utf-8", "replace").decode()


def _cut(text: str) -> str:
    """Returns what a model is told of a text; redacted before, since half a secret would pass."""
    if len(text) <= OUTPUT_CHARACTERS:
        return text
    cut = f"\n[cut: this is the beginning of {len(text):,} characters]"
    return text[:OUTPUT_CHARACTERS] + cut

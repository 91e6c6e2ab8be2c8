"""One run's conversation with one worker: frames in, replies out, nothing trusted."""

from __future__ import annotations

import json
import os
import struct
import threading
import time

from nocturn import errors
from nocturn.errors import IsolationError, NocturnError
from nocturn.host.result import ConsoleLine
from nocturn.registry.call import Call
from nocturn.wire import codec
from nocturn.wire.frames import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Any, Final

    from nocturn.host.program import Program
    from nocturn.limits import Limits
    from nocturn.wire.frames import Channel

__all__ = ["Ending", "Exchange", "without_hashbang"]

_LEVELS: Final = ("log", "info", "warn", "error", "debug")
_DONE: Final = (
    *("ok", "guest_error", "memory_limit", "never_settles", "output_limit", "refused_source"),
)
_TOOL_CHARACTERS: Final = 4_096
"""A tool's name in the record of a call; no tool has more than 64."""
SHOWN_CHARACTERS: Final = 8_193
"""Of a session's value; the worker sends no more, and a mark where it has cut."""
_REJECTIONS: Final = 16
"""Rejections that a result tells of; the prelude sends no more."""
_NUMBERS: Final = 2**53
_AROUND_CHARACTERS: Final = 128
"""What the worker puts around a value that is as long as it may be."""

_REASONS: Final = {
    "never_settles": "the script's promise can never settle: nothing is left that could do it",
    "guest_error": "the script failed and said nothing of it",
    "refused_source": "the script imports what is not there",
    "memory_limit": "the script ran out of memory",
}
"""What is said where the worker says no more than that."""


class Ending:
    """How the worker's side of the conversation ended.

    Attributes:
        status: The run's status.
        value: The completion value.
        error: What the worker said of the error: hostile, each field of any type.
        unhandled: The same of each promise whose rejection nobody looked at.
        lead: Lines that the worker put before the source.
        reason: Our own words, where the worker did not get to say any.
        heap_bytes: The most memory that the guest has had; None where it is not known.
        shown: A session's value as the worker shows it; None for undefined.
    """

    __slots__ = ("error", "heap_bytes", "lead", "reason", "shown", "status", "unhandled", "value")

    def __init__(self, status: str, *, reason: str = "") -> None:
        self.status = status
        self.reason = reason
        self.value: Any = None
        self.error: dict[str, Any] | None = None
        self.unhandled: list[Any] = []
        self.lead = 0
        self.heap_bytes: int | None = None
        self.shown: str | None = None


class Exchange:
    """The host's side of one run: it answers one worker.

    Args:
        channel: The worker's frames.
        dispatch: Runs one call and fills in its reply; raises ``NocturnError``, or anything else
            for a fault of ours. Calls in flight are dispatched in many threads.
        limits: The run's limits.
        aside: Has another thread do a piece of work, for which the channel stays open.
        on_call: Told of each call that has ended, in the thread that it ran in.
        on_console: Told of each line as it arrives.
    """

    def __init__(
        self,
        channel: Channel,
        dispatch: Callable[[Call], object],
        limits: Limits,
        aside: Callable[[Callable[[], None]], None],
        on_call: Callable[[Call], None],
        on_console: Callable[[ConsoleLine], None],
    ) -> None:
        self._channel = channel
        self._dispatch = dispatch
        self._limits = limits
        self._aside = aside
        self._sending = threading.Lock()
        self._in_flight: set[int] = set()
        self._on_call = on_call
        self._on_console = on_console
        self.console: list[ConsoleLine] = []
        self.console_bytes = 0
        self.calls: list[Call] = []
        self.call_count = 0
        self.isolation = "none"
        self.said = b""
        self.steps: dict[str, str] = {}

    def prepare(self, isolation: str) -> Ending | None:
        """Hears from the worker that it is locked down; no guest is in it yet.

        Args:
            isolation: ``full``, or ``best-effort`` to take what the machine has.

        Returns:
            None where the worker is ready, else how it ended.

        Raises:
            IsolationError: The worker has less than was asked for, and says why.
        """
        try:
            payload = self._channel.read()
            if payload is None:
                return Ending("worker_died", reason="the worker ended before it was ready")
            self.said = payload
            frame = codec.decode(payload)
            if frame.get("type") == "refused":
                raise IsolationError(f"the worker could not be locked down: {frame.get('reason')}")
            level, steps = frame.get("level"), frame.get("steps")
            if frame.get("type") != "ready" or type(level) is not str or type(steps) is not dict:
                raise WireError("its first frame does not say how it is locked down")
        except WireError as problem:
            return _broken(problem)
        self.isolation, self.steps = level, steps
        if isolation == "full" and self.isolation != "full":
            missing = "; ".join(
                f"{name} is {state}" for name, state in self.steps.items() if state != "on"
            )
            raise IsolationError(
                f"full isolation was asked for, this machine gives {self.isolation} ({missing}); "
                'isolation="best-effort" (--isolation best-effort) runs with that'
            )
        return None

    def answer(self, program: Program, arguments: list[str], head: bytes = b"") -> Ending:
        """Gives the worker its guest and answers it until it is done or gone.

        Args:
            program: The script and the modules that it may import.
            arguments: The guest's ``nocturn.args``.
            head: What stands before the first frame; none but a session's line has something.
        """
        limits = self._limits
        start = {
            "source": without_hashbang(program.text),
            "name": program.name,
            "modules": {**program.files, **program.modules},
            "args": arguments,
            "ceiling": limits.frame_bytes // 3 - _AROUND_CHARACTERS,
            "console_bytes": limits.console_bytes,
            "calls_in_flight": limits.calls_in_flight,
            # Math.random starts from the same state in every fork of the zygote.
            "seed": list(struct.unpack("4I", os.urandom(16))),
        }
        self._channel.write(head + json.dumps(start).encode())
        try:
            while (payload := self._channel.read()) is not None:
                frame = codec.decode(payload)
                kind = frame.get("type")
                if kind == "call":
                    number = self._number(frame)
                    call, count = self._arrived(frame, len(payload))
                    if number is not None:
                        self._take_off(call, count, number)
                    elif not self._send(self._reply(call, count)):
                        break  # it is gone: what it had sent before is no call any more
                elif kind == "console":
                    self._print(frame)
                    if self.console_bytes > limits.console_bytes:
                        return self._over("console", limits.console_bytes, self.console_bytes)
                elif kind == "done":
                    if head and self._in_flight:  # a reply would come in the middle of a later line
                        raise WireError("a line is done and calls of it are in flight")
                    return self._done(frame, len(payload))
                else:
                    raise WireError("a frame is of an unknown type")
        except WireError as problem:
            return _broken(problem)
        return Ending("worker_died", reason="the worker ended before the script did")

    def _number(self, frame: dict[str, Any]) -> int | None:
        """Returns what a call's reply is known by; None where the worker waits for it.

        Raises:
            WireError: The prelude would not have sent it, so the worker has been taken over.
        """
        if len(self._in_flight) >= self._limits.calls_in_flight:
            raise WireError(f"more than {self._limits.calls_in_flight} calls are in flight")
        if "id" not in frame:
            return None
        number = frame["id"]
        if type(number) is not int or not 0 < number < _NUMBERS or number in self._in_flight:
            raise WireError("a call in flight has no number of its own")
        return number

    def _arrived(self, frame: dict[str, Any], size_bytes: int) -> tuple[Call, int]:
        """Takes a call in; returns it, and the how many-th of the run it is."""
        limits = self._limits
        self.call_count += 1
        call = _read_call(frame, size_bytes, limits.call_bytes)
        if self.call_count <= limits.calls + 1:  # the first call over the limit is told, no flood
            self.calls.append(call)
        return call, self.call_count

    def _take_off(self, call: Call, count: int, number: int) -> None:
        """Runs a call in a thread of its own."""
        self._in_flight.add(number)

        def run() -> None:
            reply = self._reply(call, count)
            self._in_flight.discard(number)
            self._send(b'{"id":%d,' % number + reply[1:])

        self._aside(run)

    def _send(self, payload: bytes) -> bool:
        with self._sending:
            return self._channel.write(payload)

    def _reply(self, call: Call, count: int) -> bytes:
        """Runs one call and returns its reply: here exceptions become wire errors."""
        limits = self._limits
        try:
            if count > limits.calls:
                raise NocturnError(
                    errors.LIMIT,
                    f"limit calls is {limits.calls} and this is call {count}: "
                    "do more in one call, or raise Limits.calls",
                )
            self._dispatch(call)
            reply = f'{{"value":{call.reply}}}'
        except NocturnError as error:
            call.code = error.code
            reply = _error_reply(call, error.message, error.detail, limits.call_bytes)
        call.ended = call.ended or time.monotonic()
        call.arguments = None  # the record outlives the call, and a thousand of them add up
        if count <= limits.calls + 1:
            self._on_call(call)
        return reply.encode()

    def _print(self, frame: dict[str, Any]) -> None:
        level, text = frame.get("level"), frame.get("text")
        if level not in _LEVELS or not isinstance(text, str):
            raise WireError("a console frame has no level or no text")
        data = text.encode("utf-8", "surrogatepass")
        size = len(data) or 1  # an empty line is a line: no flood of them is free
        room = self._limits.console_bytes - self.console_bytes
        self.console_bytes += size
        if size > room:
            text = data[: max(0, room)].decode("utf-8", "ignore")
            if not text:
                return
        line = ConsoleLine(_LEVELS[_LEVELS.index(level)], text)  # one text for all lines
        self.console.append(line)
        self._on_console(line)

    def _done(self, frame: dict[str, Any], size_bytes: int) -> Ending:
        status, limit = frame.get("status"), self._limits.value_bytes
        if status not in _DONE:
            raise WireError("a done frame has no status that there is")
        heap, unhandled = frame.get("heap_bytes"), frame.get("unhandled")
        if status == "output_limit":
            return self._over("value", limit, _whole(frame.get("size")))
        ending = Ending(str(status), reason=_REASONS.get(str(status), ""))
        ending.heap_bytes = _whole(heap)
        ending.lead = _whole(frame.get("lead"))
        if isinstance(unhandled, list):
            ending.unhandled = unhandled[:_REJECTIONS]
        if status == "ok":
            ending.value, shown = frame.get("value"), frame.get("shown")
            ending.shown = shown[:SHOWN_CHARACTERS] if isinstance(shown, str) else None
            if size_bytes > limit and (size := _json_bytes(ending.value)) > limit:
                return self._over("value", limit, size)
        elif isinstance(frame.get("error"), dict):
            ending.error = error = frame["error"]
            if size_bytes > limit and _json_bytes(error.get("detail")) > limit:
                error["detail"] = None
        return ending

    @staticmethod
    def _over(what: str, limit: int, size: int) -> Ending:
        reason = f"limit {what}_bytes is {limit} and {size} bytes came: write less, or raise it"
        return Ending("output_limit", reason=reason)


def _broken(problem: WireError) -> Ending:
    return Ending("worker_died", reason=f"the worker broke the protocol: {problem}")


def _error_reply(call: Call, message: str, detail: dict[str, Any], limit: int) -> str:
    if len(codec.encode(detail)) > limit:  # a tool of somebody's raised it, with anything in it
        detail = {}
    told = {"code": call.code, "message": message, "tool": call.tool, "detail": detail}
    return json.dumps({"error": told})


def _read_call(frame: dict[str, Any], size_bytes: int, limit: int) -> Call:
    tool, arguments = frame.get("tool"), frame.get("args")
    problem = frame.get("unsendable")
    tool = tool[:_TOOL_CHARACTERS] if isinstance(tool, str) else ""
    if "size" in frame:
        return Call(tool, None, size_bytes=max(limit + 1, _whole(frame["size"])))
    if size_bytes > limit:  # the frame is; the arguments may not be
        size_bytes = _json_bytes(arguments)
    return Call(tool, arguments, size_bytes, problem[:1000] if isinstance(problem, str) else None)


def _json_bytes(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode("utf-8", "surrogatepass"))


def _whole(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**53 else 0


def without_hashbang(source: str) -> str:
    """Returns a script whose first line, if it is a system's, is a comment of the same length."""
    return "//" + source[2:] if source.startswith("#!") else source

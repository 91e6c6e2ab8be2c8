"""One run of an agent: a model is asked, its calls are made, it is told, and asked again.

It goes on in a thread of its own, so that a question can be left open: whoever called gets a
result that says so, and the run stays where it is until it is resumed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.calling import Calling
from nocturn.agents.endpoint import Endpoint
from nocturn.agents.events import Done
from nocturn.agents.reply import ModelError, free_identity
from nocturn.agents.result import CallMade, TaskResult, Usage
from nocturn.agents.span import StoppedError
from nocturn.agents.tool import ToolResult
from nocturn.errors import CANCELLED, NocturnError
from nocturn.limits import SIGNAL_SECONDS
from nocturn.names import is_tool_name
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nocturn.agents.calling import Hands
    from nocturn.agents.events import Event
    from nocturn.agents.pending import OpenQuestion
    from nocturn.agents.reply import Reply
    from nocturn.agents.result import Status
    from nocturn.agents.span import Span
    from nocturn.agents.spec import RuntimeOptions
    from nocturn.agents.tool import AgentTool

__all__ = ["Given", "Task"]

_LOG: Final = logging.getLogger("nocturn")

_ERROR_CHARACTERS: Final = 500
_STOPPED_SHORT: Final = {
    "length": "the model stopped at its length limit",
    "content_filter": "the model's endpoint filtered its answer",
}


@dataclass(frozen=True, slots=True)
class Given:
    """What a run is made of.

    Attributes:
        model: The model's name.
        options: The run's options.
        system: Gives the system prompt; empty for none.
        offers: The tools as the protocol has them.
        tools: The tools.
        messages: The conversation, the prompt at its end; redacted, as all that is added to it.
        agent: The agent's name; empty where it has none.
        redacted: Takes every secret out of what JSON can hold.
        close: Ends what the tools are at.
    """

    model: str
    options: RuntimeOptions
    system: Callable[[], str]
    offers: Sequence[Mapping[str, Any]]
    tools: Sequence[AgentTool]
    messages: Sequence[Mapping[str, Any]]
    agent: str
    redacted: Callable[[Any], Any]
    close: Callable[[], None]


class Task:
    """A run. Begun by :meth:`start`; what it came to is waited for with :meth:`wait`.

    Args:
        given: What it is made of.
        key: The endpoint's key.
        span: Its time.
        hands: The agent's threads.
        question: Who leaves a question open; None where an approver asks.
        tell: Told of events.
    """

    def __init__(
        self,
        given: Given,
        key: str,
        span: Span,
        hands: Hands,
        question: OpenQuestion | None,
        tell: Callable[[Event], None],
    ) -> None:
        self._given = given
        self._key = key
        self._span = span
        self._open = question
        self._tell = tell
        self._calling = Calling(given.tools, span, hands, given.redacted, tell, given.agent)
        self._messages: list[dict[str, Any]] = [dict(each) for each in given.messages]
        self._system = ""
        self._text = ""
        self._turns = 0
        self._calls: list[CallMade] = []
        self._usage = Usage()
        self._result: TaskResult | None = None
        self._request: asyncio.Task[Reply] | None = None

    @property
    def result(self) -> TaskResult | None:
        """What it came to, or that a question is open; None while it goes on."""
        with self._span.changed:
            if self._result is None and self._is_open():
                return self._so_far("pending", "a question is open: resume with its answer")
            return self._result

    def _is_open(self) -> bool:
        """Whether a question waits for an answer; one of a run that was stopped does not."""
        return self._open is not None and not self._span.stopped and self._open.question is not None

    @property
    def goes_on(self) -> bool:
        """Whether it has not ended; it may wait for an answer."""
        with self._span.changed:
            return self._result is None

    def stop(self) -> None:
        """Ends it as ``interrupted``."""
        self._span.stop()

    def start(self) -> None:
        """Has a thread begin."""
        threading.Thread(target=self._run, name="nocturn-agent", daemon=True).start()

    def wait(self) -> TaskResult:
        """Waits until it ends or a question is open."""
        with self._span.changed:
            while (result := self.result) is None:
                self._span.changed.wait(SIGNAL_SECONDS)
            return result

    async def wait_async(self) -> TaskResult:
        """Waits without blocking the event loop."""
        loop = asyncio.get_running_loop()
        came: asyncio.Future[TaskResult] = loop.create_future()

        def settle(result: TaskResult) -> None:
            if not came.done():  # whoever awaits may have been cancelled
                came.set_result(result)

        def wait() -> None:
            result = self.wait()
            with suppress(RuntimeError):  # the loop is closed: nobody awaits any more
                loop.call_soon_threadsafe(settle, result)

        # Not in the loop's executor, whose threads hold an interpreter up that wants to end.
        threading.Thread(target=wait, name="nocturn-awaited", daemon=True).start()
        return await came

    def answer(self, answer: object) -> bool:
        """Answers the open question; returns whether there was one."""
        return self._open is not None and self._open.answer(answer)

    # ---- in its thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        """Goes on until there is a result, which there always is."""
        try:
            with asyncio.Runner() as runner:
                result = self._ended(runner)
                self._given.close()
                self._tell(Done(result))
                with self._span.changed:
                    self._result = result
                    self._span.changed.notify_all()
        except BaseException:  # noqa: BLE001 - nobody waits for ever, whatever broke
            self._log()
        finally:
            with self._span.changed:
                if self._result is None:
                    self._result = TaskResult("error", error=_BROKEN)
                self._span.changed.notify_all()

    def _ended(self, runner: asyncio.Runner) -> TaskResult:
        try:
            status, why = self._converse(runner)
        except StoppedError as stopped:
            status, why = stopped.status, stopped.why
        except ModelError as error:
            status, why = "error", error.message
        except NocturnError as error:  # what must not leave cannot be read, so that nothing may
            status, why = "error", str(error)
        except Exception:  # noqa: BLE001 - a failure is a result
            self._log()
            status, why = "error", _BROKEN
        return self._so_far(status, why)

    def _converse(self, runner: asyncio.Runner) -> tuple[Status, str]:
        given = self._given
        self._system = given.system()
        loop = runner.get_loop()
        self._span.on_stop(lambda: self._drop_request(loop))
        endpoint = Endpoint(given.model, self._key, given.options, self._tell)
        try:
            while self._turns < given.options.max_turns:
                reply = self._asked(runner, endpoint)
                reply = self._take(reply)
                if reply.stopped:
                    return "incomplete", _STOPPED_SHORT[reply.stopped]
                if not reply.calls:
                    return "done", ""
                self._make(reply)
            return "incomplete", f"the model still made calls after {self._turns} turns"
        finally:
            self._usage = Usage(
                endpoint.requests, self._usage.input_tokens, self._usage.output_tokens
            )
            runner.run(endpoint.close())

    def _asked(self, runner: asyncio.Runner, endpoint: Endpoint) -> Reply:
        """Asks the model, no longer than the run may go on."""
        messages = self._told()

        async def ask() -> Reply:
            self._request = asyncio.current_task()
            self._span.check()  # from here on it is woken
            async with asyncio.timeout(self._span.left()):
                return await endpoint.ask(messages, self._given.offers, self._span.left)

        try:
            return runner.run(ask())
        except TimeoutError:
            raise self._span.over() from None
        except asyncio.CancelledError:
            raise StoppedError("interrupted", "the run was cancelled") from None

    def _drop_request(self, loop: asyncio.AbstractEventLoop) -> None:
        request = self._request
        if request is not None:
            with suppress(RuntimeError):  # the loop is closed: there is nothing to drop
                loop.call_soon_threadsafe(request.cancel)

    def _told(self) -> list[dict[str, Any]]:
        """Returns the messages as they go out."""
        system = [{"role": "system", "content": self._system}] if self._system else []
        return [*system, *self._messages]

    def _take(self, reply: Reply) -> Reply:
        """Takes an answer in; returns it with no secret in what the calls are called."""
        taken = {each.id for each in reply.calls}
        calls = tuple(
            each
            if self._given.redacted(each.id) == each.id
            else replace(each, id=free_identity(f"call_{at}", taken))
            for at, each in enumerate(reply.calls)
        )
        reply = replace(reply, text=self._given.redacted(_utf8(reply.text)), calls=calls)
        self._turns += 1
        self._text = reply.text or self._text
        self._usage = Usage(
            self._usage.requests,
            self._usage.input_tokens + reply.input_tokens,
            self._usage.output_tokens + reply.output_tokens,
        )
        if reply.text and (reply.stopped or not calls):
            self._messages.append({"role": "assistant", "content": reply.text})
        return reply

    def _make(self, reply: Reply) -> None:
        """Makes the calls of a turn, and puts them into the conversation with their outcomes."""
        results: list[ToolResult | None] = [None] * len(reply.calls)
        try:
            self._calling.make(reply.calls, results)
        finally:  # a call that was made is told of, whatever stopped the run
            said: list[dict[str, Any]] = []
            outcomes: list[dict[str, Any]] = []
            for call, result in zip(reply.calls, results, strict=True):
                name = self._given.redacted(call.tool)
                name = name if is_tool_name(name) else "no_such_tool"
                arguments = _json(self._given.redacted(call.arguments))
                function = {"name": name, "arguments": arguments}
                said.append({"id": call.id, "type": "function", "function": function})
                outcome = result or ToolResult(_UNKNOWN_OUTCOME, is_error=True)
                outcomes.append(
                    {"role": "tool", "tool_call_id": call.id, "content": outcome.output}
                )
                self._calls.append(CallMade(name, outcome.is_error, outcome.ruling))
            content = reply.text or None
            message = {"role": "assistant", "content": content, "tool_calls": said}
            self._messages += [message, *outcomes]

    def _so_far(self, status: Status, why: str) -> TaskResult:
        redacted = self._given.redacted
        why = why.replace(self._key, "[REDACTED]")  # a weak key is not looked for elsewhere
        try:
            return TaskResult(
                status,
                self._text,
                self._turns,
                tuple(self._calls),
                self._usage,
                _short(visible(redacted(_utf8(why)), keep="")),
                tuple(self._messages),
                self._open.question if self._open is not None and status == "pending" else None,
            )
        except NocturnError as error:  # what must not leave cannot be read: nothing is told
            return TaskResult("error", error=str(error))

    def _log(self) -> None:
        """Logs what broke, without what must not stand in a log."""
        words = traceback.format_exc().replace(self._key, "[REDACTED]")
        try:
            words = self._given.redacted(words)
        except NocturnError:
            words = "(not told: what must not leave cannot be read)"
        _LOG.error("a run of an agent broke\n%s", visible(words))


_BROKEN: Final = "something broke in here; the log has what happened"
_UNKNOWN_OUTCOME: Final = f"{CANCELLED}: the run ended before the outcome was in"


def _json(value: Any) -> str:
    return json.dumps(value)  # in ASCII, so that a lone surrogate passes


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _short(text: str) -> str:
    return text if len(text) <= _ERROR_CHARACTERS else text[:_ERROR_CHARACTERS] + "…"

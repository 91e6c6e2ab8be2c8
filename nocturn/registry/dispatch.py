"""The nine steps, in their order, in one place that no tool can skip.

1 the cage, 2 strict parsing, 3 canonical form, 4 size caps, 5 the leak scan, 6 what can be seen to
fail, 7 the gate, 8 the effect, 9 the journal. Scan before gate: a secret must not even be shown to
the person who is asked. A call that fails in 1 to 6 asks nobody and leaves nothing.
"""

from __future__ import annotations

import inspect
import json
import logging
import os
import time
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from nocturn import errors
from nocturn.effects import Clearance, Preview
from nocturn.errors import ConfigurationError, NocturnError, too_large
from nocturn.registry.tool import UNGATED, Registry, Tool
from nocturn.visible import visible
from nocturn.wire import codec
from nocturn.wire.codec import NotSendableError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from nocturn.guard.caller import Caller
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Journal
    from nocturn.guard.scanner import Scanner
    from nocturn.guard.screen import Screen
    from nocturn.registry.call import Call

__all__ = ["Dispatcher"]

_LOG: Final = logging.getLogger("nocturn")
_SHOWN: Final = 80
"""How many characters of a name are echoed in an error."""


class Dispatcher:
    """Runs calls.

    Args:
        registry: The tools.
        screen: Looks for secrets in what comes in.
        scanner: Takes them out of what goes out.
        gate: Rules on effects; None refuses every gated call.
        journal: Where calls are written down.
    """

    def __init__(
        self,
        registry: Registry,
        screen: Screen,
        scanner: Scanner,
        gate: Gate | None,
        journal: Journal,
    ) -> None:
        self.registry = registry
        self._screen = screen
        self._scanner = scanner
        self._gate = gate
        self._journal = journal

    def dispatch(self, call: Call, caller: Caller, call_bytes: int) -> Any:
        """Runs one call down the whole road.

        Args:
            call: The call; its effects, ruling, code, bytes and reply are filled in.
            caller: Whose it is.
            call_bytes: The most that its arguments may have, as JSON in UTF-8.

        Returns:
            The tool's value, redacted: JSON-able.

        Raises:
            NocturnError: The call was refused or failed; its message is safe for the guest.
        """
        call.id = os.urandom(8).hex()
        try:
            value = self._run(call, caller, call_bytes)
        except NocturnError as error:
            told = self._told(error, call)
            self._settle(call, caller, told.code)
            raise told from None
        except KeyboardInterrupt:  # the person's, at a call from Python
            self._settle(call, caller, errors.CANCELLED)
            raise
        except BaseException as fault:  # noqa: BLE001 - not even a tool's SystemExit is the guest's
            self._log(call, fault)
            self._settle(call, caller, errors.INTERNAL, type(fault).__name__)
            said = f": {fault}" if isinstance(fault, NotSendableError) else ""
            raise NocturnError(
                errors.INTERNAL,
                self._redact(f"the tool failed{said}; the journal has the call as {call.id}"),
                tool=call.tool,
                detail={"call": call.id},
            ) from None
        self._settle(call, caller, None)
        return value

    def _run(self, call: Call, caller: Caller, call_bytes: int) -> Any:
        try:
            tool = self._in_cage(call, caller)  # 1
            parsed = _parse(tool, call, call_bytes, self._redact)  # 2
            canonical = tool.canonical(dict(parsed)) if tool.canonical else dict(parsed)  # 3
            _cap(tool, call, canonical, call_bytes)  # 4
        except NocturnError:
            self._note_refused(call, caller)
            raise
        if self._screen.armed:  # 5
            incoming = [call.tool, *_strings(call.arguments)]
            self._screen.check(caller, call.tool, incoming, list(_strings(canonical)))
        preview = tool.foresee(canonical) if tool.foresee else Preview()  # 6
        clearance = self._clear(tool, call, caller, canonical, preview)  # 7
        if not caller.alive():
            raise NocturnError(errors.CANCELLED, "the run had ended before the call could begin")
        if clearance is not None:  # 9, before 8
            self._journal.append(self._entry(call, caller, "intent"), durable=True)
        value = _call(tool, canonical, clearance, preview)  # 8
        codec.require_exact(value)
        value = self._scanner.redact_value(value)
        call.reply = codec.encode(value)
        if len(call.reply) > call_bytes:
            raise too_large("reply", call_bytes, len(call.reply), "ask for less at a time")
        wrote = call.effects and tool.foresee and preview.after is not None
        call.bytes = len((preview.after or "").encode()) if wrote else len(call.reply)
        return value

    def _note_refused(self, call: Call, caller: Caller) -> None:
        """Counts the secrets of a call that does not come as far as the scan."""
        if not self._screen.armed:
            return
        # What could not be sent or is nested too deep is told in words, which are the guest's too.
        texts = [call.problem] if call.problem else list(_strings(call.arguments))
        known = self.registry.get(call.tool) is not None
        name = call.tool if known else visible(self._redact(call.tool), keep="")[:_SHOWN]
        self._screen.note(caller, name, texts if known else [call.tool, *texts])

    def _in_cage(self, call: Call, caller: Caller) -> Tool:
        cage = self.registry.cage(None) if caller.cage is None else caller.cage
        tool = self.registry.get(call.tool) if call.tool in cage else None
        if tool is None:
            names = ", ".join(sorted(cage)) or "none"
            raise NocturnError(
                errors.UNKNOWN_TOOL,
                f"there is no tool named {_quoted(self._redact(call.tool))}; there are: {names}",
            )
        return tool

    def _clear(
        self,
        tool: Tool,
        call: Call,
        caller: Caller,
        canonical: Mapping[str, Any],
        preview: Preview,
    ) -> Clearance | None:
        call.effects = tuple(each.effect(canonical) for each in tool.effects)
        if not call.effects:
            call.ruling = UNGATED
            return None
        if self._gate is None:
            call.ruling = "policy"
            raise NocturnError(
                errors.GATE_DENIED,
                "no gate is wired, so nothing that has effects may run",
                detail={"reason": "policy", "configuration": "gate"},
            )
        if tool.foresee is None:  # what a person is shown, and what is bound, is the arguments
            preview = Preview(
                after=json.dumps(canonical, ensure_ascii=False, default=str, indent=2)
            )
        content = (preview.after or "").encode("utf-8", "surrogatepass")
        try:
            clearance = self._gate.clear(caller, call.tool, call.effects, content, preview)
        except NocturnError as error:
            call.ruling = error.detail.get("reason")
            raise
        call.ruling = clearance.ruling
        return clearance

    def _told(self, error: NocturnError, call: Call) -> NocturnError:
        """Returns the error as the guest may see it: what it echoes is redacted first."""
        code, detail = error.code, error.detail
        if isinstance(error, ConfigurationError):  # a file of ours is broken, not the call
            code, detail = errors.STORAGE, {"configuration": call.tool}
        elif code not in errors.CODES:
            code = errors.INTERNAL
        try:
            codec.require_exact(detail)
        except NotSendableError:  # a tool of somebody's raised it, with anything in it
            detail = {}
        return NocturnError(
            code,
            self._redact(error.message),
            tool=self._redact(call.tool),
            detail=self._scanner.redact_value(detail),
        )

    def _settle(self, call: Call, caller: Caller, code: str | None, fault: str = "") -> None:
        """Writes the outcome down: 9. A write's effect stands, so a failure here is only told."""
        call.tool = self._redact(call.tool)  # nobody's record of the call holds a secret
        call.code = code
        call.ended = time.monotonic()
        wrote = bool(call.effects) and code is None
        if not wrote and not self._journal.is_there():
            return
        entry = self._entry(call, caller, "outcome")
        entry |= {"code": code, "bytes": call.bytes, "ms": call.ms}
        if fault:
            entry["fault"] = fault
        if not caller.alive():
            entry["late"] = True
        try:
            self._journal.append(entry, durable=wrote)
        except NocturnError as error:
            _LOG.warning("the outcome of call %s is not in the journal: %s", call.id, error.message)

    def _entry(self, call: Call, caller: Caller, phase: str) -> dict[str, Any]:
        # What came from the guest is redacted; the rest is ours.
        return {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "phase": phase,
            "call": call.id,
            "run": caller.run,
            "agent": caller.agent,
            "mode": caller.mode.value,
            "tool": self._redact(call.tool)[:256],
            "effects": [
                {**each.to_dict(), "target": self._redact(each.target)} for each in call.effects
            ],
            "ruling": call.ruling,
        }

    def _log(self, call: Call, fault: BaseException) -> None:
        told = visible(self._redact("".join(traceback.format_exception(fault))))
        _LOG.error("tool %s failed in call %s\n%s", call.tool, call.id, told)

    def _redact(self, text: str) -> str:
        return self._scanner.redact(text)


def _parse(tool: Tool, call: Call, call_bytes: int, redact: Callable[[str], str]) -> dict[str, Any]:
    """Step 2: strict types, no extra keys; the error names the field."""
    if call.problem is not None:
        raise NocturnError(errors.BAD_ARGUMENTS, call.problem)
    if call.size_bytes > call_bytes and call.arguments is None:
        raise too_large("arguments", call_bytes, call.size_bytes, "split it")
    if not _is_object(call.arguments):
        raise NocturnError(
            errors.BAD_ARGUMENTS, "the arguments are not an object: pass {name: value, …}"
        )
    for name, value in call.arguments.items():
        for text in _strings((name, value)):
            _require_unicode(str(name), text, redact)
    return _validate(tool, call.arguments, redact)


def _validate(
    tool: Tool, arguments: dict[str, Any], redact: Callable[[str], str]
) -> dict[str, Any]:
    try:
        return tool.parse(to_json(arguments))
    except PydanticSerializationError:
        raise _too_deep(tool) from None
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise _too_deep(tool) from None
        # Redacted before it is cut: half a secret would pass.
        place = redact(".".join(str(part) for part in first["loc"]))
        known = ", ".join(tool.fields) or "none"
        said = {
            "missing": f"argument {place} is missing; {tool.name} takes: {known}",
            "extra_forbidden": f"there is no argument {_quoted(place)}; {tool.name} takes: {known}",
        }.get(first["type"], f"argument {_quoted(place)}: {first['msg']}")
        raise NocturnError(errors.BAD_ARGUMENTS, said, detail={"field": place[:256]}) from None


def _too_deep(tool: Tool) -> NocturnError:
    known = ", ".join(tool.fields) or "none"
    return NocturnError(
        errors.BAD_ARGUMENTS, f"the arguments are nested too deep; {tool.name} takes: {known}"
    )


def _require_unicode(name: str, text: str, redact: Callable[[str], str]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        field = redact(name).encode("utf-8", "replace").decode()
        raise NocturnError(
            errors.BAD_ARGUMENTS,
            f"argument {_quoted(field)} has half a surrogate pair at position {problem.start}, "
            "which no text file can hold: remove it (String.prototype.toWellFormed)",
            detail={"field": field[:256]},
        ) from None


def _cap(tool: Tool, call: Call, canonical: Mapping[str, Any], call_bytes: int) -> None:
    """Step 4: no value is over its cap."""
    if call.size_bytes > call_bytes:
        raise too_large("arguments", call_bytes, call.size_bytes, "split it")
    for name, limit in (tool.caps or {}).items():
        value = canonical.get(name)
        if isinstance(value, str) and (size := len(value.encode())) > limit:
            raise too_large(name, limit, size, "split it")


def _call(
    tool: Tool, canonical: Mapping[str, Any], clearance: Clearance | None, preview: Preview
) -> Any:
    """Step 8: the effect."""
    given = {**canonical, "clearance": clearance, "preview": preview}
    value = tool.function(**{name: given[name] for name in tool.parameters & given.keys()})
    return _awaited(value) if inspect.iscoroutine(value) else value


def _awaited(work: Coroutine[Any, Any, Any]) -> Any:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # A call from Python, made inside of somebody's event loop, which cannot be entered twice.
    with ThreadPoolExecutor(1, thread_name_prefix="nocturn-tool") as thread:
        return thread.submit(asyncio.run, work).result()


def _strings(value: Any) -> Iterable[str]:
    """Every string in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif _is_object(value):
        for pair in value.items():
            yield from _strings(pair)
    elif _is_row(value):
        for item in value:
            yield from _strings(item)


def _is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)


def _is_row(value: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, (list, tuple, set, frozenset))


def _quoted(text: str) -> str:
    shown = visible(text, keep="")
    return f"“{shown[:_SHOWN]}…”" if len(shown) > _SHOWN else f"“{shown}”"

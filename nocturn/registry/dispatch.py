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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from nocturn import errors
from nocturn.effects import Clearance, Effect, Preview
from nocturn.errors import ConfigurationError, NocturnError, too_large
from nocturn.guard.question import Edited
from nocturn.guard.remarks import EDIT, Remark
from nocturn.guard.scanner import strings_in
from nocturn.limits import DRY_RUN_CHARACTERS, EDITS_A_QUESTION
from nocturn.registry.arguments import canonical_of, quoted
from nocturn.registry.call import Call
from nocturn.registry.declared import UNGATED
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
    from nocturn.registry.tool import Registry, Tool

__all__ = ["Dispatcher"]

_LOG: Final = logging.getLogger("nocturn")
_SHOWN: Final = 80
"""How many characters of an unknown tool's name a person is told."""


@dataclass(frozen=True, slots=True)
class _Deed:
    """What a call would do: what steps 2 to 6 have found out, and what step 7 rules on."""

    canonical: Mapping[str, Any]
    effects: tuple[Effect, ...]
    preview: Preview
    remarks: tuple[Remark, ...]
    text: str | None
    joins: tuple[str, str] | None

    @property
    def content(self) -> bytes:
        bound = self.preview.bound
        return self.after if bound is None else bound

    @property
    def after(self) -> bytes:
        return (self.preview.after or "").encode("utf-8", "surrogatepass")


class Dispatcher:
    """Runs calls.

    Args:
        registry: The tools.
        screen: Looks for secrets in what comes in.
        scanner: Takes them out of what goes out.
        gate: Rules on effects; None refuses every gated call.
        journal: Where calls are written down.
        gates: What rules on a tool's effects in place of ``gate``, by the tool's name.
    """

    def __init__(
        self,
        registry: Registry,
        screen: Screen,
        scanner: Scanner,
        gate: Gate | None,
        journal: Journal,
        gates: Mapping[str, Gate] | None = None,
    ) -> None:
        self.registry = registry
        self._screen = screen
        self._scanner = scanner
        self._gate = gate
        self._journal = journal
        self._gates = gates or {}

    def having(self, tools: Iterable[Tool], gates: Mapping[str, Gate]) -> Dispatcher:
        """Returns a dispatcher of other tools, on the same road.

        Args:
            tools: The tools.
            gates: As in the constructor.

        Raises:
            ConfigurationError: Two of them have one name.
        """
        registry = type(self.registry)(tools)
        return Dispatcher(registry, self._screen, self._scanner, self._gate, self._journal, gates)

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
        except KeyboardInterrupt as stop:  # the person's, at a call from Python
            # A lock may be held by what it met between taking and holding it: by its frame alone.
            traceback.clear_frames(stop.__traceback__)
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
            canonical = canonical_of(tool, call, call_bytes, self._redact)  # 2, 3, 4
        except NocturnError:
            self._note_refused(call, caller)
            raise
        scanned = _scanned(tool, call, canonical)
        call.remarks = self._screen.check(caller, call.tool, *scanned)  # 5
        deed = _foreseen(tool, call, canonical, call.remarks)  # 6
        if deed.joins:  # 5 once more: what comes of it may be what neither part is
            self._screen.check_joined(caller, call.tool, *deed.joins)
            call.remarks = self._screen.remarks_joined(call.remarks, *deed.joins)
            deed = replace(deed, remarks=call.remarks)
        clearance, deed = self._clear(tool, call, caller, deed, call_bytes)  # 7
        if not caller.alive():
            raise NocturnError(errors.CANCELLED, "the run had ended before the call could begin")
        if caller.dry and tool.axis == "write":
            value = self._not_done(tool, call, caller, deed)
        else:
            if clearance is not None and not caller.dry:  # 9, before 8
                intent = self._entry(call, caller, "intent")
                self._journal.append(intent, durable=True, content=call.content)
            if tool.outside:  # before it runs: an error's words are from outside, too
                caller.standing.take_in(tool.name)
            joined = partial(self._require_as_cleared, caller, call)
            value = _call(tool, deed, clearance, joined)  # 8
        codec.require_exact(value)
        value = self._scanner.redact_value(value)
        call.reply = codec.encode(value)
        if len(call.reply) > call_bytes:
            raise too_large("reply", call_bytes, len(call.reply), "ask for less at a time")
        wrote = call.effects and tool.foresee and deed.preview.after is not None
        call.bytes = len(deed.after) if wrote else len(call.reply)
        return value

    def _require_as_cleared(self, caller: Caller, call: Call, before: str, after: str) -> None:
        """Refuses what comes of a text that is no longer the one that the call was ruled on with.

        Raises:
            NocturnError: ``LEAK_BLOCKED``; ``CONFLICT``, there would be something to point out.
        """
        self._screen.check_joined(caller, call.tool, before, after)
        if self._screen.remarks_joined(call.remarks, before, after) != call.remarks:
            message = "the note was changed just now, and both need a look together: try again"
            raise NocturnError(errors.CONFLICT, message)

    def _note_refused(self, call: Call, caller: Caller) -> None:
        """Counts the secrets of a call that does not come as far as the scan."""
        # What could not be sent or is nested too deep is told in words, which are the guest's too.
        texts = [call.problem] if call.problem else list(strings_in(call.arguments))
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
                f"there is no tool named {quoted(self._redact(call.tool))}; there are: {names}",
            )
        return tool

    def _clear(
        self, tool: Tool, call: Call, caller: Caller, deed: _Deed, call_bytes: int
    ) -> tuple[Clearance | None, _Deed]:
        """Returns the clearance and what it is for, which a person may have written anew."""
        call.effects = deed.effects
        if not call.effects:
            call.ruling = UNGATED
            return None, deed
        gate = self._gates.get(tool.name, self._gate)
        if gate is None:
            call.ruling = "policy"
            raise NocturnError(
                errors.GATE_DENIED,
                "no gate is wired, so nothing that has effects may run",
                detail={"reason": "policy", "configuration": "gate"},
            )
        call.content = deed.content
        try:
            for edits in range(EDITS_A_QUESTION + 1):
                answer = gate.clear(
                    caller,
                    call.tool,
                    call.effects,
                    deed.content,
                    deed.preview,
                    remarks=call.remarks,
                    text=deed.text,
                    again=edits > 0,
                )
                if not isinstance(answer, Edited):
                    call.ruling = answer.ruling
                    return answer, deed
                deed = self._edited(tool, call, deed, answer.text, call_bytes)
                call.effects, call.remarks = deed.effects, deed.remarks
                call.content = deed.content
        except NocturnError as error:
            call.ruling = error.detail.get("reason")
            raise
        call.ruling = "declined"
        raise NocturnError(
            errors.GATE_DENIED,
            f"the text was edited {EDITS_A_QUESTION} times and there was no yes to any of them",
            detail={"reason": "declined"},
        )

    def _edited(self, tool: Tool, call: Call, deed: _Deed, text: str, call_bytes: int) -> _Deed:
        """Takes what a person wrote down steps 2 to 6; where it is refused, nothing has changed."""
        field = str(tool.text)
        written = Call(call.tool, {**call.arguments, field: text})
        try:
            canonical = canonical_of(tool, written, call_bytes, self._redact)
            findings, remarks = self._screen.look(call.tool, *_scanned(tool, written, canonical))
            own = Remark(EDIT, field, "this is the text as you have written it", "own")
            if not findings:
                edited = _foreseen(tool, written, canonical, (*remarks, own))
                if not edited.joins:
                    return edited
                findings = self._screen.look_joined(call.tool, *edited.joins)
                if not findings:
                    told = self._screen.remarks_joined(edited.remarks, *edited.joins)
                    return replace(edited, remarks=told)
            found = findings[0].secret or findings[0].rule
            raise NocturnError(errors.LEAK_BLOCKED, f"it carries a secret ({found})")
        except NocturnError as refused:
            said = f"what you wrote was not taken: {self._redact(refused.message)}"
            remarks = tuple(each for each in deed.remarks if each.kind != EDIT)
            return replace(
                deed,
                remarks=(*remarks, Remark(EDIT, field, said, "refused")),
                text=text if self._redact(text) == text else deed.text,
            )

    def _not_done(self, tool: Tool, call: Call, caller: Caller, deed: _Deed) -> Any:
        """Tells what a dry run leaves undone; returns what the tool would have said."""
        from nocturn.guard.difference import diff_text

        told = tool.would(deed.canonical, deed.preview) if tool.would else None
        if not deed.effects:
            return told
        path = self._redact(_targets(deed.effects))
        before, after = (
            None if text is None else self._redact(text)
            for text in (deed.preview.before, deed.preview.after)
        )
        diff = diff_text(path, before, after)
        with caller.lock:
            caller.told_characters += len(diff)
            if caller.told_characters > DRY_RUN_CHARACTERS:
                most = f"{DRY_RUN_CHARACTERS:,} characters"
                diff = f"(left out: the diffs of this run are over {most})\n"
        call.would_write = (path, diff)
        return told

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
        wrote = bool(call.effects) and code is None and not caller.dry
        if not wrote and not self._journal.is_there():
            return
        entry = self._entry(call, caller, "outcome")
        entry |= {"code": code, "bytes": call.bytes, "ms": call.ms}
        if fault:
            entry["fault"] = fault
        if not caller.alive():
            entry["late"] = True
        try:
            self._journal.append(entry, durable=wrote, content=call.content)
        except NocturnError as error:
            _LOG.warning("the outcome of call %s is not in the journal: %s", call.id, error.message)

    def _entry(self, call: Call, caller: Caller, phase: str) -> dict[str, Any]:
        # What came from the guest is redacted; the rest is ours.
        denied = call.code == errors.GATE_DENIED
        entry: dict[str, Any] = {
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
            "ruling": "deny" if denied else call.ruling,
            "reason": call.ruling if denied else None,
        }
        if call.remarks:
            entry["remarks"] = [each.to_dict() for each in call.remarks]
        if caller.standing.outside:
            entry["outside"] = list(caller.standing.outside)
        if caller.dry:
            entry["dry"] = True
        return entry

    def _log(self, call: Call, fault: BaseException) -> None:
        told = visible(self._redact("".join(traceback.format_exception(fault))))
        _LOG.error("tool %s failed in call %s\n%s", call.tool, call.id, told)

    def _redact(self, text: str) -> str:
        return self._scanner.redact(text)


def _scanned(
    tool: Tool, call: Call, canonical: Mapping[str, Any]
) -> tuple[list[str], list[str], list[tuple[str, str]], list[tuple[str, str]]]:
    """Returns what step 5 looks at: as it came, in canonical form, and, to be ruled on, by name.

    Last is what was read on the host, by name.
    """
    raw = [call.tool, *strings_in(call.arguments)]
    named = [(name, text) for name, value in canonical.items() for text in strings_in(value)]
    read = list(tool.reads(canonical)) if tool.reads else []
    return raw, list(strings_in(canonical)), named if tool.effects else [], read


def _targets(effects: tuple[Effect, ...]) -> str:
    """Returns the first target, and how many there are besides."""
    others = len(effects) - 1
    return f"{effects[0].target} and {others:,} more" if others else effects[0].target


def _foreseen(
    tool: Tool, call: Call, canonical: Mapping[str, Any], remarks: tuple[Remark, ...]
) -> _Deed:
    """Step 6: raises what can already be seen to fail."""
    arguments = dict(canonical)
    if tool.foresee:
        preview = tool.foresee(arguments)
    elif tool.effects:  # what a person is shown, and what is bound, is the arguments
        shown = json.dumps(arguments, ensure_ascii=False, default=str, indent=2)
        preview = Preview(after=shown)
    else:
        preview = Preview()
    effects = tuple(effect for each in tool.effects for effect in each.effects(arguments))
    text = call.arguments.get(tool.text) if tool.text else None
    text = text if isinstance(text, str) else None
    joins = (preview.before or "", preview.after or "") if "joined" in tool.parameters else None
    return _Deed(arguments, effects, preview, remarks, text, joins)


def _call(
    tool: Tool,
    deed: _Deed,
    clearance: Clearance | None,
    joined: Callable[[str, str], None],
) -> Any:
    """Step 8: the effect."""
    hosts = {"clearance": clearance, "preview": deed.preview, "joined": joined}
    given = {**deed.canonical, **hosts}
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

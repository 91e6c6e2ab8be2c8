"""The gate: policy, then grants, then a person. Only it makes a clearance.

Whatever goes wrong in here is a refusal: no policy, no readable grants, nobody to ask, no answer.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from nocturn.effects import Clearance, Effect, Grant, Mode, Preview, Recall, binding
from nocturn.errors import CANCELLED, GATE_DENIED, ConfigurationError, NocturnError
from nocturn.guard.asking import Asking
from nocturn.guard.policy import Decision, Policy
from nocturn.guard.ports import NO_ANSWER
from nocturn.guard.question import Edited, Option, Question, options_for
from nocturn.guard.remarks import INSTRUCTIONS, OUTSIDE, Remark
from nocturn.limits import QUESTIONS_A_RUN
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.guard.caller import Caller
    from nocturn.guard.ports import Approver, GrantStore

__all__ = ["Gate"]

_LOG: Final = logging.getLogger("nocturn")

_SHOWN_CHARACTERS: Final = 200
"""A target in a message: a note's path may be five times as long."""


@dataclass(frozen=True, slots=True)
class _Call:
    """What the gate rules on, in one piece."""

    caller: Caller
    tool: str
    effects: tuple[Effect, ...]
    content: bytes
    preview: Preview
    remarks: tuple[Remark, ...]
    outside: tuple[str, ...]
    text: str | None
    again: bool

    @property
    def doubtful(self) -> bool:
        """Whether what stands in it may be somebody else's will: then no grant speaks for it."""
        return any(remark.kind in (OUTSIDE, INSTRUCTIONS) for remark in self.remarks)


class Gate:
    """Rules on calls, for all the runs of one workspace.

    Args:
        policy: The policy, or how to read it; it is read again for each call.
        grants: The yeses that outlast the session.
        approver: Who asks a person; None where nobody can be asked.
        redact: Strikes secrets out of what a person or a message shows.
    """

    def __init__(
        self,
        policy: Callable[[], Policy] | Policy,
        grants: GrantStore,
        approver: Approver | None,
        redact: Callable[[str], str],
    ) -> None:
        self._policy = policy
        self._grants = grants
        self._asking = Asking(approver, redact) if approver is not None else None
        self._redact = redact
        self._session: list[Grant] = []

    def close(self) -> None:
        """Ends the session: what was granted for it is forgotten."""
        self._session.clear()

    def clear(
        self,
        caller: Caller,
        tool: str,
        effects: tuple[Effect, ...],
        content: bytes,
        preview: Preview,
        *,
        remarks: tuple[Remark, ...] = (),
        text: str | None = None,
        again: bool = False,
    ) -> Clearance | Edited:
        """Clears a call, or refuses it, or hands back what a person wrote in its place.

        Args:
            caller: Whose call it is.
            tool: The tool that was called.
            effects: All that it would do, at least one effect.
            content: Exactly the bytes that it would write.
            preview: What a person is shown.
            remarks: What is pointed out to that person.
            text: What of the call they may edit; None where nothing may be.
            again: Whether they have: then this question is theirs, and not one of the run's.

        Returns:
            Proof that these effects with this content may be done, good for one use; or the text
            that is to be asked about instead, which has cleared nothing.

        Raises:
            NocturnError: ``GATE_DENIED`` with the reason (``policy``, ``declined``, ``unattended``
                or ``timeout``) in ``detail``; ``CANCELLED``, the run ended meanwhile; ``INTERNAL``,
                the approver broke; ``STORAGE``, the yes could not be kept as was asked.
        """
        outside = caller.standing.outside
        call = _Call(
            caller,
            tool,
            effects,
            content,
            preview,
            (*_taken_in(outside), *remarks),
            outside,
            text,
            again,
        )
        pending, ruling = self._pending(call)
        if not pending:
            self._warn(call, f"ran unasked ({ruling})")
            return _clearance(call, ruling, asked=False)
        asking = self._somebody_to_ask(call, pending)
        caller.clock.pause()
        try:
            with asking.turn:
                # Others were asked while this call waited for its turn: a yes may cover it by now.
                pending, ruling = self._pending(call)
                if not pending:
                    return _clearance(call, ruling, asked=False)
                option = self._yes(call, pending, asking)
                if isinstance(option, Edited):
                    return option
                self._remember(option)
        finally:
            caller.clock.resume()
        return _clearance(call, option.value, asked=True)

    def _pending(self, call: _Call) -> tuple[dict[Effect, Recall], str]:
        """Returns the effects that need a person's yes, with their ceilings, and what let the rest.

        Raises:
            NocturnError: ``GATE_DENIED``, one of the effects is denied, or was refused before.
        """
        policy, stored = self._configured(call)
        if not call.effects:
            raise _denied(call, "policy", "the call names no effect, so it cannot be ruled on")
        caller = call.caller
        asked: dict[Effect, Recall] = {}
        for effect in call.effects:
            ruling = policy.ruling(caller.mode, effect, caller.agent)
            if ruling.decision is Decision.ASK:
                asked[effect] = ruling.ceiling
            elif ruling.decision is not Decision.ALLOW:
                msg = f"the policy denies {self._shown(effect)} ({ruling.where})"
                raise _denied(call, "policy", msg)
        with caller.asked.lock:
            before = caller.asked.refused
            refused = [(each, before[each]) for each in asked if each in before]
        for effect, reason in refused:
            again = "was refused" if reason == "declined" else "was left unanswered"
            raise _denied(call, reason, f"{self._shown(effect)} {again} before in this run")
        lasting = {Recall.SESSION: tuple(self._session), Recall.ALWAYS: stored}
        pending = {
            effect: ceiling
            for effect, ceiling in asked.items()
            # A yes that lasts longer than the ceiling now allows is none.
            if call.doubtful
            or not any(
                grant.covers(caller.agent, effect)
                for recall, grants in lasting.items()
                if recall <= ceiling
                for grant in grants
            )
        }
        return pending, "grant" if asked else "allow"

    def _configured(self, call: _Call) -> tuple[Policy, tuple[Grant, ...]]:
        """Returns the policy and the stored grants. Without both, nothing at all is cleared."""
        name = "policy.toml"
        try:
            policy = self._policy if isinstance(self._policy, Policy) else self._policy()
            name = "grants.json"
            return policy, self._grants.load()
        except ConfigurationError as error:
            msg = self._redact(f"the gate cannot rule without {name}: {error.message}")
            raise _denied(call, "policy", msg, configuration=name) from error

    def _somebody_to_ask(self, call: _Call, pending: dict[Effect, Recall]) -> Asking:
        what = self._shown(next(iter(pending)))
        asking = call.caller.asking or self._asking
        if call.caller.mode is Mode.STRICT or asking is None:
            self._warn(call, "was refused, since nobody can be asked")
        if call.caller.mode is Mode.STRICT:
            msg = (
                f"{what} needs a yes and mode strict asks nobody: run it in mode watched "
                "(--watched on the command line)"
            )
            # Under a lower ceiling a grant that is given ahead does not count.
            if all(ceiling is Recall.ALWAYS for ceiling in pending.values()):
                msg += f", or {_first_step(call.caller)}"
            raise _denied(call, "unattended", msg)
        if asking is None:
            msg = (
                f"{what} needs a yes and there is nobody to ask: run it at a terminal, or give "
                "the workspace an approver"
            )
            raise _denied(call, "unattended", msg)
        return asking

    def _yes(self, call: _Call, pending: dict[Effect, Recall], asking: Asking) -> Option | Edited:
        """Asks, and returns which yes was given, or the text that was given back.

        Raises:
            NocturnError: None was given.
        """
        _refuse_dead(call)
        if not call.again:
            self._count_question(call, pending)
        options = options_for(pending, call.caller.agent, named=call.caller.named)
        if call.caller.dry:  # it leaves nothing behind, not even a grant
            options = options[:1]
        question = self._question(call, options)
        answer = asking.ask(question)
        _refuse_dead(call)
        for option, offered in zip(options, question.options, strict=True):
            if _is_answer(answer, offered):
                return option
        if _is_edit(answer) and question.text is not None:
            return answer
        reason = "timeout" if answer is NO_ANSWER else "declined"
        with call.caller.asked.lock:
            call.caller.asked.refused.update(dict.fromkeys(pending, reason))
        what = self._shown(next(iter(pending)))
        if answer is NO_ANSWER:
            seconds = asking.patience_seconds
            raise _denied(call, reason, f"nobody answered in {seconds:g} s whether {what} may be")
        said = "the person said no"
        if answer is not None and answer is not False and answer != "no":
            values = ", ".join(each.value for each in options)
            said = f"the answer was none of those on offer (True, {values}), which is a no"
        raise _denied(call, reason, f"{said} to {what}")

    def _count_question(self, call: _Call, pending: dict[Effect, Recall]) -> None:
        with call.caller.asked.lock:
            if call.caller.asked.questions < QUESTIONS_A_RUN:
                call.caller.asked.questions += 1
                return
        msg = (
            f"{self._shown(next(iter(pending)))} needs a yes and this run has used up its "
            f"{QUESTIONS_A_RUN} questions: do less in a run, or grant a folder"
        )
        raise _denied(call, "unattended", msg)

    def _question(self, call: _Call, options: tuple[Option, ...]) -> Question:
        # The screen has blocked every secret by now; this is for what it may have missed, and for
        # what stands in the note already.
        redact, caller, preview = self._redact, call.caller, call.preview
        return Question(
            tool=redact(call.tool),
            effects=tuple(Effect(e.kind, e.verb, redact(e.target)) for e in call.effects),
            agent=redact(caller.agent),
            named=caller.named,
            mode=caller.mode,
            script=redact(caller.script),
            run=caller.run,
            preview=Preview(
                after=None if preview.after is None else redact(preview.after),
                before=None if preview.before is None else redact(preview.before),
                version=preview.version,
            ),
            size_bytes=len((preview.after or "").encode("utf-8", "surrogatepass")),
            digest=binding(call.effects, call.content),
            options=tuple(replace(each, label=redact(each.label)) for each in options),
            remarks=call.remarks,
            outside=call.outside,
            # What does not read as it is must not be edited, or the marks would be written.
            text=call.text if call.text is None or redact(call.text) == call.text else None,
            dry=caller.dry,
        )

    def _remember(self, option: Option) -> None:
        if option.recall is Recall.SESSION:
            self._session.extend(option.grants)
        elif option.recall is Recall.ALWAYS:
            for grant in option.grants:
                self._grants.add(grant)

    def _warn(self, call: _Call, what_became: str) -> None:
        """Tells the person who looks on what nobody will ask them about."""
        if call.remarks and call.effects:
            _LOG.warning(
                "%s %s, and: %s",
                self._shown(call.effects[0]),
                what_became,
                "; ".join(f"{each.text} ({each.place})" for each in call.remarks),
            )

    def _shown(self, effect: Effect) -> str:
        target = visible(self._redact(effect.target), keep="")
        if len(target) > _SHOWN_CHARACTERS:
            target = target[:_SHOWN_CHARACTERS] + "…"
        return f"{effect.kind} {effect.verb} {target}"


def _first_step(caller: Caller) -> str:
    """Says how a run gets a yes ahead; only an agent with a name has grants that last.

    The guest's words are no part of it: people paste such a line into a shell.
    """
    if caller.named:
        return f"grant it first (nocturn grants add {caller.agent} VERB TARGET)"
    return "give the run a name (--agent NAME) and grant it first (nocturn grants add)"


def _is_answer(answer: object, offered: Option) -> bool:
    """Returns whether this yes was given: ``1``, ``"yes"`` and other truthy objects are none."""
    return (
        (answer is True and offered.value == "once")
        or (type(answer) is Option and answer == offered)
        or (type(answer) is str and answer == offered.value)
    )


def _is_edit(answer: object) -> TypeGuard[Edited]:
    return type(answer) is Edited and type(answer.text) is str


def _refuse_dead(call: _Call) -> None:
    if not call.caller.alive():
        msg = "the run ended before the call could begin"
        raise NocturnError(CANCELLED, msg, tool=call.tool)


def _taken_in(outside: tuple[str, ...]) -> tuple[Remark, ...]:
    if not outside:
        return ()
    said = f"it has taken in text from outside, by {', '.join(outside)}"
    return (Remark(OUTSIDE, "the run", said, "outside"),)


def _clearance(call: _Call, ruling: str, *, asked: bool) -> Clearance:
    clearance: Clearance = Clearance._issue(  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - the one place
        effects=call.effects,
        digest=binding(call.effects, call.content),
        expected=call.preview.version if asked else None,
        asked=asked,
        ruling=ruling,
        run=call.caller.run,
        agent=call.caller.agent,
    )
    return clearance


def _denied(call: _Call, reason: str, message: str, **detail: Any) -> NocturnError:
    return NocturnError(GATE_DENIED, message, tool=call.tool, detail={"reason": reason, **detail})

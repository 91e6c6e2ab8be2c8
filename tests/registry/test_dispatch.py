"""The dispatcher by itself, with the fakes that ship: what it writes down and lets out."""

import pytest

from nocturn import NocturnError, tool
from nocturn.effects import Mode
from nocturn.guard.caller import Caller
from nocturn.guard.gate import Gate
from nocturn.guard.policy import DEFAULT
from nocturn.guard.scanner import Scanner
from nocturn.guard.screen import Screen
from nocturn.registry.call import Call
from nocturn.registry.dispatch import Dispatcher
from nocturn.registry.tool import Registry
from nocturn.testing import FixedSecrets, MemoryGrants, MemoryJournal, RecordingApprover

SECRET = "a-secret-of-the-house"
LIMIT = 10_000


class Clock:
    def __init__(self):
        self.told = []

    def pause(self):
        self.told.append("pause")

    def resume(self):
        self.told.append("resume")


@pytest.fixture
def journal():
    return MemoryJournal()


@pytest.fixture
def person():
    return RecordingApprover()


@pytest.fixture
def dispatcher(journal, person):
    def make(*tools, gate=True):
        scanner = Scanner([FixedSecrets(house=SECRET)])
        made = Gate(DEFAULT, MemoryGrants(), person, scanner.redact) if gate else None
        return Dispatcher(Registry(tools), Screen(scanner, journal), scanner, made, journal)

    return make


def caller(*, alive=lambda: True, cage=None):
    return Caller(
        agent="bob",
        named=True,
        mode=Mode.WATCHED,
        run="run-1",
        cage=cage,
        script="x.js",
        clock=Clock(),
        alive=alive,
    )


@tool(axis="read", effects="ungated")
def echo(text: str) -> str:
    return text


@tool(axis="write", effects=[("mail", "send", "to")])
def send(to: str) -> dict[str, object]:
    return {"to": to, "bytesWritten": 12}


def test_a_call_is_filled_in_as_it_goes(dispatcher):
    call = Call("send", {"to": "lina"})
    assert dispatcher(send).dispatch(call, caller(), LIMIT) == {"to": "lina", "bytesWritten": 12}
    assert len(call.id) == 16
    assert call.reply == '{"to":"lina","bytesWritten":12}'
    assert (call.ruling, call.code, call.bytes) == ("once", None, len(call.reply))
    assert [effect.target for effect in call.effects] == ["lina"]
    assert call.ended >= call.started
    read = Call("echo", {"text": "x"})
    dispatcher(echo).dispatch(read, caller(), LIMIT)
    assert (read.ruling, read.effects) == ("ungated", ())


def test_what_a_tool_raises_with_a_detail_that_cannot_be_sent_is_told_without_it(dispatcher):
    cycle = {}
    cycle["self"] = cycle

    @tool(axis="read", effects="ungated")
    def refuse(kind: str) -> None:
        details = {"cycle": cycle, "object": {"a": object()}, "number": {"n": 2**60}}
        raise NocturnError("LIMIT", "no more", detail=details[kind])

    for kind in ("cycle", "object", "number"):
        with pytest.raises(NocturnError) as refused:
            dispatcher(refuse).dispatch(Call("refuse", {"kind": kind}), caller(), LIMIT)
        assert (refused.value.code, refused.value.detail) == ("LIMIT", {})


def test_a_reply_over_the_limit_is_too_large_in_the_journal_too(dispatcher, journal):
    @tool(axis="read", effects="ungated")
    def much() -> str:
        return "x" * LIMIT

    call = Call("much", {})
    with pytest.raises(NocturnError) as refused:
        dispatcher(much).dispatch(call, caller(), LIMIT)
    assert refused.value.code == call.code == journal.entries[-1]["code"] == "TOO_LARGE"
    assert refused.value.detail == {"field": "reply", "limit": LIMIT, "size": LIMIT + 2}


def test_an_effect_has_a_durable_intent_and_a_durable_outcome(dispatcher, journal):
    dispatcher(send).dispatch(Call("send", {"to": "lina"}), caller(), LIMIT)
    assert [(row["phase"], row["durable"]) for row in journal.entries] == [
        ("intent", True),
        ("outcome", True),
    ]
    intent = journal.entries[0]
    assert (intent["run"], intent["agent"], intent["mode"]) == ("run-1", "bob", "watched")
    assert intent["ruling"] == "once"


def test_a_read_and_a_refusal_have_an_outcome_that_need_not_be_durable(dispatcher, journal, person):
    person.answer = False
    dispatcher(echo).dispatch(Call("echo", {"text": "x"}), caller(), LIMIT)
    with pytest.raises(NocturnError):
        dispatcher(send).dispatch(Call("send", {"to": "lina"}), caller(), LIMIT)
    assert [(r["tool"], r["phase"], r["code"], r["durable"]) for r in journal.entries] == [
        ("echo", "outcome", None, False),
        ("send", "outcome", "GATE_DENIED", False),
    ]


def test_without_a_gate_nothing_that_has_effects_runs(dispatcher, journal):
    with pytest.raises(NocturnError) as refused:
        dispatcher(send, gate=False).dispatch(Call("send", {"to": "lina"}), caller(), LIMIT)
    assert refused.value.code == "GATE_DENIED"
    assert refused.value.detail["reason"] == "policy"
    assert [row["phase"] for row in journal.entries] == ["outcome"]
    assert dispatcher(echo, gate=False).dispatch(Call("echo", {"text": "x"}), caller(), LIMIT)


def test_a_call_of_a_run_that_is_over_never_begins(dispatcher, journal):
    with pytest.raises(NocturnError) as refused:
        dispatcher(echo).dispatch(Call("echo", {"text": "x"}), caller(alive=lambda: False), LIMIT)
    assert refused.value.code == "CANCELLED"
    assert journal.entries[0]["late"] is True


def test_a_journal_that_refuses_the_intent_refuses_the_effect(dispatcher, journal):
    ran = []

    @tool(axis="write", effects=[("mail", "send", "to")])
    def post(to: str) -> None:
        ran.append(to)

    def full(_, *, durable):
        if durable:
            raise NocturnError("STORAGE", "the disk is full")

    journal.append = full
    with pytest.raises(NocturnError) as refused:
        dispatcher(post).dispatch(Call("post", {"to": "lina"}), caller(), LIMIT)
    assert refused.value.code == "STORAGE"
    assert ran == []


def test_a_journal_that_refuses_the_outcome_does_not_undo_the_effect(dispatcher, journal, caplog):
    def refuse_outcomes(entry, **_):
        if entry["phase"] == "outcome":
            raise NocturnError("STORAGE", "the disk is full")

    journal.append = refuse_outcomes
    call = Call("send", {"to": "lina"})
    assert dispatcher(send).dispatch(call, caller(), LIMIT)["to"] == "lina"
    assert call.id in caplog.text


def test_nobodys_record_of_a_call_holds_a_secret(dispatcher, journal):
    call = Call("x" * 250 + SECRET, {})
    with pytest.raises(NocturnError) as refused:
        dispatcher(echo).dispatch(call, caller(), LIMIT)
    for text in (call.tool, str(journal.entries), refused.value.message, refused.value.tool):
        assert SECRET not in text
        assert SECRET[:6] not in text


def test_what_a_tool_says_and_returns_is_redacted(dispatcher):
    @tool(axis="read", effects="ungated")
    def tell(fail: bool) -> list[str]:
        if fail:
            raise NocturnError("NOT_FOUND", f"no {SECRET}", detail={"what": SECRET})
        return [SECRET]

    road = dispatcher(tell)
    assert road.dispatch(Call("tell", {"fail": False}), caller(), LIMIT) == ["[REDACTED]"]
    with pytest.raises(NocturnError) as refused:
        road.dispatch(Call("tell", {"fail": True}), caller(), LIMIT)
    assert SECRET not in refused.value.message
    assert refused.value.detail == {"what": "[REDACTED]"}


def test_ctrl_c_in_a_tool_is_the_persons_and_is_written_down(dispatcher, journal):
    @tool(axis="read", effects="ungated")
    def slow() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dispatcher(slow).dispatch(Call("slow", {}), caller(), LIMIT)
    assert journal.entries[-1]["code"] == "CANCELLED"


def test_a_call_that_could_not_be_sent_says_why(dispatcher):
    with pytest.raises(NocturnError) as refused:
        dispatcher(echo).dispatch(
            Call("echo", None, problem="arguments.x refers back to itself"), caller(), LIMIT
        )
    assert (refused.value.code, refused.value.message) == (
        "BAD_ARGUMENTS",
        "arguments.x refers back to itself",
    )


def test_an_argument_that_cannot_be_sent_whole_is_too_large(dispatcher):
    with pytest.raises(NocturnError) as refused:
        dispatcher(echo).dispatch(Call("echo", None, size_bytes=LIMIT + 1), caller(), LIMIT)
    assert refused.value.detail == {"field": "arguments", "limit": LIMIT, "size": LIMIT + 1}


def test_a_hidden_character_in_a_name_is_shown(dispatcher):
    with pytest.raises(NocturnError) as refused:
        dispatcher(echo).dispatch(Call("ec\u202eho\x1b[2J", {}), caller(), LIMIT)
    assert refused.value.message.startswith("there is no tool named “ec\\u{202e}ho\\x1b[2J”")

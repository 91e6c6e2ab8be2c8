"""A question that waits elsewhere, as the gate's side sees it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from nocturn.effects import Effect, Mode, Preview
from nocturn.errors import ConfigurationError, NocturnError
from nocturn.guard.asking import Asking
from nocturn.guard.gate import Gate
from nocturn.guard.out_of_band import BoxApprover
from nocturn.guard.policy import DEFAULT
from nocturn.guard.ports import NO_ANSWER


@dataclass
class Outcome:
    state: str
    answer: str | None = None


class Box:
    """Keeps what is asked, and gives one outcome, or raises it."""

    id = "0123456789abcdef"

    def __init__(self, outcome):
        self.outcome = outcome
        self.asked = []
        self.open = False

    @contextmanager
    def ask(self, question, seconds):
        self.asked.append((question, seconds))
        self.open = True
        yield self
        self.open = False

    def wait(self, alive):
        assert alive()
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def clear(make_caller, grants):
    """Clears one write by an approver of the caller's own; returns the ruling."""

    def clear(approver, caller=None, target="a.md"):
        caller = caller or make_caller(Mode.GUARDED)
        caller.asking = Asking(approver, str)
        gate = Gate(DEFAULT, grants, None, str)
        effect = Effect("memory", "write", target)
        return gate.clear(caller, "memory_write", (effect,), b"text", Preview(after="text")).ruling

    return clear


@pytest.fixture
def approver_of():
    return lambda box, tell=lambda _: None: BoxApprover(lambda: box, lambda: True, 7.0, tell)


def reason_of(function, *arguments):
    with pytest.raises(NocturnError) as refused:
        function(*arguments)
    return refused.value.detail.get("reason", refused.value.code)


def test_a_question_is_put_told_of_and_answered(clear, approver_of):
    box, told = Box(Outcome("answered", "once")), []
    assert clear(approver_of(box, told.append)) == "once"
    ((question, seconds),) = box.asked
    assert (question["tool"], seconds, told, box.open) == ("memory_write", 7.0, [box.id], False)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome("answered", None), "declined"),
        (Outcome("answered", "forever"), "declined"),
        (Outcome("expired"), "timeout"),
        (Outcome("withdrawn"), "timeout"),
        (Outcome("expired", "always"), "timeout"),
    ],
)
def test_what_is_no_answer_on_offer_is_no_yes(clear, approver_of, outcome, reason):
    assert reason_of(clear, approver_of(Box(outcome))) == reason


def test_a_box_that_cannot_be_used_says_why(clear, approver_of):
    full = NocturnError("STORAGE", "the disk is full")
    assert reason_of(clear, approver_of(Box(full))) == "STORAGE"
    with pytest.raises(ConfigurationError):
        clear(approver_of(Box(ConfigurationError("the file is broken"))))
    assert reason_of(clear, approver_of(Box(ZeroDivisionError("/etc/shadow")))) == "INTERNAL"


def test_the_gate_waits_for_the_box_and_not_by_its_own_clock(clear):
    """A yes that was recorded in the last moment is no timeout because the gate was quicker."""
    release = threading.Event()

    class Late:
        timeout_seconds = 0.001
        grace_seconds = 60.0

        def ask(self, _):
            release.wait(60)
            return "once"

    threading.Timer(0.05, release.set).start()
    assert clear(Late()) == "once"


def test_whoever_asks_for_a_run_alone_goes_before_whoever_asks_for_all(
    make_caller, grants, approver_of
):
    caller = make_caller(Mode.GUARDED)
    caller.asking = Asking(approver_of(Box(Outcome("answered", None))), str)

    class Everybody:
        def ask(self, _):
            return NO_ANSWER

    gate = Gate(DEFAULT, grants, Everybody(), str)
    effects = (Effect("memory", "write", "a.md"),)
    arguments = (caller, "memory_write", effects, b"", Preview(after=""))
    assert reason_of(gate.clear, *arguments) == "declined"

from __future__ import annotations

import pytest

from nocturn.errors import ConfigurationError
from nocturn.guard.approver import CallbackApprover, TerminalApprover, approver_of
from nocturn.guard.asking import Asking


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "5", None, True])
def test_a_time_that_cannot_be_waited_is_refused(seconds):
    with pytest.raises(ConfigurationError):
        CallbackApprover(lambda _: True, seconds)
    with pytest.raises(ConfigurationError):
        TerminalApprover(timeout_seconds=seconds)


@pytest.mark.parametrize(("given", "waited"), [(5, 5.0), (0.5, 0.5), (0, 120.0), ("x", 120.0)])
def test_the_gate_waits_as_long_as_an_approver_says(given, waited):
    class Mine:
        timeout_seconds = given

    assert Asking(Mine(), str).patience_seconds == waited


def test_the_gate_waits_two_minutes_for_an_approver_that_says_nothing():
    assert Asking(object(), str).patience_seconds == 120.0
    assert CallbackApprover(lambda _: True).timeout_seconds == 120.0


@pytest.mark.parametrize("given", ["yes", 5, object(), CallbackApprover])
def test_what_could_not_be_asked_is_refused_before_there_is_a_question(given):
    with pytest.raises(ConfigurationError):
        approver_of(given)


def test_an_async_approver_is_refused_since_nobody_would_await_it():
    async def answer(_question):
        return True

    class Mine:
        ask = staticmethod(answer)

    for given in (answer, Mine()):
        with pytest.raises(ConfigurationError):
            approver_of(given)


def test_an_approver_is_taken_as_it_is_and_a_function_is_called():
    approver = CallbackApprover(lambda _: "once")
    assert approver_of(approver) is approver
    assert approver_of(lambda _: "once").ask(None) == "once"

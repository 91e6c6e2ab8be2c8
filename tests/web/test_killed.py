"""Page, asker and approver die at any moment: no answer counts twice, and none is made up."""

import os
import signal
from pathlib import Path

import pytest

WRITE = "nocturn.memory.write('k/{}.md', 'a summary', 'a body')"


@pytest.fixture
def own(served):
    """The module's server, started again where a test has killed it."""
    yield served
    if served.process.poll() is not None:
        served.start()


@pytest.fixture
def asker(start):
    """A run that asks, in a process of its own."""
    return lambda name: start("eval", WRITE.format(name), "--guarded", "--agent", "asker")


def answer(served, session, asked, option):
    return served.request(
        "POST",
        f"/api/questions/{asked.id}/answer",
        {"option": option, "digest": asked.question["digest"]},
        Authorization=session,
    )


def note(served, name):
    return Path(served.workspace, "memory", "k", f"{name}.md")


def test_a_page_that_is_killed_loses_no_question_and_a_new_one_answers_it(own, asker, waiting):
    run = asker("one")
    asked = waiting()
    old = own.sign_in()
    own.kill()
    own.start()
    assert answer(own, old, asked, "once")[0] == 401, "a session ends with its server"
    session = own.sign_in()
    status, _, told = answer(own, session, asked, "once")
    assert (status, told["taken"]) == (200, True)
    assert run.wait() == 0
    assert note(own, "one").exists()
    assert answer(own, session, asked, None)[0] == 409


def test_a_yes_to_an_asker_that_was_killed_does_nothing_and_is_told(own, asker, waiting):
    run = asker("two")
    asked = waiting()
    session = own.sign_in()
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    status, _, told = answer(own, session, asked, "once")
    assert (status, told["error"]["code"]) == (409, "CONFLICT")
    assert told["error"]["detail"]["state"] == "withdrawn"
    assert not note(own, "two").exists()


def test_a_page_that_is_killed_while_it_answers_has_answered_once_or_not_at_all(
    own, asker, waiting, ws
):
    from concurrent.futures import ThreadPoolExecutor

    for at in range(3):
        run = asker(f"three-{at}")
        asked = waiting()
        session = own.sign_in()
        with ThreadPoolExecutor(1) as thread:
            sent = thread.submit(answer, own, session, asked, "once")
            own.kill()
            try:
                confirmed = sent.result()[0] == 200
            except OSError:
                confirmed = False
        own.start()
        if ws.inbox.get(asked.id).state == "waiting":
            assert not confirmed
            ws.inbox.answer(asked.id, None, "python")
        answered = ws.inbox.get(asked.id)
        assert run.wait() == (0 if answered.answer == "once" else 3)
        assert note(own, f"three-{at}").exists() == (answered.answer == "once")

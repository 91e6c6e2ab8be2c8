"""Ctrl-C ends what is waited for, also where it comes in the moment before the wait begins.

Python looks for a signal when a wait ends. One that another thread of the process gets wakes nobody
who waits, and so is like one that comes in that moment.
"""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from nocturn import Limits, RunInterrupted, Workspace, tool
from nocturn.host.pool import Pool, Ticket

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a thread gets no signal there")

LIMITS = Limits(wall_seconds=600, cpu_seconds=600)


def interrupt():
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@tool(axis="read", effects="ungated")
def unseen() -> str:
    """Has Ctrl-C come, unseen."""
    interrupt()
    return ""


@pytest.fixture
def unless():
    """Does something after 20 s, if the test has not ended: then nobody saw the Ctrl-C."""
    begun = []

    def unless(work):
        begun.append(threading.Timer(20, lambda: (begun.clear(), work())))
        begun[0].start()

    yield unless
    assert begun, "Ctrl-C was not seen"
    begun[0].cancel()


@pytest.mark.parametrize("kind", ["a run", "a line"])
def test_what_runs_is_cancelled(tmp_path, unless, kind):
    with (
        Workspace(tmp_path / "ws", tools=[unseen], limits=LIMITS) as ws,
        ws.session() as session,
    ):
        unless(ws.close)
        run = ws.run if kind == "a run" else session.eval
        with pytest.raises(RunInterrupted) as stop:
            run("nocturn.call('unseen'); for (;;);")
        assert stop.value.result.status == "cancelled"


def test_who_waits_for_a_place_leaves_the_queue(unless):
    pool = Pool(Limits, warm=0, most=1)
    taken = pool.take(LIMITS, Ticket())
    waiting = Ticket()
    unless(waiting.abandon)
    threading.Thread(target=lambda: (threading.Event().wait(0.05), interrupt())).start()
    with pytest.raises(KeyboardInterrupt):
        pool.take(LIMITS, waiting)
    pool.give_back(taken)
    assert pool.take(LIMITS, Ticket()) is not None
    pool.close()

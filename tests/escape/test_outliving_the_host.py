"""Attack: go on running when the host has been killed."""

from __future__ import annotations

import os
import signal

# The locked process's parent is a host of its own, which the test kills. Nobody but the worker
# holds the other end of the socket then, so the end of the worker is the end of the stream.
STAY = """
def attack(_):
    os.write(0, b"ready")
    while os.read(0, 1):
        os.write(0, b"still here")
    os._exit(0)
"""


def test_the_worker_dies_with_its_host(started):
    host, worker = started(STAY)
    assert worker.recv(100) == b"ready"
    host.kill()
    assert host.wait(60) == -signal.SIGKILL
    assert worker.recv(100) == b""


def test_the_worker_would_live_on_without_the_step(started):
    host, worker = started(STAY, skip={"parent"})
    assert worker.recv(100) == b"ready"
    host.kill()
    assert host.wait(60) == -signal.SIGKILL
    worker.send(b"?")
    assert worker.recv(100) == b"still here"


def test_a_worker_whose_host_is_gone_already_is_not_locked_and_runs_nothing(locked):
    attack = "def attack(_): pass"
    assert locked(attack, parent=os.getpid() + 1) == "not locked: parent"
    assert locked(attack, parent=os.getpid() + 1, skip={"parent"}) == "succeeded"

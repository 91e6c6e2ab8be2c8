"""Attack: end the host, or another worker; a process of the same user stands for them."""

from __future__ import annotations

import signal

import pytest

KILL = """
import signal

def attack(_):
    os.kill({pid}, signal.SIGKILL)
"""
PIDFD = """
import signal

def attack(_):
    call("pidfd_send_signal", call("pidfd_open", {pid}, 0), int(signal.SIGKILL), None, 0)
"""
BOTH = pytest.mark.parametrize("attack", [KILL, PIDFD], ids=["kill", "pidfd"])


@BOTH
def test_no_signal_can_be_sent(locked, victim, attack):
    assert locked(attack.format(pid=victim.pid)) == "killed by SIGSYS"
    assert victim.poll() is None


@BOTH
def test_no_signal_can_be_sent_when_only_landlock_holds(locked, victim, attack, landlock):
    if landlock < 6:
        pytest.skip("this kernel's Landlock does not know signals")
    assert locked(attack.format(pid=victim.pid), skip={"seccomp", "processes"}) == "EPERM"
    assert victim.poll() is None


@BOTH
def test_a_signal_could_be_sent_without_the_lock(locked, victim, attack):
    skip = {"seccomp", "processes", "landlock"}
    assert locked(attack.format(pid=victim.pid), skip=skip) == "succeeded"
    assert victim.wait(60) == -signal.SIGKILL

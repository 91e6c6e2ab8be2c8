"""Attack: read the host's environment through /proc; another process of its user stands for it."""

from __future__ import annotations

import pytest

WALLS = {"seccomp", "landlock", "processes"}
READ = """
def attack(_):
    with open("/proc/{pid}/environ", "rb") as file:
        assert b"correct horse" in file.read()
"""


def test_the_environment_of_another_process_cannot_be_read(locked, victim):
    assert locked(READ.format(pid=victim.pid)) == "EPERM"


@pytest.mark.usefixtures("landlock")
def test_the_environment_of_another_process_cannot_be_read_when_only_landlock_holds(locked, victim):
    assert locked(READ.format(pid=victim.pid), skip=WALLS - {"landlock"}) == "EACCES"


def test_the_environment_of_another_process_could_be_read_without_the_lock(locked, victim):
    assert locked(READ.format(pid=victim.pid), skip=WALLS) == "succeeded"

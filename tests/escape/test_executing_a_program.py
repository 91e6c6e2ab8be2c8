"""Attack: become another program."""

from __future__ import annotations

import pytest

EXEC = """
def attack(_):
    os.execv("/bin/sh", ["sh", "-c", "printf succeeded >&0"])
"""


def test_no_program_can_be_executed(locked):
    assert locked(EXEC) == "killed by SIGSYS"


@pytest.mark.usefixtures("landlock")
def test_no_program_can_be_executed_when_only_landlock_holds(locked):
    assert locked(EXEC, skip={"seccomp", "processes"}) == "EACCES"


def test_a_program_could_be_executed_without_the_lock(locked):
    assert locked(EXEC, skip={"seccomp", "landlock", "processes"}) == "succeeded"

"""Attack: learn whether a path is there, which Landlock does not refuse."""

from __future__ import annotations

LOOK = """
def attack(_):
    os.stat("/etc/passwd")
"""


def test_no_path_can_be_looked_at(locked):
    assert locked(LOOK) == "EPERM"


def test_a_path_could_be_looked_at_without_the_filter(locked):
    assert locked(LOOK, skip={"seccomp"}) == "succeeded"

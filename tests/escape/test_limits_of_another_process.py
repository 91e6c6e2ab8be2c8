"""Attack: change what another process of the same user may use up."""

from __future__ import annotations

PRLIMIT = """
def attack(_):
    call(302 if column == 0 else 261, {pid}, int(resource.RLIMIT_CORE), struct.pack("@2N", 0, 0), 0)
"""


def test_no_limit_of_another_process_can_be_changed(locked, victim):
    assert locked(PRLIMIT.format(pid=victim.pid)) == "EPERM"


def test_a_limit_of_another_process_could_be_changed_without_the_filter(locked, victim):
    assert locked(PRLIMIT.format(pid=victim.pid), skip={"seccomp"}) == "succeeded"

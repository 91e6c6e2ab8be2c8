"""Attack: be in the host's session, for its terminal (TIOCSTI) and its process group's signals."""

from __future__ import annotations

import os

LOOK = """
def attack(_):
    return "shared" if os.getsid(0) == {session} else "apart"
"""


def test_the_worker_has_a_session_of_its_own(locked):
    attack = LOOK.format(session=os.getsid(0))
    assert locked(attack, skip={"seccomp"}) == "apart"
    assert locked(attack, skip={"seccomp", "session"}) == "shared"

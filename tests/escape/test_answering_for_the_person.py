"""Attack: open the inbox, and say yes in the person's place."""

from __future__ import annotations

import pytest

from nocturn.store.inbox import Inbox
from nocturn.store.keys import LocalKey

WALLS = {"seccomp", "landlock", "processes"}
OPEN = """
def attack(_):
    os.close(os.open({path!r}, os.O_RDWR))
"""


@pytest.fixture
def database(open_folder):
    """An inbox with a question, in files that everybody may write: only the lock is in the way."""
    inbox = Inbox(open_folder / "ws", LocalKey(open_folder / "data"), lambda value: value)
    with inbox.ask({"options": [{"value": "once"}]}, 60) as asked:
        for each in (open_folder / "ws", *(open_folder / "ws").rglob("*")):
            each.chmod(0o777)
        yield str(open_folder / "ws/inbox.db")
        for each in (open_folder / "ws").rglob("*"):
            each.chmod(0o700 if each.is_dir() else 0o600)
        assert inbox.get(asked.id).state == "waiting"


def test_a_worker_cannot_open_the_inbox(locked, database):
    assert locked(OPEN.format(path=database)) == "EPERM"


@pytest.mark.usefixtures("landlock")
def test_a_worker_cannot_open_it_when_only_landlock_holds(locked, database):
    assert locked(OPEN.format(path=database), skip=WALLS - {"landlock"}) == "EACCES"


def test_it_could_be_opened_without_the_lock(locked, database):
    assert locked(OPEN.format(path=database), skip=WALLS) == "succeeded"

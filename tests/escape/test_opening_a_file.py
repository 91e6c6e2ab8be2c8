"""Attack: read a file, or make one."""

from __future__ import annotations

import pytest

WALLS = {"seccomp", "landlock", "processes"}
READ = """
def attack(_):
    os.close(os.open("/etc/passwd", os.O_RDONLY))
"""
CREATE = """
def attack(_):
    os.close(os.open({path!r}, os.O_WRONLY | os.O_CREAT, 0o600))
"""


def test_no_file_can_be_read(locked):
    assert locked(READ) == "EPERM"


@pytest.mark.usefixtures("landlock")
def test_no_file_can_be_read_when_only_landlock_holds(locked):
    assert locked(READ, skip=WALLS - {"landlock"}) == "EACCES"


def test_no_file_can_be_read_when_only_the_descriptor_limit_holds(locked):
    assert locked(READ, skip=WALLS - {"processes"}) == "EMFILE"


def test_a_file_could_be_read_without_the_lock(locked):
    assert locked(READ, skip=WALLS) == "succeeded"


def test_no_file_can_be_made(locked, open_folder):
    assert locked(CREATE.format(path=f"{open_folder}/x")) == "EPERM"
    assert list(open_folder.iterdir()) == []


@pytest.mark.usefixtures("landlock")
def test_no_file_can_be_made_when_only_landlock_holds(locked, open_folder):
    attack = CREATE.format(path=f"{open_folder}/x")
    assert locked(attack, skip=WALLS - {"landlock"}) == "EACCES"
    assert list(open_folder.iterdir()) == []


def test_a_file_could_be_made_without_the_lock(locked, open_folder):
    assert locked(CREATE.format(path=f"{open_folder}/x"), skip=WALLS) == "succeeded"
    assert [each.name for each in open_folder.iterdir()] == ["x"]

"""Attack: make something in the folder that the host was started in."""

from __future__ import annotations

import tempfile
from pathlib import Path

MAKE = """
def attack(_):
    os.mkdir("x")
"""


def test_nothing_can_be_made_in_the_working_directory(locked, open_folder):
    assert locked(MAKE, cwd=str(open_folder)) == "EPERM"
    # No entry where the folder is one's own, no access where root made it.
    outcome = locked(MAKE, cwd=str(open_folder), skip={"seccomp", "landlock"})
    assert outcome in {"ENOENT", "EACCES"}
    assert list(open_folder.iterdir()) == []


def test_something_could_be_made_there_without_the_lock(locked, open_folder):
    skip = {"seccomp", "landlock", "directory"}
    assert locked(MAKE, cwd=str(open_folder), skip=skip) == "succeeded"
    assert [each.name for each in open_folder.iterdir()] == ["x"]


def test_the_lock_leaves_no_folder_behind(locked):
    folders = [Path(each) for each in ("/dev/shm", tempfile.gettempdir(), "/var/tmp")]

    def ours():
        return {each for folder in folders for each in folder.glob("nocturn-" + "?" * 16)}

    before = ours()
    assert locked("def attack(_): pass") == "succeeded"
    assert ours() <= before

"""Locks of notes: one writer each, by any spelling of its name; none outlives its holder."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from nocturn.errors import STORAGE, NocturnError
from nocturn.store.note_locks import NoteLocks

HOLDER = """
import os, signal, sys
from pathlib import Path
from nocturn.store.note_locks import NoteLocks
with NoteLocks(Path(sys.argv[1])).held(sys.argv[2:]):
    print("held", flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the file is one lock")


@pytest.fixture
def locks(tmp_path):
    return NoteLocks(tmp_path / ".nocturn")


def is_held(locks, path):
    with locks.held(()) as lock:
        return not lock.also([path])


@pytest.mark.parametrize(
    ("name", "same"),
    [("people/Lina.md", "people/lina.md"), ("caf\u00e9.md", "cafe\u0301.md"), ("a.md", "a.md")],
)
def test_names_that_cannot_both_exist_are_one_lock(locks, name, same):
    with locks.held([name]):
        assert is_held(locks, same)
        assert not is_held(locks, "other.md")
    assert not is_held(locks, same)


def test_several_are_held_together_and_none_twice(locks):
    with locks.held(["b.md", "a.md", "B.md"]) as lock:
        assert is_held(locks, "a.md")
        assert is_held(locks, "b.md")
        assert lock.also(["a.md", "c.md"])
        assert is_held(locks, "c.md")


def test_who_is_alone_holds_all_of_them(locks):
    with locks.held(["a.md"]):
        with locks.held(()) as other:
            assert not other.alone()
        with locks.held(["b.md"]) as other:
            assert not other.alone()
    with locks.held(["a.md"]) as lock:
        assert lock.alone()
        assert is_held(locks, "b.md")


def test_folders_are_made_by_one_at_a_time(locks):
    order = []

    def second():
        with locks.held(["b.md"]) as lock:
            order.append("waits")
            lock.folders()
            order.append("second")

    with locks.held(["a.md"]) as lock:
        lock.folders()
        thread = threading.Thread(target=second)
        thread.start()
        while not order:
            pass
        order.append("first")
    thread.join()
    assert order == ["waits", "first", "second"]


def test_threads_exclude_each_other(locks):
    inside, most = [], []

    def work():
        for _ in range(20):
            with locks.held(["a.md"]):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert max(most) == 1


def test_a_killed_process_holds_nothing(locks, tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / ".nocturn", "a.md"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout.readline() == b"held\n"
        assert is_held(locks, "a.md")
        os.kill(holder.pid, signal.SIGKILL)
    assert not is_held(locks, "a.md")


def test_one_file_has_all_the_locks_and_tells_no_name(locks, tmp_path):
    with locks.held(["a.md", "people/lina.md"]):
        assert [each.name for each in (tmp_path / ".nocturn").iterdir()] == ["notes.lock"]
    lock = tmp_path / ".nocturn/notes.lock"
    assert lock.read_bytes() == b""
    assert lock.stat().st_mode & 0o777 == 0o600


def test_a_child_that_was_forked_meanwhile_keeps_no_lock(tmp_path):
    program = """
import os, sys
from pathlib import Path
from nocturn.store.note_locks import NoteLocks
locks = NoteLocks(Path(sys.argv[1]))
with locks.held(["a.md"]):
    inner, outer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(outer)
        os.read(inner, 1)
        os._exit(0)
with locks.held(()) as lock:
    print(lock.also(["a.md"]))
os.close(outer)
os.waitpid(child, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / ".nocturn"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "True\n"


def test_a_folder_in_the_place_of_the_locks_is_the_disks_trouble_and_not_a_notes(locks, tmp_path):
    (tmp_path / ".nocturn/notes.lock").mkdir(parents=True)
    with pytest.raises(NocturnError) as refused, locks.held(["a.md"]):
        pass
    assert refused.value.code == STORAGE
    assert "another name" not in refused.value.message

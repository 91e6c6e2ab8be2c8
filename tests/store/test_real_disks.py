"""Trouble that a real, tiny disk makes: each change is done whole, or says what to do, and is not.

How little is left is tried step by step, so that the disk gives out at each point of a change.
"""

from __future__ import annotations

import dis
import gc
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from nocturn import NocturnError, Workspace
from nocturn.errors import CONFLICT, NOT_FOUND, STORAGE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such disks")

PAGE_BYTES = 4_096
RETURN = dis.opmap["RETURN_VALUE"]
OLD = "old " * 1_500
CHANGES = {
    "write a new note": ("write", "b/c/new.md", "s", "new " * 1_500),
    "write over a note": ("write", "a/old.md", "s", "over " * 1_500),
    "append": ("append", "a/old.md", "more " * 1_500),
    "edit": ("edit", "a/old.md", OLD, "edited " * 1_500),
    "move": ("move", "a/old.md", "b/c/moved.md"),
    "remove": ("remove", "a/old.md"),
    "restore": ("restore", "a/old.md", 1),
    "undo": ("undo", "a/old.md"),
}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


def make(change, ws, **how):
    method, *arguments = change
    getattr(ws.memory, method)(*arguments, **how)


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """Mounts a small disk in memory, which is gone at the end whatever comes."""
    disks = []

    def mount(options):
        disk = tmp_path_factory.mktemp("disk")
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
        if sys.platform != "linux" or subprocess.run(command, check=False).returncode:
            pytest.skip("mounting a small disk needs root, and Linux")
        disks.append(disk)
        return disk

    yield mount
    for disk in disks:
        subprocess.run(["umount", "--lazy", disk], check=True)


@pytest.fixture(scope="module")
def small_disk(mounted):
    return mounted("size=1m,nr_inodes=200")


@pytest.fixture
def opened(request):
    """Opens a workspace with a note in it that was written twice."""

    def opened(folder):
        ws = Workspace(folder)
        request.addfinalizer(ws.close)
        for body in ("oldest", OLD):
            ws.memory.write("a/old.md", "s", body)
        return ws

    return opened


@pytest.fixture
def on_small_disk(small_disk, opened, monkeypatch):
    """A workspace on the small disk, and its user's keys; it leaves nothing there."""
    monkeypatch.setenv("NOCTURN_DATA", str(small_disk / "data"))
    yield opened(small_disk / "ws")
    subprocess.run(["rm", "-rf", small_disk / "ws", small_disk / "data"], check=True)


@pytest.fixture(autouse=True, scope="module")
def outcomes():
    """What each change makes of the notes without trouble; whatever it imports is there then."""
    found = {}
    with pytest.MonkeyPatch.context() as patched, in_memory() as folder:
        patched.setenv("NOCTURN_DATA", str(folder / "data"))
        for number, change in enumerate(CHANGES.values()):
            with Workspace(folder / str(number)) as ws:
                for body in ("oldest", OLD):
                    ws.memory.write("a/old.md", "s", body)
                make(change, ws)
                found[change] = bodies_of(ws)
    return found


@contextmanager
def in_memory():
    """A folder where an fsync costs nothing, if this machine has one."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def folder():
    with in_memory() as folder:
        yield folder


def notes_of(ws):
    return files_of(ws.path / "memory")


def bodies_of(ws):
    """The notes alone: who interrupts may leave an empty folder."""
    return {path: data for path, data in notes_of(ws).items() if data is not None}


def files_of(root):
    """Everything under it, with its bytes; a folder has None."""
    return {
        str(each.relative_to(root)): each.read_bytes() if each.is_file() else None
        for each in root.rglob("*")
    }


def tried(change, ws, trouble):
    """Makes the change in trouble: True, or False where it was refused and all is as before."""
    before = notes_of(ws)
    with trouble:
        refusal = refusal_of(change, ws)
    assert not list(ws.path.rglob("*.tmp"))
    if refusal is None:
        assert notes_of(ws) != before
        return True
    assert refusal.code == STORAGE
    assert str(ws.path) not in f"{refusal.message} {refusal.detail}"
    assert notes_of(ws) == before
    return False


def refusal_of(change, ws, **how):
    try:
        make(change, ws, **how)
    except NocturnError as refusal:
        return refusal
    return None


@contextmanager
def filled(disk, free_pages):
    """A disk with so many pages left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(PAGE_BYTES)):
                pass
        except OSError:
            os.ftruncate(file.fileno(), os.fstat(file.fileno()).st_size - free_pages * PAGE_BYTES)
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def crowded(disk, free_inodes):
    """A disk with room for so many files more."""
    crowd = disk / "crowd"
    crowd.mkdir()
    made = []
    try:
        while True:
            made.append(crowd / str(len(made)))
            made[-1].touch()
    except OSError:
        made.pop()
    for each in made[len(made) - free_inodes :]:
        each.unlink()
    try:
        yield
    finally:
        subprocess.run(["rm", "-rf", crowd], check=True)


@contextmanager
def few_descriptors(_, free):
    """A process that may open so many files more."""
    import resource

    held = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    while not held or held[-1] < max(map(int, os.listdir("/dev/fd")[:-1])):
        held.append(os.dup(0))  # the holes below the highest
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (held[-1] + 1 + free, hard))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for each in held:
            os.close(each)


@each_change
@pytest.mark.parametrize(
    "short", [filled, crowded, few_descriptors], ids=lambda each: each.__name__
)
def test_a_change_is_whole_or_not_at_all_however_little_is_left(
    on_small_disk, small_disk, short, change
):
    assert any(tried(change, on_small_disk, short(small_disk, left)) for left in range(60))


@contextmanager
def read_only(disk):
    """A disk that takes nothing more."""
    remount = ["mount", "-o", "remount", disk]
    subprocess.run([*remount[:2], "remount,ro", disk], check=True)
    try:
        yield
    finally:
        subprocess.run([*remount[:2], "remount,rw", disk], check=True)


@each_change
def test_a_read_only_disk_loses_nothing_and_can_be_read(on_small_disk, small_disk, change):
    assert not tried(change, on_small_disk, read_only(small_disk))
    with read_only(small_disk):
        assert on_small_disk.memory.read("a/old.md").endswith(OLD)
        assert on_small_disk.memory.catalog() == "a/old.md — s"
    assert tried(change, on_small_disk, nullcontext())


@contextmanager
def without_permission(folder):
    """A folder that its owner may only look into."""
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@each_change
@pytest.mark.parametrize("closed", ["memory/a", ".nocturn"])
def test_a_folder_that_may_not_be_written_loses_nothing(
    monkeypatch, request, opened, closed, change
):
    if os.access("/dev/shm", os.W_OK):
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
    folder = request.getfixturevalue("as_nobody")
    monkeypatch.setenv("NOCTURN_DATA", str(folder / "data"))
    ws = opened(folder / "ws")
    if not tried(change, ws, without_permission(ws.path / closed)):
        assert tried(change, ws, nullcontext())


@each_change
def test_a_signal_in_each_moment_stops_nothing(opened, folder, change):
    """PEP 475: a system call that a signal interrupts is made again."""
    ws = opened(folder / "ws")
    seen = []
    former = signal.signal(signal.SIGALRM, lambda *_: seen.append(None))
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    try:
        make(change, ws)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert len(seen) > 5
    assert tried(("write", "after.md", "s", "c"), ws, nullcontext())


def interrupted(action, at):
    """Interrupts an action, as Ctrl-C may, where it is about to hold its so-manieth context.

    That is where an interruption does most harm: what was taken is not held yet, and only the
    interrupted frame knows of it.

    Returns:
        Whether it got that far.
    """
    entered = 0

    def step(frame, event, _):
        nonlocal entered
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] == RETURN:
            entered += 1
            if entered == at:
                raise KeyboardInterrupt
        return step

    def call(frame, *_):
        if frame.f_code.co_name != "__enter__":
            return None
        frame.f_trace_opcodes = True
        return step

    former = sys.gettrace()
    gc.disable()  # an interruption in some finaliser is swallowed there
    sys.settrace(call)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(former)
        gc.enable()
    return False


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("change", ["write over a note", "move"])
def test_a_change_that_is_interrupted_is_whole_or_not_at_all(opened, folder, outcomes, change):
    ws, change = opened(folder / "ws"), CHANGES[change]
    before, after = bodies_of(ws), outcomes[change]
    at = 0
    while interrupted(lambda: make(change, ws), at := at + 1):
        assert bodies_of(ws) in (before, after)
        if bodies_of(ws) == after:
            break
    assert at > 20


@each_change
@pytest.mark.parametrize("gone", ["memory/a", ".nocturn", "."])
def test_a_folder_that_vanishes_in_the_middle_is_left_as_it_was(
    opened, folder, outcomes, gone, change
):
    """In the middle is while a person decides: what they were shown is gone by then."""
    ws = opened(folder / "ws")
    known = {*bodies_of(ws).values(), *outcomes[change].values()}
    place, aside = ws.path / gone, folder / "aside"
    before = files_of(place)

    def take_away(_):
        place.rename(aside)
        return "once"

    asking = Workspace(ws.path, approver=take_away)
    refusal = refusal_of(change, asking, mode="guarded")
    asking.close()
    assert refusal is None or refusal.code in (STORAGE, CONFLICT, NOT_FOUND)
    assert set(bodies_of(ws).values()) <= known
    assert not list(ws.path.rglob("*.tmp"))
    assert files_of(aside).items() >= before.items()

"""The path-security boundary: names are found as spelled, writes are whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nocturn.errors import CONFLICT, NAME_TAKEN, NOT_A_NOTE, NOT_FOUND, STORAGE, NocturnError
from nocturn.store import directory
from nocturn.store.confined import Folder
from nocturn.store.directory import write_all


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def folder(request, root):
    if request.param and not directory.BY_DESCRIPTOR:
        pytest.skip("this platform has no directory descriptors")
    return Folder(root, by_descriptor=request.param)


def put(folder, path, data=b"x", **how):
    with folder.place(path) as place:
        place.replace_file(data, **how)


def get(folder, path):
    return folder.read(path, 1 << 20).data


def refused(function, *args, **how):
    with pytest.raises(NocturnError) as caught:
        function(*args, **how)
    return caught.value


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_what_was_written_is_read(folder):
    put(folder, "people/lina.md", b"\x00\xffbytes")
    assert get(folder, "people/lina.md") == b"\x00\xffbytes"


def test_looking_makes_nothing(folder, root):
    with folder.place("a/b/c.md") as place:
        assert place.entry is None
    assert refused(get, folder, "a/b/c.md").code == NOT_FOUND
    assert list(folder.walk()) == []
    assert not root.exists()


def test_a_missing_root_is_made_with_its_parents(tmp_path):
    put(Folder(tmp_path / "user" / "work" / "memory"), "x.md")
    assert [mode(tmp_path / each) for each in ("user", "user/work", "user/work/memory")] == [
        0o700
    ] * 3


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def test_modes_are_0700_and_0600_whatever_the_umask(as_nobody, umask):
    before = os.umask(umask)
    try:
        put(Folder(as_nobody / "memory"), "a/b.md")
        put(Folder(as_nobody / "memory"), "a/b.md", b"again")
    finally:
        os.umask(before)
    assert mode(as_nobody / "memory") == mode(as_nobody / "memory/a") == 0o700
    assert mode(as_nobody / "memory/a/b.md") == 0o600


def test_at_no_moment_is_anything_broader(folder, monkeypatch):
    """Looks at every folder and file the instant after the system made it."""
    seen = []
    real_open, real_mkdir = os.open, os.mkdir

    def note(name, dir_fd):
        seen.append(stat.S_IMODE(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode))

    def opened(name, flags, asked=0o777, *, dir_fd=None):
        fd = real_open(name, flags, asked, dir_fd=dir_fd)
        if flags & os.O_CREAT:
            note(name, dir_fd)
        return fd

    def made(name, asked=0o777, *, dir_fd=None):
        real_mkdir(name, asked, dir_fd=dir_fd)
        note(name, dir_fd)

    before = os.umask(0)
    try:
        monkeypatch.setattr(os, "open", opened)
        monkeypatch.setattr(os, "mkdir", made)
        put(folder, "a/b.md")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert seen == [0o700, 0o700, 0o600]


def test_a_decomposed_name_on_disk_is_the_same_note(folder, root):
    root.mkdir()
    (root / "cafe\u0301").mkdir()
    (root / "cafe\u0301/the\u0301.md").write_text("old")
    assert get(folder, "café/thé.md") == b"old"
    put(folder, "café/thé.md", b"new")
    assert (root / "cafe\u0301/the\u0301.md").read_text() == "new"
    assert len(list(root.rglob("*"))) == 2


@pytest.mark.parametrize(
    ("first", "second"), [("people/Lina.md", "people/lina.md"), ("People/x.md", "people/y.md")]
)
def test_a_name_that_differs_only_in_case_is_taken_for_a_write_and_missing_for_a_read(
    folder, first, second
):
    put(folder, first)
    error = refused(put, folder, second)
    assert error.code == NAME_TAKEN
    assert first.startswith(error.detail["existing"])
    assert error.detail["existing"] in error.message
    assert refused(get, folder, second).code == NOT_FOUND


def test_both_spellings_made_by_hand_can_be_replaced(folder, root):
    root.mkdir()
    (root / "Lina.md").write_text("1")
    (root / "lina.md").write_text("2")
    if len(list(root.iterdir())) == 1:
        pytest.skip("this file system has one name for both")
    put(folder, "lina.md", b"new")
    assert ((root / "Lina.md").read_text(), (root / "lina.md").read_text()) == ("1", "new")


@pytest.mark.parametrize("kind", ["folder", "fifo", "socket"])
def test_what_is_no_regular_file_is_no_note_and_never_blocks(folder, root, kind, monkeypatch):
    root.mkdir()
    if kind == "folder":
        (root / "x.md").mkdir()
    elif kind == "fifo":
        os.mkfifo(root / "x.md")
    else:
        import socket

        monkeypatch.chdir(root)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("x.md")
    assert refused(get, folder, "x.md").code == NOT_A_NOTE
    assert refused(put, folder, "x.md").code == NOT_A_NOTE
    if kind != "folder":
        assert refused(put, folder, "x.md/y.md").code == NOT_A_NOTE


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mknod needs root")
def test_a_device_is_no_note(folder, root):
    root.mkdir()
    os.mknod(root / "x.md", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    assert refused(get, folder, "x.md").code == NOT_A_NOTE
    assert refused(put, folder, "x.md").code == NOT_A_NOTE


def test_a_note_cannot_be_a_folder_too(folder):
    put(folder, "a.md")
    assert refused(put, folder, "a.md/b.md").code == NOT_A_NOTE
    assert refused(get, folder, "a.md/b.md").code == NOT_FOUND


FAILING = """
import os, resource, sys
from pathlib import Path
from nocturn.errors import NocturnError
from nocturn.store.confined import Folder
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    with Folder(Path(sys.argv[1])).place(sys.argv[2]) as place:
        place.replace_file(b"n" * 200)
except NocturnError as error:
    print(error.code, error.detail["errno"], error.message)
"""


@pytest.mark.parametrize("path", ["x.md", "new/deep/x.md"])
def test_a_write_that_fails_halfway_leaves_the_old_file_and_nothing_else(folder, root, path, tree):
    """The file size limit takes 100 bytes and refuses the rest, as a full disk does."""
    put(folder, "x.md", b"old")
    out = subprocess.run(
        [sys.executable, "-c", FAILING, root, path], capture_output=True, text=True, check=True
    ).stdout
    assert out.startswith("STORAGE EFBIG")
    assert str(root) not in out
    assert tree(root) == ["x.md"]
    assert get(folder, "x.md") == b"old"


def test_a_failed_first_write_unmakes_the_root_too(root):
    subprocess.run([sys.executable, "-c", FAILING, root, "a/x.md"], check=True, capture_output=True)
    assert not root.exists()


def test_a_full_disk_says_so(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        folder = Folder(disk / "memory")
        put(folder, "x.md", b"old")
        error = refused(put, folder, "a/x.md", b"n" * 100_000)
        assert (error.code, error.detail) == (STORAGE, {"errno": "ENOSPC"})
        assert "full" in error.message
        assert [str(each.relative_to(disk)) for each in disk.rglob("*")] == [
            "memory",
            "memory/x.md",
        ]
        assert get(folder, "x.md") == b"old"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_that_may_not_be_written_says_so(as_nobody):
    folder = Folder(as_nobody / "memory")
    put(folder, "x.md", b"old")
    (as_nobody / "memory").chmod(0o500)
    error = refused(put, folder, "a/x.md")
    assert (error.code, error.detail) == (STORAGE, {"errno": "EACCES"})
    assert str(as_nobody) not in error.message
    assert get(folder, "x.md") == b"old"


def test_a_file_that_may_not_be_read_says_so(as_nobody):
    folder = Folder(as_nobody / "memory")
    put(folder, "x.md", b"old")
    (as_nobody / "memory/x.md").chmod(0)
    assert refused(get, folder, "x.md").code == STORAGE


def test_a_folder_that_vanishes_before_the_write_says_so(root):
    folder = Folder(root)
    put(folder, "a/x.md")
    with folder.place("a/y.md") as place:
        (root / "a/x.md").unlink()
        (root / "a").rmdir()
        assert refused(place.replace_file, b"x").code == STORAGE
    assert list(root.iterdir()) == []


def test_a_root_that_is_a_file_says_so(tmp_path):
    (tmp_path / "memory").write_text("a file")
    for path in ("memory", "memory/inner"):
        folder = Folder(tmp_path / path)
        assert refused(put, folder, "x.md").code == STORAGE
        assert refused(get, folder, "x.md").code == STORAGE
        assert refused(lambda folder=folder: list(folder.walk())).code == STORAGE


def test_a_file_that_changed_since_it_was_found_is_a_conflict_if_it_must_not_have(
    folder, root, tree
):
    put(folder, "x.md", b"one")
    with folder.place("x.md") as place:
        (root / "x.md").write_bytes(b"a person's")
        assert refused(place.replace_file, b"two", unchanged=True).code == CONFLICT
    assert tree(root) == ["x.md"]
    assert get(folder, "x.md") == b"a person's"


def test_a_file_that_came_since_nothing_was_found_is_a_conflict_too(folder, root):
    with folder.place("a/x.md") as place:
        (root / "a").mkdir(parents=True)
        (root / "a/x.md").write_bytes(b"a person's")
        assert refused(place.replace_file, b"two", unchanged=True).code == CONFLICT
    assert get(folder, "a/x.md") == b"a person's"


def test_a_reader_sees_the_old_file_or_the_new_one(folder):
    """One thread replaces, this one reads: every read is whole."""
    sizes = [b"a" * 20_000, b"b" * 30_000]
    put(folder, "x.md", sizes[0])
    writer = threading.Thread(target=lambda: [put(folder, "x.md", sizes[i % 2]) for i in range(40)])
    writer.start()
    seen = set()
    while writer.is_alive():
        seen.add(get(folder, "x.md"))
    writer.join()
    assert seen <= set(sizes)


def test_a_file_is_not_read_beyond_the_limit(folder):
    put(folder, "x.md", b"0123456789")
    content = folder.read("x.md", 4)
    assert (content.data, content.status.st_size) == (b"0123", 10)


def test_a_short_write_is_carried_on():
    """A pipe with little room takes a part at a time while somebody reads."""
    reader, writer = os.pipe()
    taken = bytearray()

    def drain():
        while chunk := os.read(reader, 10_000):
            taken.extend(chunk)

    thread = threading.Thread(target=drain)
    thread.start()
    try:
        data = os.urandom(300_000)
        write_all(writer, data)
    finally:
        os.close(writer)
        thread.join()
        os.close(reader)
    assert bytes(taken) == data


def test_a_walk_finds_every_file_and_follows_no_link(folder, root, outside):
    put(folder, "b/c/d.md")
    put(folder, "a.md")
    (root / "away").symlink_to(outside)
    (root / "b/link.md").symlink_to(outside / "secret.md")
    os.mkfifo(root / "b/fifo.md")
    found = sorted((each.path, each.kind) for each in folder.walk())
    assert found == [
        ("a.md", "file"),
        ("away", "other"),
        ("b/c/d.md", "file"),
        ("b/fifo.md", "other"),
        ("b/link.md", "other"),
    ]


def test_a_walk_goes_as_deep_as_a_path_can(folder):
    deep = "/".join(["d"] * 300) + "/x.md"
    put(folder, deep)
    assert [each.path for each in folder.walk()] == [deep]
    assert get(folder, deep) == b"x"


@pytest.fixture
def deep(root):
    """Makes a folder so many levels deep; each tenth has a note before the next and one after."""

    def deep(levels, name="d"):
        root.mkdir()
        fd = os.open(root, os.O_RDONLY)
        for level in range(levels):
            for note in ("a.md", "z.md") if level % 10 == 0 else ():
                os.close(os.open(note, os.O_CREAT, 0o600, dir_fd=fd))
            os.mkdir(name, dir_fd=fd)
            inner = os.open(name, os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = inner
        os.close(fd)

    yield deep
    subprocess.run(["rm", "-rf", root], check=True)  # shutil.rmtree does not get so deep


def test_a_walk_through_a_thousand_levels_holds_few_folders_open(root, deep):
    folder = Folder(root)
    if not directory.BY_DESCRIPTOR or not Path("/proc/self/fd").exists():
        pytest.skip("descriptors are counted through /proc")
    deep(1_000)
    before = len(os.listdir("/proc/self/fd"))
    found, most = [], 0
    for each in folder.walk():
        found.append(each.path)
        assert each.directory.status(each.name) == each.status
        most = max(most, len(os.listdir("/proc/self/fd")) - before)
    assert most < 48
    assert sum(1 for _ in folder.directories()) == 1_001
    levels = [*range(0, 1_000, 10)]
    assert [each.count("d/") for each in found] == [*levels, *reversed(levels)]


def test_what_is_too_far_down_is_named_as_closed(folder, deep, root):
    deep(70, "d" * 200)
    found = [(each.kind, len(each.path)) for each in folder.walk() if each.kind != "file"]
    # By path, the system takes 4,095 bytes, and the root's own are among them.
    below = (4_095 - len(os.fsencode(root))) // 201
    levels = 40 if folder._by_descriptor else below
    assert found == [("closed", 201 * levels + 200)]


def test_a_folder_that_goes_while_it_is_walked_takes_nothing_else_along(folder, deep, root):
    deep(60)
    found = []
    for each in folder.walk():
        found.append(each.path)
        if each.path.count("/") == 50 and each.name == "a.md":
            (root / "d/d").rename(root / "y")
    assert found[:6] == ["d/" * level + "a.md" for level in range(0, 60, 10)]
    assert found[-1] == "z.md"
    assert "d/" * 10 + "z.md" not in found


def test_a_folder_that_cannot_be_opened_is_named_by_the_walk(as_nobody):
    folder = Folder(as_nobody / "memory")
    put(folder, "closed/x.md")
    put(folder, "y.md")
    (as_nobody / "memory/closed").chmod(0)
    try:
        found = [(each.path, each.kind) for each in folder.walk()]
    finally:
        (as_nobody / "memory/closed").chmod(0o700)
    assert found == [("closed", "closed"), ("y.md", "file")]


def test_no_descriptor_is_left_open(folder, root, outside):
    if not Path("/proc/self/fd").exists():
        pytest.skip("descriptors are counted through /proc")
    put(folder, "a/b.md")
    (root / "esc").symlink_to(outside)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        put(folder, "a/c.md")
        get(folder, "a/b.md")
        list(folder.walk())
        next(folder.walk())
        for bad in ("a", "x/y.md", "a/b.md/c.md", "esc/secret.md", "A/b.md"):
            refused(get, folder, bad)
        for bad in ("a", "a/b.md/c.md", "esc/secret.md", "A/b.md"):
            refused(put, folder, bad)
    assert len(os.listdir("/proc/self/fd")) == before

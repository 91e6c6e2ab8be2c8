"""A file of permissions: what is taken of it, and that it is always as it is now."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store.trust import TrustBook
from nocturn.store.trusted import TrustedFile

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")

LIMIT = 100


class Reader:
    """Says how often it has read."""

    def __init__(self):
        self.times = 0

    def __call__(self, data):
        self.times += 1
        if data == b"broken":
            raise ConfigurationError("policy.toml:1: broken")
        return data.decode()


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "ws").mkdir(mode=0o700)
    return tmp_path / "ws"


@pytest.fixture
def book(tmp_path):
    return TrustBook(tmp_path / "data")


@pytest.fixture
def reader():
    return Reader()


def make(workspace, book, reader):
    return TrustedFile(
        workspace / "policy.toml", book, reader, limit_bytes=LIMIT, otherwise="nothing holds"
    )


@pytest.fixture
def file(workspace, book, reader):
    return make(workspace, book, reader)


def refusal(file):
    with pytest.raises(ConfigurationError) as caught:
        file.load()
    assert str(file.folder) not in caught.value.message
    return caught.value.message


def put(file, data=b"one", mode=0o600):
    file.path.write_bytes(data)
    file.path.chmod(mode)


def settle(monkeypatch):
    """Lets time pass: what was changed a moment ago was changed long ago."""
    now = 4_000_000_000_000_000_000
    monkeypatch.setattr("time.time_ns", lambda: now)


def test_a_missing_file_says_nothing_and_looking_makes_nothing(file, workspace, tmp_path):
    assert file.load() is None
    assert list(workspace.iterdir()) == []
    assert not (tmp_path / "data").exists()


def test_a_missing_workspace_has_no_file(tmp_path, book, reader):
    assert make(tmp_path / "none", book, reader).load() is None


def test_what_was_written_here_is_taken(file):
    file.replace(b"one", None)
    assert file.load() == "one"
    file.replace(b"two", b"one")
    assert file.load() == "two"


def test_what_was_not_is_refused_and_the_command_is_named(file):
    put(file)
    assert "nocturn trust" in refusal(file)


def test_a_broken_file_says_so_before_anything_of_trust(file):
    put(file, b"broken")
    assert refusal(file) == "policy.toml:1: broken"


def test_a_new_file_never_replaces_one_that_is_there(file):
    put(file)
    with pytest.raises(NocturnError) as caught:
        file.replace(b"two", None)
    assert caught.value.code == "CONFLICT"
    assert file.path.read_bytes() == b"one"


def test_a_file_that_is_too_large_is_refused(file, book):
    put(file, b"x" * (LIMIT + 1))
    book.record(file.path, b"x" * (LIMIT + 1))
    assert "move it away" in refusal(file)


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "dangling link", "link outside"])
def test_what_is_no_plain_file_is_refused_and_never_waited_for(file, workspace, tmp_path, kind):
    if kind == "folder":
        file.path.mkdir()
    elif kind == "fifo":
        os.mkfifo(file.path, 0o600)
    elif kind == "link":
        (workspace / "real").write_text("one")
        file.path.symlink_to("real")
    elif kind == "dangling link":
        file.path.symlink_to("nothing")
    else:
        (tmp_path / "real").write_text("one")
        file.path.symlink_to(tmp_path / "real")
    assert "move it away" in refusal(file)


# ---- others -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666])
def test_a_file_that_others_can_change_is_refused_even_where_it_is_trusted(file, mode):
    file.replace(b"one", None)
    file.path.chmod(mode)
    assert "chmod go-w" in refusal(file)
    file.path.chmod(0o644)
    assert file.load() == "one"


def test_a_workspace_that_others_can_change_is_refused_with_and_without_a_file(file, workspace):
    workspace.chmod(0o777)
    assert "chmod go-w" in refusal(file)
    workspace.chmod(0o755)
    file.replace(b"one", None)
    workspace.chmod(0o757)
    assert "chmod go-w" in refusal(file)
    with pytest.raises(ConfigurationError):
        file.replace(b"two", b"one")
    workspace.chmod(0o755)
    assert file.load() == "one"


def test_a_group_of_ones_own_is_nobody_else(file, workspace, monkeypatch):
    import grp
    import pwd

    user = pwd.struct_passwd(("lina", "x", os.geteuid(), 77, "", "/", ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: user)
    workspace.chmod(0o770)
    for name, members, refused in [
        ("lina", [], False),
        ("lina", ["lina"], False),
        ("lina", ["lina", "otto"], True),
        ("staff", [], True),
    ]:
        group = grp.struct_group((name, "x", 77, members))
        monkeypatch.setattr(grp, "getgrgid", lambda _, group=group: group)
        if refused:
            refusal(file)
        else:
            assert file.load() is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_belongs_to_another_user_is_refused(as_nobody, what):
    (as_nobody / "ws").mkdir(mode=0o700)
    file = make(as_nobody / "ws", TrustBook(as_nobody / "data"), bytes.decode)
    file.replace(b"one", None)
    assert file.load() == "one"
    os.seteuid(0)
    os.chown(file.path if what == "file" else file.folder, 65533, 65534)
    (file.path if what == "file" else file.folder).chmod(0o755)
    os.seteuid(65534)
    assert "another user" in refusal(file)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_the_book_of_trust_is_refused_where_another_user_or_anybody_could_have_written_it(
    as_nobody,
):
    book = TrustBook(as_nobody / "data")
    book.record(as_nobody / "a", b"x")
    book.path.chmod(0o622)
    with pytest.raises(ConfigurationError):
        book.is_trusted(as_nobody / "a", b"x")
    book.path.chmod(0o600)
    os.seteuid(0)
    os.chown(book.path, 65533, 65534)
    book.path.chmod(0o644)
    os.seteuid(65534)
    with pytest.raises(ConfigurationError):
        book.is_trusted(as_nobody / "a", b"x")


# ---- always as it is now -------------------------------------------------------------------------


def test_a_file_that_has_not_changed_for_a_while_is_read_once(file, reader, monkeypatch):
    file.replace(b"one", None)
    settle(monkeypatch)
    assert [file.load() for _ in range(5)] == ["one"] * 5
    assert reader.times == 1


def test_a_file_that_was_changed_just_now_is_read_each_time(file, reader):
    # A second change in the same tick of the clock would leave the same time stamps.
    file.replace(b"one", None)
    assert [file.load() for _ in range(3)] == ["one"] * 3
    assert reader.times == 3


def test_a_change_of_the_same_length_with_its_time_set_back_is_seen(file, book, monkeypatch):
    put(file, b"one")
    book.record(file.path, b"one", b"two")
    settle(monkeypatch)
    before = os.stat(file.path)
    assert file.load() == "one"
    wait_for_a_tick(file.path)
    with open(file.path, "r+b") as there:
        there.write(b"two")
    os.utime(file.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert os.stat(file.path).st_mtime_ns == before.st_mtime_ns
    assert file.load() == "two"


def wait_for_a_tick(path):
    """Changes a mode until the file system's clock has moved on."""
    start = os.stat(path).st_ctime_ns
    while os.stat(path).st_ctime_ns == start:
        path.chmod(0o600)


def test_trust_that_is_taken_back_by_another_process_ends_at_once(file, tmp_path, monkeypatch):
    file.replace(b"one", None)
    settle(monkeypatch)
    assert file.load() == "one"
    program = (
        "import sys; from pathlib import Path; from nocturn.store.trust import TrustBook\n"
        "TrustBook(Path(sys.argv[1])).forget([Path(sys.argv[2])])"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "data", file.path], check=True)
    refusal(file)


def test_a_file_that_went_and_came_back_is_as_it_is(file, monkeypatch):
    file.replace(b"one", None)
    settle(monkeypatch)
    assert file.load() == "one"
    aside = file.path.with_name("aside")
    file.path.rename(aside)
    assert file.load() is None
    aside.rename(file.path)
    assert file.load() == "one"


def test_a_broken_or_untrusted_file_is_refused_each_time(file, monkeypatch):
    put(file)
    settle(monkeypatch)
    for _ in range(2):
        refusal(file)
    put(file, b"broken")
    for _ in range(2):
        refusal(file)


def test_a_workspace_that_was_moved_is_another_place(file, workspace, book, reader, tmp_path):
    file.replace(b"one", None)
    shutil.move(workspace, tmp_path / "moved")
    moved = make(tmp_path / "moved", book, reader)
    refusal(moved)
    shutil.move(tmp_path / "moved", workspace)
    assert file.load() == "one"


def test_what_was_trusted_can_be_listed_and_forgotten(file, book, tmp_path):
    file.replace(b"one", None)
    book.record(tmp_path / "other", b"x")
    assert sorted(book.entries()) == sorted([str(file.path), str(tmp_path / "other")])
    assert book.forget([file.path, tmp_path / "unknown"]) == [file.path]
    assert list(book.entries()) == [str(tmp_path / "other")]
    refusal(file)

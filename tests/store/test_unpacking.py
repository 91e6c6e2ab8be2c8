"""A backup that somebody else may have made, or that is damaged: all of it or nothing."""

import contextlib
import os
import stat
import sys
import warnings
import zipfile

import pytest

from nocturn.errors import NocturnError
from nocturn.store import unpacking
from nocturn.store.backup import MARK, mark_of, save
from nocturn.store.unpacking import restore


@pytest.fixture
def workspace(tmp_path):
    for path in ("memory/people/lina.md", "policy.toml", ".nocturn/journal.jsonl"):
        (tmp_path / "ws" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ws" / path).write_text(f"this is {path}\n" * 20)
    return tmp_path / "ws"


@pytest.fixture
def hostile(tmp_path):
    """Makes an archive of these members, and has it restored."""

    def hostile(*members, comment=None):
        with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / "h.zip", "w") as archive:
            warnings.simplefilter("ignore")  # of names that come twice
            for each in members:
                archive.writestr(each, b"x" * 64)
            archive.comment = mark_of(archive.infolist()) if comment is None else comment
        restore(str(tmp_path / "h.zip"), tmp_path / "victim" / "new")

    return hostile


def contents(folder):
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


def plain(name, mode=0, compression=zipfile.ZIP_STORED):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = compression
    return info


@pytest.mark.parametrize(
    "members",
    [
        ["../x"],
        ["memory/../../x.md"],
        ["/etc/x"],
        ["memory//x.md"],
        ["memory/./x.md"],
        ["memory/"],
        ["other.txt"],
        ["Memory/x.md"],
        [".nocturn/inbox.db"],
        [".nocturn/journal.jsonl/x"],
        ["keys/local.key"],
        ["memory/a.md", "memory/a.md"],
        [plain("memory/l.md", stat.S_IFLNK | 0o777)],
        [plain("memory/f.md", stat.S_IFIFO | 0o600)],
        [plain("memory/a.md", compression=zipfile.ZIP_BZIP2)],
    ],
)
def test_an_archive_with_anything_that_no_backup_holds_makes_nothing(hostile, tmp_path, members):
    with pytest.raises(NocturnError) as refused:
        hostile("memory/good.md", *members)
    assert refused.value.code == "BAD_ARGUMENTS"
    assert os.listdir(tmp_path / "victim") == []


def test_an_archive_in_which_a_file_is_a_folder_makes_nothing(hostile, tmp_path):
    with pytest.raises(NocturnError):
        hostile("memory/a.md", "memory/a.md/b.md")
    assert os.listdir(tmp_path / "victim") == []


@pytest.mark.parametrize("comment", [b"", b"nocturn backup 2", MARK, MARK + b" 0"])
def test_another_archive_is_none(hostile, comment):
    with pytest.raises(NocturnError) as refused:
        hostile("memory/a.md", comment=comment)
    assert refused.value.code == "BAD_ARGUMENTS"


def test_a_damaged_backup_is_never_half_restored(workspace, tmp_path):
    save(workspace, str(tmp_path / "b.zip"), {})
    whole = (tmp_path / "b.zip").read_bytes()
    restore(str(tmp_path / "b.zip"), tmp_path / "good")
    good = contents(tmp_path / "good")
    for number, at in enumerate(range(0, len(whole), max(1, len(whole) // 60))):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        (tmp_path / "d.zip").write_bytes(damaged if number % 2 else whole[:at])
        new = tmp_path / f"new-{number}"
        with contextlib.suppress(NocturnError):
            restore(str(tmp_path / "d.zip"), new)
        # A byte may say nothing, such as the time of a file in the other of the two tables.
        assert not new.exists() or contents(new) == good
    assert not [each for each in os.listdir(tmp_path) if each.startswith(".nocturn-")]


def test_a_bomb_is_refused_by_what_it_says_it_unpacks_to(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "BACKUP_BYTES", 1_000_000)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memory/a.md", b"\0" * 2_000_000)
        archive.comment = mark_of(archive.infolist())
    assert (tmp_path / "bomb.zip").stat().st_size < 10_000
    with pytest.raises(NocturnError) as refused:
        restore(str(tmp_path / "bomb.zip"), tmp_path / "new")
    assert refused.value.code == "TOO_LARGE"


def test_a_bomb_that_understates_its_size_unpacks_to_no_more(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memory/a.md", b"\0" * 2_000_000)
        archive.comment = mark_of(archive.infolist())
    data = (tmp_path / "bomb.zip").read_bytes()
    data = data.replace((2_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    (tmp_path / "bomb.zip").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "a") as archive:
        archive.comment = mark_of(archive.infolist())
    with pytest.raises(NocturnError) as refused:
        restore(str(tmp_path / "bomb.zip"), tmp_path / "new")
    assert refused.value.code == "BAD_ARGUMENTS"
    assert not (tmp_path / "new").exists()


def test_only_a_folder_that_is_new_or_empty_is_restored_into(workspace, tmp_path):
    save(workspace, str(tmp_path / "b.zip"), {})
    (tmp_path / "empty").mkdir()
    restore(str(tmp_path / "b.zip"), tmp_path / "empty")
    before = contents(tmp_path / "empty")
    (tmp_path / "empty/memory/mine.md").write_text("mine")
    with pytest.raises(NocturnError) as refused:
        restore(str(tmp_path / "b.zip"), tmp_path / "empty")
    assert refused.value.code == "CONFLICT"
    assert len(contents(tmp_path / "empty")) == len(before) + 1
    if sys.platform != "win32":
        (tmp_path / "void").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "void")
        with pytest.raises(NocturnError):
            restore(str(tmp_path / "b.zip"), tmp_path / "link")


@pytest.mark.parametrize("path", ["nowhere.zip", "", "a\0b", "."])
def test_what_is_no_file_is_no_backup(tmp_path, path):
    with pytest.raises(NocturnError) as refused:
        restore(path and str(tmp_path / path), tmp_path / "new")
    assert refused.value.code in ("NOT_FOUND", "BAD_ARGUMENTS")


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs are POSIX's")
def test_a_fifo_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "f.zip")
    with pytest.raises(NocturnError) as refused:
        restore(str(tmp_path / "f.zip"), tmp_path / "new")
    assert refused.value.code == "NOT_FOUND"

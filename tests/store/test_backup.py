"""A backup: all that cannot be made again, whole while others write, and safe to unpack."""

import os
import stat
import sys
import threading
import zipfile

import pytest

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.store import backup
from nocturn.store.backup import save
from nocturn.store.unpacking import restore


@pytest.fixture
def workspace(tmp_path):
    """A folder with something of everything."""
    folder = tmp_path / "ws"
    files = {
        "memory/people/lina.md": b"---\r\ndescription: d\r\n---\r\n",
        "memory/image.png": b"\x89\xff\0",
        "persona/SOUL.md": b"kind",
        "policy.toml": b"x",
        "grants.json": b"{}",
        "vault.enc": b"sealed",
        ".nocturn/trash/20260101T000000Z-00000000/old.md": b"old",
        ".nocturn/journal.jsonl": b'{"n": 2}\n{"n": 3',
        ".nocturn/journal-000001.jsonl": b'{"n": 1}\n',
        # What is not wanted.
        ".nocturn/search.db": b"a cache",
        ".nocturn/notes.lock": b"",
        "memory/.nocturn-0011223344556677.tmp": b"half a note",
    }
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        os.utime(folder / path, (1_700_000_000, 1_700_000_000))
    return folder


def contents(folder):
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file()
    }


def test_what_is_restored_is_what_was_there_and_cannot_be_made_again(workspace, tmp_path):
    saved = save(workspace, str(tmp_path / "b.zip"), {"history.db": lambda: None})
    new = tmp_path / "deep" / "new"
    again = restore(str(tmp_path / "b.zip"), new)
    assert (saved.files, saved.vault, again.files, again.vault) == (9, True, 9, True)
    wanted = contents(workspace)
    for path in (
        ".nocturn/search.db",
        ".nocturn/notes.lock",
        "memory/.nocturn-0011223344556677.tmp",
    ):
        del wanted[path]
    wanted[".nocturn/journal.jsonl"] = b'{"n": 2}\n'  # the line that was half there comes later
    assert contents(new) == wanted
    assert (new / "memory/people/lina.md").stat().st_mtime == 1_700_000_000


def test_a_database_is_in_it_as_of_one_moment(workspace, tmp_path):
    (workspace / ".nocturn/history.db").write_bytes(b"being written")
    save(workspace, str(tmp_path / "b.zip"), {"history.db": lambda: b"whole"})
    restore(str(tmp_path / "b.zip"), tmp_path / "new")
    assert (tmp_path / "new/.nocturn/history.db").read_bytes() == b"whole"


def test_two_backups_of_the_same_are_the_same(workspace, tmp_path):
    for name in ("one", "two"):
        save(workspace, str(tmp_path / name), {})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_nobody_else_can_read_a_backup_or_what_comes_of_it(workspace, tmp_path):
    before = os.umask(0)
    try:
        save(workspace, str(tmp_path / "b.zip"), {})
        restore(str(tmp_path / "b.zip"), tmp_path / "new")
    finally:
        os.umask(before)
    made = [tmp_path / "b.zip", tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert {stat.S_IMODE(each.stat().st_mode) for each in made} == {0o600, 0o700}


def test_a_file_that_is_there_is_replaced_only_when_told_to(workspace, tmp_path):
    target = tmp_path / "b.zip"
    target.write_bytes(b"mine")
    with pytest.raises(NocturnError) as refused:
        save(workspace, str(target), {})
    assert (refused.value.code, target.read_bytes()) == ("CONFLICT", b"mine")
    save(workspace, str(target), {}, replace=True)
    assert zipfile.is_zipfile(target)
    with pytest.raises(NocturnError) as refused:
        save(workspace, str(workspace / "memory/b.zip"), {})
    assert refused.value.code == "BAD_ARGUMENTS"


def test_a_backup_that_fails_leaves_nothing(workspace, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(backup, "BACKUP_BYTES", 10)
    with pytest.raises(NocturnError) as refused:
        save(workspace, str(tmp_path / "out/b.zip"), {})
    assert refused.value.code == "TOO_LARGE"
    assert os.listdir(tmp_path / "out") == []
    with pytest.raises(NocturnError) as refused:
        save(workspace, str(tmp_path / "nowhere/b.zip"), {})
    assert refused.value.code == "STORAGE"


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs are POSIX's")
def test_what_is_no_file_is_left_out_and_said(workspace, tmp_path, outside):
    (workspace / "memory/l.md").symlink_to(outside / "secret.md")
    (workspace / "persona/dir").symlink_to(outside)
    os.mkfifo(workspace / "memory/f.md")
    for name in ("policy.toml", "grants.json"):
        (workspace / name).unlink()
    (workspace / "policy.toml").symlink_to(outside / "secret.md")
    os.mkfifo(workspace / "grants.json")

    def broken():
        raise ConfigurationError("it is broken")

    saved = save(workspace, str(tmp_path / "b.zip"), {"history.db": broken})
    assert set(saved.skipped) == {
        *("memory/l.md", "persona/dir", "memory/f.md", "policy.toml", "grants.json"),
        ".nocturn/history.db",
    }
    assert b"not yours" not in (tmp_path / "b.zip").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that differ in case alone")
def test_names_that_not_every_system_can_hold_come_back_all_the_same(workspace, tmp_path):
    for path in ("LINA/a.md", "lina/a.md", "cafe\u0301.md", "caf\u00e9.md", "we\\ird.md"):
        (workspace / "memory" / path).parent.mkdir(exist_ok=True)
        (workspace / "memory" / path).write_text(path)
    save(workspace, str(tmp_path / "b.zip"), {})
    restore(str(tmp_path / "b.zip"), tmp_path / "new")
    assert contents(tmp_path / "new/memory").items() >= {"lina/a.md": b"lina/a.md"}.items()
    assert len(contents(tmp_path / "new/memory")) == 7


def test_each_note_is_whole_however_often_it_is_written_meanwhile(put, tmp_path):
    texts = [letter * 40_000 for letter in "ab"]
    put("a.md", body=texts[0])
    done = threading.Event()

    def write():
        while not done.is_set():
            for text in texts:
                put("a.md", body=text)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            save(tmp_path, str(tmp_path.parent / f"{tmp_path.name}-{number}.zip"), {})
    finally:
        done.set()
        writer.join()
    for number in range(8):
        with zipfile.ZipFile(tmp_path.parent / f"{tmp_path.name}-{number}.zip") as archive:
            body = archive.read("memory/a.md").decode().rpartition("---\n")[2]
        assert body in texts

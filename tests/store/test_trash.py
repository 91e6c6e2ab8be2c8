"""Removing: a note is moved to the trash under its path, and nothing is lost on the way."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest

from nocturn.errors import CONFLICT, NOT_FOUND, PATH_ESCAPE, NocturnError
from nocturn.store.notes import NoteStore


def refused(function, *args, **how):
    with pytest.raises(NocturnError) as caught:
        function(*args, **how)
    return caught.value


def trashed(tmp_path):
    trash = tmp_path / ".nocturn/trash"
    return [each.relative_to(trash) for each in trash.rglob("*") if not each.is_dir()]


def test_a_removed_note_is_in_the_trash_under_its_path(notes, put, clear, root, tmp_path):
    put("people/lina.md")
    before = (root / "people/lina.md").read_bytes()
    assert notes.preview_remove("people/lina.md").before == before.decode()
    notes.remove(clear("remove", "people/lina.md"), "people/lina.md")
    assert notes.present("people/lina.md") is None
    (found,) = trashed(tmp_path)
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}/people/lina\.md", found.as_posix())
    assert (tmp_path / ".nocturn/trash" / found).read_bytes() == before
    for folder in [tmp_path / ".nocturn", *(tmp_path / ".nocturn").rglob("*")]:
        assert folder.stat().st_mode & 0o777 == (0o700 if folder.is_dir() else 0o600)


def test_the_same_path_can_be_removed_again_and_again(notes, put, clear, tmp_path):
    for _ in range(3):
        put("a.md")
        notes.remove(clear("remove", "a.md"), "a.md")
    assert len(trashed(tmp_path)) == 3


def test_a_removed_link_is_moved_as_the_link(notes, clear, root, tmp_path, outside):
    root.mkdir()
    (root / "a.md").symlink_to(outside / "secret.md")
    notes.remove(clear("remove", "a.md"), "a.md")
    (found,) = trashed(tmp_path)
    assert (tmp_path / ".nocturn/trash" / found).readlink() == outside / "secret.md"
    assert (outside / "secret.md").read_text() == "not yours"


def test_a_refused_removal_makes_no_trash(notes, put, clear, tmp_path):
    put("a.md")
    clearance = clear("remove", "a.md")
    assert refused(notes.remove, clearance, "a.md", if_version="0" * 32).code == CONFLICT
    assert refused(notes.remove, clear("remove", "b.md"), "b.md").code == NOT_FOUND
    asked = clear("remove", "a.md", asked=True, expected="0" * 32)
    assert refused(notes.remove, asked, "a.md").code == CONFLICT
    assert not (tmp_path / ".nocturn/trash").exists()


def test_what_is_not_utf8_can_be_removed(notes, clear, root, tmp_path):
    root.mkdir()
    (root / "a.md").write_bytes(b"ab\xff")
    assert notes.preview_remove("a.md").before == "ab\ufffd"
    notes.remove(clear("remove", "a.md"), "a.md")
    assert len(trashed(tmp_path)) == 1


@pytest.mark.parametrize("linked", [False, True])
def test_the_trash_may_be_on_another_disk(token, clear, tmp_path, linked):
    if not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system to try")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        notes = NoteStore(Path(other) / "memory", token, tmp_path / ".nocturn/trash")
        (Path(other) / "memory").mkdir()
        note = Path(other) / "memory/a.md"
        if linked:
            note.symlink_to("b.md")
        else:
            note.write_text("kept")
        notes.remove(clear("remove", "a.md"), "a.md")
        (found,) = trashed(tmp_path)
        assert not note.is_symlink()
        assert not note.exists()
        moved = tmp_path / ".nocturn/trash" / found
        assert moved.readlink() == Path("b.md") if linked else moved.read_text() == "kept"


def test_a_trash_behind_a_link_is_refused(put, clear, token, outside, root):
    put("a.md")
    shutil.rmtree(root.parent / ".nocturn")
    (root.parent / ".nocturn").symlink_to(outside)
    notes = NoteStore(root, token, root.parent / ".nocturn/trash")
    assert refused(notes.remove, clear("remove", "a.md"), "a.md").code == PATH_ESCAPE
    assert (root / "a.md").exists()
    assert [each.name for each in outside.iterdir()] == ["secret.md"]

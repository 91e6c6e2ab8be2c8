"""Links: what leaves is refused, what stays may be read, and a write never goes through one."""

from __future__ import annotations

import os

import pytest

from nocturn.errors import BAD_ARGUMENTS, NOT_A_NOTE, NOT_FOUND, PATH_ESCAPE, NocturnError
from nocturn.store import directory
from nocturn.store.confined import Folder


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def folder(request, root):
    if request.param and not directory.BY_DESCRIPTOR:
        pytest.skip("this platform has no directory descriptors")
    root.mkdir()
    (root / "in").mkdir()
    (root / "in/note.md").write_text("inside")
    return Folder(root, by_descriptor=request.param)


def put(folder, path, data=b"x"):
    with folder.place(path) as place:
        place.replace_file(data)


def get(folder, path):
    return folder.read(path, 1 << 20).data


def code_of(function, *args):
    with pytest.raises(NocturnError) as caught:
        function(*args)
    return caught.value.code


@pytest.mark.parametrize(
    "target", ["{outside}", "../outside", "in/../../outside", "{root}/../outside", "/", ".."]
)
def test_a_folder_link_that_leaves_is_an_escape_for_reads_and_writes(
    folder, root, outside, target, tree
):
    (root / "esc").symlink_to(target.format(outside=outside, root=root))
    before = tree(outside)
    assert code_of(put, folder, "esc/p.md") == PATH_ESCAPE
    assert code_of(get, folder, "esc/secret.md") == PATH_ESCAPE
    assert code_of(put, folder, "esc/new/p.md") == PATH_ESCAPE
    assert tree(outside) == before


def test_a_link_to_a_folder_whose_name_only_begins_like_the_root_is_an_escape(folder, root):
    twin = root.with_name("memory-twin")
    twin.mkdir()
    (twin / "x.md").write_text("not yours")
    (root / "esc").symlink_to(twin)
    assert code_of(get, folder, "esc/x.md") == PATH_ESCAPE
    assert code_of(put, folder, "esc/y.md") == PATH_ESCAPE


def test_a_link_to_a_link_that_leaves_is_an_escape(folder, root, outside):
    (root / "one").symlink_to("two")
    (root / "two").symlink_to(outside)
    assert code_of(put, folder, "one/p.md") == PATH_ESCAPE
    assert code_of(get, folder, "one/secret.md") == PATH_ESCAPE


def test_a_dangling_link_that_would_leave_is_an_escape(folder, root):
    (root / "esc").symlink_to("../nowhere/at/all")
    assert code_of(put, folder, "esc/p.md") == PATH_ESCAPE


@pytest.mark.parametrize("target", ["in", "./in/", "{root}/in", "in/../in"])
def test_a_folder_link_that_stays_is_read_through_and_not_written_through(folder, root, target):
    (root / "also").symlink_to(target.format(root=root))
    assert get(folder, "also/note.md") == b"inside"
    assert code_of(put, folder, "also/note.md") == BAD_ARGUMENTS
    assert code_of(put, folder, "also/new.md") == BAD_ARGUMENTS
    assert (root / "in/note.md").read_text() == "inside"


def test_a_link_up_from_a_deeper_folder_stays_inside(folder, root):
    (root / "in/up").symlink_to("..")
    assert get(folder, "in/up/in/up/in/note.md") == b"inside"


def test_a_file_link_that_leaves_is_not_read(folder, root, outside):
    (root / "a.md").symlink_to(outside / "secret.md")
    assert code_of(get, folder, "a.md") == PATH_ESCAPE


@pytest.mark.parametrize("target", ["{outside}/secret.md", "in/note.md", "nowhere.md", "a.md"])
def test_a_linked_file_is_replaced_as_an_entry_and_its_target_is_untouched(
    folder, root, outside, target
):
    (root / "a.md").symlink_to(target.format(outside=outside))
    put(folder, "a.md", b"new")
    assert not (root / "a.md").is_symlink()
    assert (root / "a.md").read_bytes() == b"new"
    assert (outside / "secret.md").read_text() == "not yours"
    assert (root / "in/note.md").read_text() == "inside"


def test_a_file_link_that_stays_says_what_it_points_to(folder, root):
    (root / "a.md").symlink_to("in/note.md")
    content = folder.read("a.md", 100)
    assert (content.data, content.link) == (b"inside", "in/note.md")
    assert folder.read("in/note.md", 100).link is None


def test_links_in_a_circle_end(folder, root):
    (root / "a.md").symlink_to("b.md")
    (root / "b.md").symlink_to("a.md")
    assert code_of(get, folder, "a.md") == NOT_FOUND
    assert code_of(put, folder, "a.md/c.md") == BAD_ARGUMENTS


def test_40_links_in_a_row_are_followed_and_41_are_not(folder, root):
    (root / "0.md").symlink_to("in/note.md")
    for i in range(1, 41):
        (root / f"{i}.md").symlink_to(f"{i - 1}.md")
    assert get(folder, "39.md") == b"inside"
    assert code_of(get, folder, "40.md") == NOT_FOUND


@pytest.mark.parametrize("target", [".", "in", "in/.."])
def test_a_link_to_a_folder_is_no_note(folder, root, target):
    (root / "a.md").symlink_to(target)
    assert code_of(get, folder, "a.md") == NOT_A_NOTE


def test_a_link_to_a_fifo_never_blocks(folder, root):
    os.mkfifo(root / "in/fifo")
    (root / "a.md").symlink_to("in/fifo")
    assert code_of(get, folder, "a.md") == NOT_A_NOTE


def test_the_root_itself_must_not_be_a_link(tmp_path, outside, tree):
    (tmp_path / "linked").symlink_to(outside)
    before = tree(outside)
    folder = Folder(tmp_path / "linked")
    assert code_of(put, folder, "x.md") == PATH_ESCAPE
    assert code_of(get, folder, "secret.md") == PATH_ESCAPE
    assert code_of(lambda: list(folder.walk())) == PATH_ESCAPE
    assert tree(outside) == before


@pytest.mark.usefixtures("folder")
def test_a_root_whose_parent_is_a_link_is_the_users_business(tmp_path, root):
    (tmp_path / "home").symlink_to(tmp_path)
    put(Folder(tmp_path / "home/memory"), "x.md", b"through")
    assert (root / "x.md").read_bytes() == b"through"


@pytest.mark.usefixtures("folder")
def test_a_link_swapped_in_after_the_look_changes_nothing_outside(root, outside, tree):
    """The folder was opened: what is written lands in it, wherever it was moved to."""
    if not directory.BY_DESCRIPTOR:
        pytest.skip("without descriptors this is what is weaker")
    before = tree(outside)
    with Folder(root).place("in/p.md") as place:
        (root / "in").rename(root / "moved")
        (root / "in").symlink_to(outside)
        place.replace_file(b"x")
    assert tree(outside) == before
    assert (root / "moved/p.md").exists()


def test_a_link_swapped_in_for_a_folder_to_be_made_is_met_not_followed(root, folder, outside, tree):
    before = tree(outside)
    with folder.place("new/deep/p.md") as place:
        (root / "new").symlink_to(outside)
        with pytest.raises(NocturnError):
            place.replace_file(b"x")
    assert tree(outside) == before


def test_a_link_swapped_in_for_the_file_is_replaced_as_an_entry(root, folder, outside):
    with folder.place("in/note.md") as place:
        (root / "in/note.md").unlink()
        (root / "in/note.md").symlink_to(outside / "secret.md")
        place.replace_file(b"x")
    assert (outside / "secret.md").read_text() == "not yours"
    assert not (root / "in/note.md").is_symlink()


def test_appending_never_goes_through_a_link(root, folder, outside):
    (root / "log").symlink_to(outside / "secret.md")
    with folder.place("log") as place, pytest.raises(NocturnError) as caught:  # noqa: SIM117
        with place.open_file(os.O_RDWR):
            pass
    assert caught.value.code == PATH_ESCAPE


def test_a_name_with_a_link_in_another_case_is_missing(root, folder, outside):
    (root / "Esc").symlink_to(outside)
    assert code_of(get, folder, "esc/secret.md") == NOT_FOUND

"""The notes: previewed, cleared, written whole, read back byte for byte, removed to the trash."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.errors import (
    BAD_ARGUMENTS,
    CONFLICT,
    NAME_TAKEN,
    NOT_A_NOTE,
    NOT_FOUND,
    PATH_ESCAPE,
    NocturnError,
)
from nocturn.limits import NOTE_CONTENT_BYTES, NOTE_READ_BYTES
from nocturn.names import stored_summary
from nocturn.store.notes import ANY, NoteStore, cut_notice
from nocturn.store.preamble import fresh, split


def refused(function, *args, **how):
    with pytest.raises(NocturnError) as caught:
        function(*args, **how)
    return caught.value


def test_the_seeds_note_is_84_bytes(notes, clear, root):
    text = notes.preview_write(
        "people/lina.md", "daughter, 7 years old", "", "Likes dinosaurs. Starts school in August."
    ).after
    assert notes.write(clear("write", "people/lina.md", text), "people/lina.md", text) == 84
    assert (root / "people/lina.md").read_bytes() == (
        b"---\ndescription: daughter, 7 years old\n---\nLikes dinosaurs. Starts school in August."
    )


def test_a_preview_and_every_read_make_nothing(notes, root, tmp_path):
    notes.preview_write("a/b.md", "s", "", "body")
    assert notes.present("a/b.md") is None
    assert notes.list() == ([], None)
    for look in (notes.read, notes.stat, notes.preview_remove):
        assert refused(look, "a/b.md").code == NOT_FOUND
    assert list(tmp_path.iterdir()) == []
    assert not root.exists()


def test_a_write_needs_a_clearance_for_exactly_this(notes, clear, root):
    clearance = clear("write", "a.md", "text")
    for path, text in (("b.md", "text"), ("a.md", "other")):
        with pytest.raises(PermissionError):
            notes.write(clearance, path, text)
    with pytest.raises(PermissionError):
        notes.write(clear("remove", "a.md", "text"), "a.md", "text")
    assert not root.exists()
    notes.write(clearance, "a.md", "text")
    with pytest.raises(PermissionError):
        notes.write(clearance, "a.md", "text")


def test_a_removal_needs_one_too(notes, clear, put):
    put("a.md")
    with pytest.raises(PermissionError):
        notes.remove(clear("write", "a.md"), "a.md")
    with pytest.raises(PermissionError):
        notes.remove(clear("remove", "b.md"), "a.md")
    assert notes.present("a.md") is not None


def test_the_clearance_is_used_up_before_anything_is_looked_at(notes, clear, root, outside):
    root.mkdir()
    (root / "esc").symlink_to(outside)
    clearance = clear("write", "esc/a.md", "text")
    assert refused(notes.write, clearance, "esc/a.md", "text").code == PATH_ESCAPE
    with pytest.raises(PermissionError):
        notes.write(clearance, "esc/a.md", "text")


@pytest.mark.parametrize(
    "body", ["", "x", "\nx\n", "---\ntitle: x\n---\nbody", "\r\n a\r", "---\n", "\ufeffx"]
)
def test_the_body_comes_back_byte_for_byte(notes, put, root, body):
    put("a.md", "given", body)
    text = notes.read("a.md")
    assert text == fresh("given") + body
    assert (root / "a.md").read_bytes() == text.encode()
    assert split(text) == (fresh("given"), body)
    assert notes.stat("a.md").summary == "given"


def test_a_block_that_was_read_back_keeps_its_other_bytes_and_takes_the_summary(put, root):
    block = "---\r\n# mine\r\ntags: [a,  b]\r\ndescription: old\r\n---\r\n"
    put("a.md", "new: one", "body", block)
    assert (root / "a.md").read_bytes() == (block.replace("old", "'new: one'") + "body").encode()


def test_content_without_a_block_keeps_the_other_keys_of_the_file(put, root):
    root.mkdir()
    (root / "a.md").write_bytes(b"---\ntags: [a,  b] # mine\ndescription: old\n---\nold body")
    put("a.md", "new", "new body")
    assert (
        root / "a.md"
    ).read_bytes() == b"---\ntags: [a,  b] # mine\ndescription: new\n---\nnew body"


def test_a_block_without_its_last_line_break_gets_one_before_a_body(notes, put, root):
    root.mkdir()
    (root / "a.md").write_bytes(b"---\ndescription: old\nk: 1\n---")
    put("a.md", "new", "body")
    assert notes.read("a.md") == "---\ndescription: new\nk: 1\n---\nbody"


def test_a_hand_made_block_without_a_description_is_a_body_on_writing(notes, put, root):
    root.mkdir()
    (root / "a.md").write_text("---\ntitle: x\n---\nold")
    put("a.md", "new", "body")
    assert notes.read("a.md") == "---\ndescription: new\n---\nbody"


@settings(deadline=None, max_examples=25)
@given(
    summary=st.text(min_size=1, max_size=150),
    body=st.text("ab-\n\r: #é🦖\ufeff", max_size=40),
    keys=st.sampled_from(["", "tags: [a]\n", "# c\n", "é: 'x'  # y\n"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_reading_and_writing_back_ten_times_changes_no_byte(summary, body, keys, end, token, clear):
    try:
        summary = stored_summary(summary)
    except NocturnError:
        return
    with tempfile.TemporaryDirectory() as folder:
        notes = NoteStore(Path(folder) / "memory", token, Path(folder) / ".nocturn/trash")
        block = fresh(summary).replace("---\n", f"---\n{keys}", 1).replace("\n", end)
        text = notes.preview_write("a.md", summary, block, body).after
        notes.write(clear("write", "a.md", text), "a.md", text)
        first = (Path(folder) / "memory/a.md").read_bytes()
        for _ in range(10):
            version = notes.stat("a.md").version
            block, body = split(notes.read("a.md"))
            again = stored_summary(notes.stat("a.md").summary)
            after = notes.preview_write("a.md", again, block, body, if_version=version).after
            notes.write(clear("write", "a.md", after), "a.md", after, if_version=version)
            assert (Path(folder) / "memory/a.md").read_bytes() == first


def test_a_composed_and_a_decomposed_file_are_one_note(notes, put, root):
    root.mkdir()
    (root / "cafe\u0301.md").write_text("old")
    assert notes.read("café.md") == "old"
    put("café.md", body="new")
    assert len(list(root.iterdir())) == 1
    assert [each.path for each in notes.list()[0]] == ["café.md"]


def test_a_name_that_differs_in_case_is_seen_in_the_preview(notes, put):
    put("people/Lina.md")
    error = refused(notes.preview_write, "people/lina.md", "s", "", "")
    assert (error.code, error.detail) == (NAME_TAKEN, {"existing": "people/Lina.md"})
    assert "people/Lina.md" in error.message


def test_a_link_that_leaves_is_seen_in_the_preview(notes, root, outside):
    root.mkdir()
    (root / "esc").symlink_to(outside)
    assert refused(notes.preview_write, "esc/p.md", "s", "", "").code == PATH_ESCAPE
    assert refused(notes.read, "esc/secret.md").code == PATH_ESCAPE
    assert refused(notes.preview_remove, "esc/secret.md").code == PATH_ESCAPE
    assert [each.name for each in outside.iterdir()] == ["secret.md"]


def test_a_link_swapped_in_while_a_person_decides_changes_nothing_outside(
    notes, put, clear, root, outside
):
    put("in/old.md")
    preview = notes.preview_write("in/p.md", "s", "", "body")
    (root / "in").rename(root / "moved")
    (root / "in").symlink_to(outside)
    clearance = clear("write", "in/p.md", preview.after, asked=True)
    assert refused(notes.write, clearance, "in/p.md", preview.after).code == PATH_ESCAPE
    assert [each.name for each in outside.iterdir()] == ["secret.md"]


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800"])
def test_what_is_no_text_is_refused_naming_the_field(notes, root, text):
    error = refused(notes.preview_write, "a.md", "s", "", text)
    assert (error.code, error.detail) == (BAD_ARGUMENTS, {"field": "content"})
    assert not root.exists()


def test_a_folder_and_what_is_not_utf8_are_no_notes(notes, root):
    (root / "a.md").mkdir(parents=True)
    (root / "b.md").write_bytes(b"\xff")
    (root / "c.md").write_bytes(b"a" * 10_000 + b"\xff")
    for path in ("a.md", "b.md", "c.md"):
        assert refused(notes.read, path).code == NOT_A_NOTE
        assert refused(notes.stat, path).code == NOT_A_NOTE
        assert refused(notes.preview_write, path, "s", "", "").code == NOT_A_NOTE


@pytest.mark.parametrize("letter", ["x", "é"])
def test_the_largest_note_comes_back_whole(notes, put, letter):
    body = letter * (NOTE_CONTENT_BYTES // len(letter.encode()))
    block = f"---\ndescription: s\nk: {'y' * 16_000}\n---\n"
    put("a.md", "s", body, block)
    assert notes.read("a.md") == block + body


def test_a_larger_file_is_cut_at_a_character_and_its_last_line_says_so(notes, root):
    root.mkdir()
    (root / "a.md").write_text("xé" * 60_000)
    assert (root / "a.md").stat().st_size == 180_000
    head, notice = notes.read("a.md").rsplit("\n", 1)
    assert notice == cut_notice(180_000)
    assert notice.startswith("[cut: ")
    assert "180,000" in notice
    assert "131,072" in notice
    assert ("xé" * 60_000).startswith(head)
    assert NOTE_READ_BYTES - 2 < len(head.encode()) <= NOTE_READ_BYTES


def test_a_file_of_exactly_the_limit_is_whole(notes, root):
    root.mkdir()
    (root / "a.md").write_text("x" * NOTE_READ_BYTES)
    assert notes.read("a.md") == "x" * NOTE_READ_BYTES
    (root / "a.md").write_text("x" * (NOTE_READ_BYTES + 1))
    assert notes.read("a.md").endswith(cut_notice(NOTE_READ_BYTES + 1))


def test_a_secret_on_the_border_is_redacted_before_the_cut(notes, root):
    root.mkdir()
    (root / "a.md").write_text("x" * (NOTE_READ_BYTES - 4) + "hunter2hunter2" + "y" * 9_000)
    text = notes.read("a.md", lambda text: text.replace("hunter2hunter2", "[REDACTED]"))
    assert "hunt" not in text


def test_present_is_what_a_read_would_show_or_nothing(notes, put, root):
    assert notes.present("a.md") is None
    put("a.md")
    assert notes.present("a.md") == notes.read("a.md")
    (root / "b.md").mkdir()
    assert refused(notes.present, "b.md").code == NOT_A_NOTE


def test_a_version_is_of_the_bytes_and_of_nothing_else(notes, put, root, token):
    put("a.md")
    put("b/c.md")
    one, other = notes.stat("a.md"), notes.stat("b/c.md")
    assert one.version == other.version == token((root / "a.md").read_bytes())
    put("a.md", body="changed")
    assert notes.stat("a.md").version != one.version


def test_a_large_file_is_versioned_by_its_state(notes, root):
    root.mkdir()
    (root / "a.md").write_bytes(b"x" * 5 * 1_048_576)
    before = notes.stat("a.md")
    assert before == notes.stat("a.md")
    with (root / "a.md").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"y")
    os.utime(root / "a.md", ns=(0, 0))
    assert notes.stat("a.md").version != before.version


def test_a_stale_version_is_a_conflict_that_has_the_present_one(notes, put, root):
    put("a.md")
    old = notes.stat("a.md").version
    (root / "a.md").write_text("a person's edit")
    now = notes.stat("a.md").version
    for look in (
        lambda: notes.preview_write("a.md", "s", "", "", if_version=old),
        lambda: notes.preview_remove("a.md", if_version=old),
    ):
        error = refused(look)
        assert (error.code, error.detail) == (CONFLICT, {"version": now})
    put("a.md", body="mine", if_version=now)


def test_a_version_of_a_note_that_is_gone_is_a_conflict_with_none(notes):
    error = refused(notes.preview_write, "a.md", "s", "", "", if_version="0" * 32)
    assert (error.code, error.detail) == (CONFLICT, {"version": None})


def test_none_means_that_nothing_may_be_there_yet(notes, put):
    put("a.md", if_version=None)
    error = refused(notes.preview_write, "a.md", "s", "", "", if_version=None)
    assert (error.code, error.detail) == (CONFLICT, {"version": notes.stat("a.md").version})


def test_the_version_is_looked_at_again_when_it_is_written(notes, put, clear, root):
    put("a.md")
    version = notes.stat("a.md").version
    after = notes.preview_write("a.md", "s", "", "mine", if_version=version).after
    (root / "a.md").write_text("a person's edit")
    clearance = clear("write", "a.md", after)
    assert refused(notes.write, clearance, "a.md", after, if_version=version).code == CONFLICT
    assert (root / "a.md").read_text() == "a person's edit"


def test_what_a_person_was_shown_must_still_be_there(notes, put, clear, root):
    put("a.md")
    preview = notes.preview_write("a.md", "s", "", "mine")
    assert preview.version == notes.stat("a.md").version
    assert preview.before == notes.read("a.md")
    (root / "a.md").write_text("a person's edit")
    clearance = clear("write", "a.md", preview.after, asked=True, expected=preview.version)
    assert refused(notes.write, clearance, "a.md", preview.after, if_version=ANY).code == CONFLICT
    assert (root / "a.md").read_text() == "a person's edit"


def test_if_a_person_was_shown_nothing_then_nothing_may_be_there(notes, clear, root):
    preview = notes.preview_write("a.md", "s", "", "mine")
    assert (preview.before, preview.version) == (None, None)
    root.mkdir()
    (root / "a.md").write_text("a person's")
    clearance = clear("write", "a.md", preview.after, asked=True, expected=None)
    assert refused(notes.write, clearance, "a.md", preview.after).code == CONFLICT
    assert (root / "a.md").read_text() == "a person's"


def test_a_refused_write_leaves_no_folder(notes, clear, root):
    clearance = clear("write", "a/b.md", "text")
    assert refused(notes.write, clearance, "a/b.md", "text", if_version="0" * 32).code == CONFLICT
    assert not root.exists()


def test_a_linked_note_is_replaced_as_an_entry_and_its_preview_shows_the_target(notes, put, root):
    put("in/note.md", "inner")
    (root / "a.md").symlink_to("in/note.md")
    version = notes.stat("a.md").version
    assert version != notes.stat("in/note.md").version
    preview = put("a.md", "outer", "mine", if_version=version)
    assert preview.before == notes.read("in/note.md")
    assert (notes.stat("in/note.md").summary, notes.stat("a.md").summary) == ("inner", "outer")


@pytest.mark.parametrize("target", ["{outside}/secret.md", "nowhere.md"])
def test_a_link_that_cannot_be_read_is_replaced_unseen(put, root, outside, target):
    root.mkdir()
    (root / "a.md").symlink_to(target.format(outside=outside))
    preview = put("a.md")
    assert preview.before is None
    assert preview.version is not None
    assert (outside / "secret.md").read_text() == "not yours"


def test_a_changed_link_is_a_conflict(notes, put, clear, root):
    put("one.md")
    (root / "a.md").symlink_to("one.md")
    preview = notes.preview_write("a.md", "s", "", "mine")
    (root / "a.md").unlink()
    (root / "a.md").symlink_to("./one.md")
    clearance = clear("write", "a.md", preview.after, asked=True, expected=preview.version)
    assert refused(notes.write, clearance, "a.md", preview.after).code == CONFLICT


def test_a_stat_tells_path_summary_size_time_and_version(notes, put, root):
    put("people/lina.md", "daughter", "body")
    os.utime(root / "people/lina.md", ns=(0, 1_767_225_600_123_000_000))
    stat = notes.stat("people/lina.md")
    assert stat.to_dict() == {
        "path": "people/lina.md",
        "summary": "daughter",
        "bytes": len("---\ndescription: daughter\n---\nbody"),
        "modified": "2026-01-01T00:00:00.123Z",
        "version": stat.version,
    }


def test_half_a_secret_is_in_no_summary_where_the_head_ends(notes, root):
    root.mkdir()
    (root / "a.md").write_text("\n" * 7_000 + "y" * 1_184 + "hunter2hunter2")
    assert set(notes.stat("a.md").summary) == {"y"}


def test_the_list_is_by_path_in_pages(notes, put):
    paths = sorted(["b.md", "a/z.md", "a-b.md", "a.md", "é.md", "z/y/x.md"])
    for each in reversed(paths):
        put(each)
    seen, cursor, pages = [], None, 0
    while True:
        page, cursor = notes.list(2, cursor)
        assert len(page) <= 2
        seen += [each.path for each in page]
        pages += 1
        if cursor is None:
            break
        assert cursor == seen[-1]
    assert (seen, pages) == (paths, 3)
    assert notes.list(6)[1] is None
    assert notes.list()[0] == [notes.stat(each) for each in paths]


def test_a_cursor_of_a_note_that_is_gone_still_counts(notes, put):
    for each in ("a.md", "c.md"):
        put(each)
    assert [each.path for each in notes.list(5, "b.md")[0]] == ["c.md"]


def test_only_regular_markdown_files_that_can_be_read_are_listed(notes, put, root, outside):
    put("a.md")
    (root / "B.MD").write_text("upper")
    (root / "c.txt").write_text("no")
    (root / ".nocturn-0123456789abcdef.tmp").write_text("no")
    (root / "d.md").write_bytes(b"\xff")
    (root / "e.md").symlink_to(outside / "secret.md")
    (root / "f.md").mkdir()
    os.mkfifo(root / "g.md")
    assert [each.path for each in notes.list()[0]] == ["B.MD", "a.md"]


def test_a_name_that_no_note_may_have_is_listed_with_its_characters_shown(notes, root):
    root.mkdir()
    (root / "a\u202eb.md").write_text("x")
    (root / "c\n.md").write_text("y")
    os.close(os.open(os.fsencode(root) + b"/\xff.md", os.O_CREAT))
    found = [each.path for each in notes.list()[0]]
    assert found == sorted([r"a\u{202e}b.md", r"c\x0a.md", r"\u{dcff}.md"])


def test_paths_that_look_the_same_are_numbered_and_a_cursor_stands_between_them(notes, root):
    root.mkdir()
    for name in ("caf\u00e9.md", "cafe\u0301.md", "x.md"):
        (root / name).write_text(name)
    pages, cursor = [], None
    for _ in range(3):
        page, cursor = notes.list(1, cursor)
        pages += [each.path for each in page]
    assert pages == ["caf\u00e9.md", "caf\u00e9.md (2)", "x.md"]
    assert cursor is None

"""What is taken of a folder or of JSON lines that a stranger has made, and what is not."""

import json
import os
import sys

import pytest

from nocturn.errors import NocturnError
from nocturn.store import intake
from nocturn.store.intake import read_notes


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def lines(tmp_path):
    """Reads a ``.jsonl`` file of these rows; text is a row as it is."""

    def lines(*rows):
        file = tmp_path / "notes.jsonl"
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        file.write_text("\n".join(texts), encoding="utf-8")
        return read_notes(str(file))

    return lines


def taken(batch):
    return {each.path: each.text for each in batch.notes}


def skipped(batch):
    return {each.path for each in batch.reasons}


def test_each_text_is_taken_byte_for_byte(source):
    texts = {
        "bom.md": b"\xef\xbb\xbf---\r\ndescription: x\r\ntags: [a]\r\n---\r\nbody\r\n no end",
        "people/no_preamble.MD": "# Lina\n\u2028likes é".encode(),
        "empty.md": b"",
        "block.md": b"---\nno: description\n---\nx",
    }
    for path, data in texts.items():
        (source / path).parent.mkdir(exist_ok=True)
        (source / path).write_bytes(data)
    batch = read_notes(str(source))
    assert {path: text.encode() for path, text in taken(batch).items()} == texts
    assert batch.skipped == 0


def test_what_cannot_be_a_note_is_listed_and_not_taken(source):
    (source / "outside.txt").write_text("no note")
    (source / "con.md").write_text("a device on Windows")
    (source / "big.md").write_text("x" * 65_537)
    (source / "huge.md").write_text("x" * 200_000)
    (source / "nul.md").write_bytes(b"a\0b")
    (source / "latin.md").write_bytes(b"caf\xe9")
    (source / "whole.md").write_text("x" * 65_536)
    for hidden in (".obsidian/plugins", ".git"):
        (source / hidden).mkdir(parents=True)
        (source / hidden / "a.md").write_text("a program's own")
    batch = read_notes(str(source))
    assert list(taken(batch)) == ["whole.md"]
    assert skipped(batch) == {
        *("outside.txt", "con.md", "big.md", "huge.md", "nul.md", "latin.md"),
        *(".obsidian", ".git"),
    }
    assert all(each.why for each in batch.reasons)


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs are POSIX's")
def test_nothing_is_followed_and_nothing_waits(source, outside):
    (source / "file.md").symlink_to(outside / "secret.md")
    (source / "folder").symlink_to(outside)
    (source / "dangling.md").symlink_to("nowhere")
    os.mkfifo(source / "fifo.md")
    batch = read_notes(str(source))
    assert taken(batch) == {}
    assert skipped(batch) == {"file.md", "folder", "dangling.md", "fifo.md"}


def test_a_name_that_not_every_system_can_hold_beside_another_is_skipped(lines):
    batch = lines(
        {"path": "People/a.md", "text": "1"},
        {"path": "people/b.md", "text": "2"},
        {"path": "People/A.md", "text": "3"},
        {"path": "caf\u00e9.md", "text": "4"},
        {"path": "cafe\u0301.md", "text": "5"},
        {"path": "x.md", "text": "6"},
        {"path": "x.md/y.md", "text": "7"},
    )
    assert taken(batch) == {"People/a.md": "1", "caf\u00e9.md": "4", "x.md": "6"}
    assert batch.skipped == 4


def test_a_stranger_s_names_are_shown_with_what_hides_in_them(source):
    (source / "a\x1b[31m\u202eb.md").write_text("x")
    (each,) = read_notes(str(source)).reasons
    assert each.path == "a\\x1b[31m\\u{202e}b.md"


def test_a_prefix_comes_before_each_path_and_leads_nowhere_else(source):
    (source / "a.md").write_text("x")
    assert list(taken(read_notes(str(source), "old/people/"))) == ["old/people/a.md"]
    for prefix, code in (
        ("..", "PATH_ESCAPE"),
        ("a/../..", "PATH_ESCAPE"),
        ("con", "BAD_ARGUMENTS"),
    ):
        with pytest.raises(NocturnError) as refused:
            read_notes(str(source), prefix)
        assert refused.value.code == code


def test_rows_may_have_the_whole_text_or_its_parts(lines):
    batch = lines(
        {"path": "a.md", "text": "---\r\ndescription: x\r\n---\r\n\u2028body"},
        "",
        {"path": "b.md", "summary": "a: b\n c", "content": "body"},
        {"path": "c.md", "summary": "new", "content": "---\ndescription: old\nk: 1\n---\nbody"},
    )
    assert taken(batch) == {
        "a.md": "---\r\ndescription: x\r\n---\r\n\u2028body",
        "b.md": "---\ndescription: 'a: b c'\n---\nbody",
        "c.md": "---\ndescription: new\nk: 1\n---\nbody",
    }


@pytest.mark.parametrize(
    "row",
    [
        "not JSON",
        "[]",
        "null",
        '"a.md"',
        {"path": "a.md"},
        {"text": "x"},
        {"path": "a.md", "text": "x", "summary": "s", "content": "c"},
        {"path": "a.md", "summary": "s"},
        {"path": "a.md", "summary": " ", "content": "c"},
        {"path": "a.md", "text": "x", "mode": 1},
        {"path": 1, "text": "x"},
        {"path": "a.md", "text": 1},
        '{"path": "a.md", "text": "\\ud800"}',
        '{"path": "a.md", "text": ' + "[" * 100_000,
    ],
)
def test_what_is_no_row_ends_it_and_its_line_is_named(lines, row):
    with pytest.raises(NocturnError) as refused:
        lines({"path": "good.md", "text": "x"}, row)
    assert refused.value.code == "BAD_ARGUMENTS"
    assert refused.value.detail["line"] == 2


def test_a_stranger_s_key_is_not_echoed(lines):
    with pytest.raises(NocturnError) as refused:
        lines({"path": "a.md", "text": "x", "hunter2hunter2": 1})
    assert "hunter2" not in refused.value.message


@pytest.mark.parametrize(
    ("limit", "value"), [("IMPORT_NOTES", 2), ("IMPORT_BYTES", 5), ("IMPORT_PATHS_BYTES", 10)]
)
def test_more_than_comes_in_at_a_time_is_refused_and_the_way_out_named(
    source, monkeypatch, limit, value
):
    for name in ("a", "b", "c"):
        (source / f"{name}.md").write_text("xx")
    assert len(read_notes(str(source)).notes) == 3
    monkeypatch.setattr(intake, limit, value)
    with pytest.raises(NocturnError) as refused:
        read_notes(str(source))
    assert refused.value.code == "TOO_LARGE"
    assert refused.value.detail["limit"] == value
    assert "prefix" in refused.value.message


def test_a_folder_with_too_much_in_it_is_not_read_to_its_end(source, monkeypatch):
    monkeypatch.setattr(intake, "IMPORT_ENTRIES", 3)
    for number in range(5):
        (source / f"{number}.txt").touch()
    with pytest.raises(NocturnError) as refused:
        read_notes(str(source))
    assert refused.value.code == "TOO_LARGE"


@pytest.mark.parametrize(("path", "code"), [("nowhere", "NOT_FOUND"), ("a.txt", "BAD_ARGUMENTS")])
def test_a_source_that_is_none_is_refused_without_its_place(tmp_path, path, code):
    (tmp_path / "a.txt").touch()
    with pytest.raises(NocturnError) as refused:
        read_notes(str(tmp_path / path))
    assert refused.value.code == code
    assert str(tmp_path) not in refused.value.message


def test_of_very_much_that_is_skipped_it_is_told_how_much(source):
    for number in range(300):
        (source / ("\x01" * 200 + f"{number}.md")).touch()
    batch = read_notes(str(source))
    assert (batch.skipped, len(batch.reasons)) == (300, 200)
    assert len(repr(batch.reasons)) < 500_000  # they must fit into a reply


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_path_is_no_source(path):
    with pytest.raises(NocturnError) as refused:
        read_notes(path)
    assert refused.value.code == "BAD_ARGUMENTS"

"""Notes that go out: as they are, to be read by nobody else, and over nothing by chance."""

import os
import stat
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.errors import NocturnError
from nocturn.store.intake import read_notes
from nocturn.store.outgoing import write_notes

PARTS = st.text("abcxyzéäЖ中ÅK", min_size=1, max_size=6)
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
HEADS = st.sampled_from(
    [
        "",
        "\ufeff",
        "---\n",
        "---\r\ndescription: x\r\nk: [1]\r\n---\r\n",
        "---\ndescription: [\n---\n",
    ]
)
BODIES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
TEXTS = st.builds(lambda head, body: head + body, HEADS, BODIES)


@pytest.fixture
def memory(root):
    (root / "people").mkdir(parents=True)
    (root / "people/lina.md").write_bytes(b"---\r\ndescription: d\r\n---\r\nno end")
    (root / "a.md").write_text("plain")
    (root / "image.png").write_text("no note")
    return root


@settings(max_examples=15)
@given(st.dictionaries(PATHS, TEXTS, max_size=6), st.booleans())
def test_what_goes_out_comes_in_again_byte_for_byte(tmp_path_factory, notes, as_lines):
    folder = tmp_path_factory.mktemp("notes")
    memory, target = folder / "memory", folder / ("out.jsonl" if as_lines else "out")
    files = {}
    for path, text in notes.items():
        if not any(path.startswith(f"{each}/") or each.startswith(f"{path}/") for each in files):
            (memory / path).parent.mkdir(parents=True, exist_ok=True)
            (memory / path).write_bytes(text.encode())
            files[path] = text
    assert write_notes(memory, str(target)).notes == len(files)
    batch = read_notes(str(target)) if target.exists() else None
    back = {each.path: each.text for each in batch.notes} if batch else {}
    beside = [each for each in (batch.reasons if batch else ()) if "beside" in each.why]
    assert back == {path: text for path, text in files.items() if path in back}
    assert len(back) + len(beside) == len(files)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
@pytest.mark.parametrize("name", ["out", "out.jsonl"])
def test_nobody_else_can_read_what_went_out(memory, tmp_path, name):
    before = os.umask(0)
    try:
        write_notes(memory, str(tmp_path / name))
    finally:
        os.umask(before)
    made = [tmp_path / name, *(tmp_path / name).rglob("*")]
    assert {stat.S_IMODE(each.stat().st_mode) for each in made} <= {0o600, 0o700}


@pytest.mark.parametrize(("name", "inner"), [("out", "out/a.md"), ("out.jsonl", "out.jsonl")])
def test_a_file_that_reads_differently_is_replaced_only_when_told_to(memory, tmp_path, name, inner):
    target = str(tmp_path / name)
    first = write_notes(memory, target)
    assert write_notes(memory, target) == first
    (tmp_path / inner).write_text("mine")
    (memory / "people/new.md").write_text("new")
    with pytest.raises(NocturnError) as refused:
        write_notes(memory, target)
    assert refused.value.code == "CONFLICT"
    assert (tmp_path / inner).read_text() == "mine"
    assert not (tmp_path / "out/people/new.md").exists()
    assert write_notes(memory, target, replace=True).notes == 3
    assert (tmp_path / inner).read_text() != "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="links and FIFOs are POSIX's")
def test_what_is_no_file_stays_here_and_is_listed(memory, tmp_path, outside):
    (memory / "l.md").symlink_to(outside / "secret.md")
    os.mkfifo(memory / "f.md")
    done = write_notes(memory, str(tmp_path / "out"))
    assert (done.notes, {each.path for each in done.skipped}) == (2, {"l.md", "f.md"})


@pytest.mark.skipif(sys.platform == "win32", reason="links are POSIX's")
def test_nothing_is_written_through_a_link_in_the_target(memory, tmp_path, outside):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/people").symlink_to(outside)
    with pytest.raises(NocturnError) as refused:
        write_notes(memory, str(tmp_path / "out"), replace=True)
    assert refused.value.code == "PATH_ESCAPE"
    assert os.listdir(outside) == ["secret.md"]


def test_what_is_no_text_goes_to_a_folder_and_not_into_json(memory, tmp_path):
    (memory / "latin.md").write_bytes(b"caf\xe9")
    assert write_notes(memory, str(tmp_path / "out")).notes == 3
    assert (tmp_path / "out/latin.md").read_bytes() == b"caf\xe9"
    done = write_notes(memory, str(tmp_path / "out.jsonl"))
    assert (done.notes, [each.path for each in done.skipped]) == (2, ["latin.md"])


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that differ in case alone")
def test_of_two_names_that_not_every_system_can_hold_one_goes_out(memory, tmp_path):
    for path in ("PEOPLE/b.md", "A.md", "caf\u00e9.md", "cafe\u0301.md"):
        (memory / path).parent.mkdir(exist_ok=True)
        (memory / path).write_text(path)
    done = write_notes(memory, str(tmp_path / "out"))
    assert (done.notes, len(done.skipped)) == (3, 3)
    assert read_notes(str(tmp_path / "out")).skipped == 0


def test_the_notes_own_folder_is_no_target(memory):
    for target in (memory, memory / "copy", memory / "x.jsonl"):
        with pytest.raises(NocturnError) as refused:
            write_notes(memory, str(target))
        assert refused.value.code == "BAD_ARGUMENTS"

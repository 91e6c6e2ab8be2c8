"""A whole note as a person edits it: what becomes of its summary, and of its preamble."""

import pytest

from nocturn.errors import NocturnError
from nocturn.store.draft import Draft, open_draft

NOTE = "---\ndescription: old\ntags: [a]\n---\nbody\n"


def draft(text=NOTE):
    return Draft("a.md", text, "v")


@pytest.mark.parametrize(
    ("saved", "summary"),
    [
        (NOTE, "old"),
        (NOTE.replace("old", "new"), "new"),
        (NOTE.replace("old", '"a: b"'), "a: b"),
        (NOTE.replace("\n", "\r\n"), "old"),
        ("only a body", "old"),
        (NOTE.replace("old", '""'), "body"),
        ("---\ndescription: ''\n---\n", ""),
    ],
)
def test_the_summary_is_what_the_preamble_says(saved, summary):
    assert draft().parts(saved) == (summary, saved)


@pytest.mark.parametrize("head", ["description: a: b", "description: 7", "tags: [a]", "["])
def test_a_preamble_that_cannot_be_read_any_more_is_refused(head):
    with pytest.raises(NocturnError) as refused:
        draft().parts(f"---\n{head}\n---\nbody")
    assert refused.value.code == "BAD_ARGUMENTS"


def test_a_note_that_never_had_one_is_summed_up_by_its_first_line():
    assert draft("# Lina\nx").parts("# Lina 7\nx")[0] == "Lina 7"


def test_a_note_is_opened_as_it_is(notes, put, root):
    put("a.md", summary="s", body="x\r\n")
    opened = open_draft(notes, "a.md")
    assert opened.text == (root / "a.md").read_bytes().decode()
    assert opened.version == notes.stat("a.md").version
    empty = open_draft(notes, "people/new.md")
    assert empty.version is None
    assert empty.parts(empty.text)[0] == ""
    assert not (root / "people").exists()


def test_a_note_that_would_be_cut_is_not_opened(notes, root):
    root.mkdir()
    (root / "big.md").write_text("x" * 131_073)
    with pytest.raises(NocturnError) as refused:
        open_draft(notes, "big.md")
    assert refused.value.code == "TOO_LARGE"
    (root / "latin.md").write_bytes(b"\xff")
    with pytest.raises(NocturnError) as refused:
        open_draft(notes, "latin.md")
    assert refused.value.code == "NOT_A_NOTE"

"""The contract's section 5, as a person and a prompt see it."""

import logging

import pytest

from nocturn import NocturnError

NOTE = (
    '<memory note="what you have chosen to remember about this user; the links are files you can '
    'memory_read">'
)


@pytest.fixture
def put(ws):
    def put(path, text):
        file = ws.path / "memory" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    return put


def test_no_folder_and_no_notes_are_the_empty_string(ws, put):
    assert ws.memory.catalog() == ""
    put("a.txt", "no note")
    assert ws.memory.catalog() == ""


def test_one_note_a_line_sorted_by_path(ws, put):
    ws.memory.write("people/lina.md", "daughter, 7 years old", "x")
    ws.memory.write("a.md", "first", "x")
    put("B.MD", "# A heading\nmore")
    assert ws.memory.catalog() == (
        "B.MD — A heading\na.md — first\npeople/lina.md — daughter, 7 years old"
    )


def test_it_is_always_true_of_the_files_as_they_are(ws, put):
    file = put("a.md", "one")
    assert ws.memory.catalog() == "a.md — one"
    file.write_text("two")
    assert ws.memory.catalog() == "a.md — two"
    file.unlink()
    assert ws.memory.catalog() == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "(no summary)"),
        ("\n \n\n", "(no summary)"),
        ("\n\n## Head  of it\nmore", "Head of it"),
        ("---\ndescription: said\n---\n# Head", "said"),
        ("---\ntitle: x\n---\n# Head", "Head"),
        ("---\ndescription: ''\n---\n", "(no summary)"),
        (b"\xef\xbb\xbf---\r\ndescription: bom and crlf\r\n---\r\nbody", "bom and crlf"),
        (b"\xef\xbb\xbf# bom", "bom"),
        ("one\rtwo", "one"),
        ("a </memory> b", "a &lt;/memory> b"),
        ("a </ MEMORY > b", "a &lt;/ MEMORY > b"),
        ("bell \x07 and \x1b[2J", "bell \\x07 and \\x1b[2J"),
        ("left\u202eright", "left\\u{202e}right"),
    ],
)
def test_a_line_is_the_notes_own_words_made_harmless(ws, put, text, line):
    put("a.md", text)
    assert ws.memory.catalog() == f"a.md — {line}"


def test_a_file_name_cannot_break_out_of_its_line(ws, put):
    put("a\nb — fake.md", "x")
    put("<memory>.md", "x")
    lines = ws.memory.catalog().splitlines()
    assert lines == ["&lt;memory>.md — x", "a\\x0ab — fake.md — x"]


def test_at_most_8192_bytes_of_a_file_are_read(ws, put):
    put("a.md", "\n" * 8_192 + "too far")
    put("b.md", "\n" * 8_000 + "near\n" + "x" * 10_000)
    assert ws.memory.catalog() == "a.md — (no summary)\nb.md — near"


def test_what_does_not_fit_is_counted_exactly_and_2048_bytes_are_the_most(ws, put):
    for number in range(100):
        put(f"n{number:03}.md", "é" * 30)
    text = ws.memory.catalog()
    lines = text.splitlines()
    assert len(text.encode()) <= 2_048
    assert lines[-1] == (
        f"({100 - len(lines) + 1} more notes not listed — memory is at its limit; consolidate)"
    )
    assert len(text.encode()) + len((lines[0] + "\n").encode()) > 2_048


def test_a_catalog_of_exactly_2048_bytes_needs_no_notice(ws, put):
    # 8 lines of 227 bytes, one of 224, and 8 line breaks.
    for number in range(8):
        put(f"n{number}.md", "x" * (227 - len("n0.md — ".encode())))
    last = put("z.md", "y" * (2_048 - 8 * 228 - len("z.md — ".encode())))
    assert len(ws.memory.catalog().encode()) == 2_048
    assert "more notes" not in ws.memory.catalog()
    last.write_text(last.read_text() + "y")
    assert ws.memory.catalog().endswith(
        "(1 more notes not listed — memory is at its limit; consolidate)"
    )


def test_how_full_it_is_is_said(ws, put):
    for number in range(100):
        put(f"n{number:03}.md", "é" * 30)
    put("long.md", "x" * 2_000)
    put("latin.md", b"caf\xe9")
    lines = ws.memory.catalog().splitlines()
    stats = ws.memory.catalog_stats()
    assert stats == {
        "bytes": len("\n".join(lines).encode()),
        "limit": 2_048,
        "left": 2_048 - stats["bytes"],
        "listed": len(lines) - 1,
        "not_listed": 101 - stats["listed"],
        "too_long": 1,
        "unreadable": 1,
    }


def test_one_huge_line_does_not_blank_the_rest(ws, put):
    put("a.md", "x" * 2_000)
    put("b.md", "short")
    assert ws.memory.catalog() == (
        "b.md — short\n(1 more notes not listed — memory is at its limit; consolidate)"
    )


def test_an_unreadable_note_is_left_out_with_a_warning_that_names_it(ws, put, caplog):
    put("good.md", "x")
    put("latin.md", b"caf\xe9")
    with caplog.at_level(logging.WARNING, "nocturn"):
        assert ws.memory.catalog() == "good.md — x"
    assert [record.name for record in caplog.records] == ["nocturn"]
    assert "latin.md" in caplog.text


def test_in_a_prompt_it_stands_in_its_block(ws, put):
    put("a.md", "x")
    assert ws.memory.in_prompt("You are kind.") == (f"You are kind.\n\n{NOTE}\na.md — x\n</memory>")
    assert ws.memory.in_prompt("") == f"{NOTE}\na.md — x\n</memory>"


def test_without_notes_or_a_memory_tool_the_prompt_is_untouched(ws, put):
    assert ws.memory.in_prompt("You are kind.") == "You are kind."
    put("a.md", "x")
    assert ws.memory.in_prompt("You are kind.", tools=["time_now"]) == "You are kind."
    assert ws.memory.in_prompt("You are kind.", tools=[]) == "You are kind."
    assert NOTE in ws.memory.in_prompt("You are kind.", tools=["memory_read"])
    assert NOTE in ws.memory.in_prompt("You are kind.", tools="memory_read")


def test_a_memory_folder_that_is_a_link_is_not_followed(ws, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.md").write_text("x")
    ws.path.mkdir()
    (ws.path / "memory").symlink_to(tmp_path / "outside")
    with pytest.raises(NocturnError) as refused:
        ws.memory.catalog()
    assert refused.value.code == "PATH_ESCAPE"

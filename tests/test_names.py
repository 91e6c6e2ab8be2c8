"""Paths, summaries and agents have one canonical form, or are refused with the reason."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.errors import BAD_ARGUMENTS, PATH_ESCAPE, TOO_LARGE, NocturnError
from nocturn.names import agent_name, is_tool_name, note_path, same_name_key, stored_summary

ANY_TEXT = st.text(st.characters(exclude_categories=()))
PATHS = st.one_of(
    ANY_TEXT, st.from_regex(r"[a-zA-Zé./\\:\u0301 %~]{1,30}\.(md|MD)", fullmatch=True)
)


def refusal(function: object, raw: str) -> NocturnError:
    assert callable(function)
    with pytest.raises(NocturnError) as caught:
        function(raw)
    return caught.value


@pytest.mark.parametrize(
    "path",
    [
        "lina.md",
        "people/lina.md",
        "README.MD",
        "%2e%2e/x.md",
        "a b/c.md",
        ".hidden.md",
        "..a/x.md",
        "console.md",
        "com10.md",
        "x.con.md",
        "people/*.md".replace("*", "star"),
        "日本/葛飾.md",
        "🦖.md",
        "a" * 252 + ".md",
    ],
)
def test_a_good_path_is_taken_as_it_is(path: str) -> None:
    assert note_path(path) == path


@pytest.mark.parametrize(
    "path", ["../x.md", "a/../../x.md", "/x.md", "/people/x.md", "..", "./../x.md"]
)
def test_a_path_that_would_leave_is_an_escape_and_is_named(path: str) -> None:
    error = refusal(note_path, path)
    assert error.code == PATH_ESCAPE
    assert path in error.message


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a/../b.md",
        "./b.md",
        "a//b.md",
        "a/",
        "b.txt",
        "md",
        ".md",
        "x/.md",
        "..\\x.md",
        "a\\b.md",
        "C:\\x.md",
        "x:y.md",
        *(f"a{each}b.md" for each in '*?"<>|'),
        "con.md",
        "CON.md",
        "aux.tar.md",
        "con .md",
        "nul/x.md",
        "com1.md",
        "COM¹.md",
        "lpt³.md",
        "conin$.md",
        "a./b.md",
        "a /b.md",
        "a.md ",
        "a.md.",
        "n" * 300 + ".md",
        "é" * 127 + ".md",
        *(
            f"a{each}b.md"
            for each in "\0\x07\x7f\x9b\n\t\u200b\u202e\u2066\u2028\ufeff\ud800\U000e0041"
        ),
        "👩\u200d👧.md",
        "❤\ufe0f.md",
    ],
)
def test_a_bad_name_is_refused_with_the_field(path: str) -> None:
    error = refusal(note_path, path)
    assert error.code == BAD_ARGUMENTS
    assert error.detail["field"] == "path"


def test_a_refusal_shows_hidden_characters_and_never_sends_them() -> None:
    message = refusal(note_path, "a\u202e\x1b\ud800.md").message
    assert r"\u{202e}\x1b\u{d800}" in message
    message.encode()


def test_1024_bytes_of_path_pass_and_1025_do_not() -> None:
    part = "x" * 203
    path = "/".join([part] * 5) + "/.md"
    assert len(path) == 1023
    assert note_path(path[:-3] + "a.md") == path[:-3] + "a.md"
    error = refusal(note_path, path[:-3] + "aa.md")
    assert (error.code, error.detail["size"], error.detail["limit"]) == (TOO_LARGE, 1025, 1024)


def test_the_cap_counts_bytes_and_the_longer_of_both_forms() -> None:
    assert refusal(note_path, "é" * 600 + ".md").code == TOO_LARGE
    # U+0958 takes three bytes raw, and six composed: NFC takes it apart.
    assert refusal(note_path, "/".join(["\u0958" * 30] * 6) + ".md").code == TOO_LARGE


def test_a_decomposed_name_folds_silently() -> None:
    assert note_path("cafe\u0301.md") == "café.md"


@settings(deadline=None)
@given(PATHS)
def test_a_path_is_canonical_or_refused(raw: str) -> None:
    try:
        path = note_path(raw)
    except NocturnError as error:
        error.message.encode()
        return
    assert note_path(path) == path == unicodedata.normalize("NFC", raw)
    parts = path.split("/")
    assert not {"", ".", ".."} & set(parts)
    assert path.lower().endswith(".md")
    assert len(path.encode()) <= 1024
    assert "\\" not in path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lina.md", "lina.md"),
        ("CAFÉ.md", "cafe\u0301.md"),
        ("ΣΑΣ.md", "σας.md"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_that_some_system_cannot_tell_apart_share_a_key(one: str, other: str) -> None:
    assert same_name_key(one) == same_name_key(other)


def test_names_that_differ_have_different_keys() -> None:
    assert same_name_key("lina.md") != same_name_key("lino.md")


@settings(deadline=None)
@given(ANY_TEXT)
def test_a_key_is_its_own_key(name: str) -> None:
    assert same_name_key(same_name_key(name)) == same_name_key(name)


def test_white_space_becomes_one_space() -> None:
    assert stored_summary("  a \t\n\r\n b\u00a0\u2028c ") == "a b c"


def test_120_code_points_stay_and_121_become_120_and_an_ellipsis() -> None:
    assert stored_summary("é" * 120) == "é" * 120
    assert stored_summary("é" * 121) == "é" * 120 + "…"


def test_a_stored_summary_comes_back_unchanged() -> None:
    cut = stored_summary("x" * 200)
    assert stored_summary(cut) == cut
    inside_an_emoji = stored_summary("x" * 118 + "👩\u200d👧 and more")
    assert inside_an_emoji.endswith("\u200d…")
    assert stored_summary(inside_an_emoji) == inside_an_emoji


@pytest.mark.parametrize("summary", ["", " \t\n", "\u3000"])
def test_an_empty_summary_is_refused(summary: str) -> None:
    error = refusal(stored_summary, summary)
    assert (error.code, error.detail["field"]) == (BAD_ARGUMENTS, "summary")


@pytest.mark.parametrize(
    "character",
    ["\0", "\x1b", "\x1c", "\x85", "\u200b", "\u202e", "\ufeff", "\U000e0041", "\ud800"],
)
def test_a_hidden_character_in_a_summary_is_refused_and_named(character: str) -> None:
    error = refusal(stored_summary, f"a{character}b")
    assert (error.code, error.detail["field"]) == (BAD_ARGUMENTS, "summary")
    assert f"U+{ord(character):04X}" in error.message
    assert "summary" in error.message


@pytest.mark.parametrize("summary", ["👩\u200d👧 twins", "❤\ufe0f", "می\u200cرود"])
def test_an_emoji_and_a_script_keep_their_joiners(summary: str) -> None:
    assert stored_summary(summary) == summary


def test_4096_raw_bytes_pass_and_4097_do_not() -> None:
    assert stored_summary("a" + " " * 4094 + "b") == "a b"
    error = refusal(stored_summary, "a" + " " * 4095 + "b")
    assert (error.code, error.detail["size"]) == (TOO_LARGE, 4097)


@settings(deadline=None)
@given(st.one_of(ANY_TEXT, st.text("ab \t👩\u200d👧…", max_size=300)))
def test_storing_a_summary_twice_is_storing_it_once(raw: str) -> None:
    try:
        stored = stored_summary(raw)
    except NocturnError as error:
        error.message.encode()
        return
    assert stored_summary(stored) == stored
    assert len(stored) <= 121
    assert len(stored.splitlines()) == 1


@pytest.mark.parametrize("name", ["a", "coder-1", "A.b_c", "0" * 64])
def test_an_agent_name_is_taken_as_it_is(name: str) -> None:
    assert agent_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "-a", ".a", "a b", "a:b", "a\n", "é", "0" * 65, "script:00", "a/b"]
)
def test_another_agent_name_is_refused(name: str) -> None:
    assert refusal(agent_name, name).code == BAD_ARGUMENTS


def test_a_tool_name_is_1_to_64_of_the_contracts_characters() -> None:
    assert is_tool_name("memory_write")
    assert is_tool_name("a" * 64)
    for name in ("", "memory.write", "a\n", "a" * 65, "é"):
        assert not is_tool_name(name)


def test_an_echo_is_redacted_before_a_line_break_in_it_becomes_an_escape():
    def redact(text):
        return text.replace("sec\nret", "[REDACTED]")

    with pytest.raises(NocturnError) as refused:
        note_path("sec\nret.md", redact)
    assert refused.value.message.startswith('path "[REDACTED].md" is refused')

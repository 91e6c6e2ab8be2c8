"""Hidden characters are shown, and joiners that show stay."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nocturn.visible import first_hidden, visible

ANY_TEXT = st.text(st.characters(exclude_categories=()))
FAMILY = "👩\u200d👩\u200d👧"
SEEN = [
    FAMILY,
    "❤\ufe0f\u200d🔥",
    "🏃🏽\u200d♀\ufe0f",
    "1\ufe0f\u20e3",
    "می\u200cرود",
    "क\u094d\u200dष",
    "ന\u0d4d\u200d .",
    "葛\U000e0100飾",
    "plain, é, 漢字 🦖",
]
HIDDEN = {
    "\x00": r"\x00",
    "\x1b": r"\x1b",
    "\r": r"\x0d",
    "\x7f": r"\x7f",
    "\x9b": r"\x9b",
    "\u00ad": r"\xad",
    "\u200b": r"\u{200b}",
    "\u202e": r"\u{202e}",
    "\u2028": r"\u{2028}",
    "\u2066": r"\u{2066}",
    "\u3164": r"\u{3164}",
    "\ufeff": r"\u{feff}",
    "\ud800": r"\u{d800}",
    "\U000e0041": r"\u{e0041}",
}


@pytest.mark.parametrize("text", SEEN)
def test_what_is_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert first_hidden(text, joiners=True) is None


@pytest.mark.parametrize("character", HIDDEN)
def test_a_hidden_character_is_shown_as_an_escape(character: str) -> None:
    assert visible(f"a{character}b") == f"a{HIDDEN[character]}b"


@pytest.mark.parametrize("text", [each for each in SEEN if not each.startswith("plain")])
def test_without_leave_for_joiners_each_of_them_counts(text: str) -> None:
    assert first_hidden(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db",
        "a\ufe0fb",
        "👩\u200d",
        "\u200d👩",
        "👩\u200d\u200d👧",
        "😀\ufe0f\ufe0f",
        "x\U000e0101",
    ],
)
def test_a_joiner_where_nothing_is_joined_is_shown(text: str) -> None:
    assert visible(text) != text
    assert first_hidden(text, joiners=True) is not None


def test_a_joiner_beside_something_invisible_joins_nothing() -> None:
    assert visible("가\u200d\u3164") == r"가\u{200d}\u{3164}"
    assert first_hidden("가\u200d\u3164", joiners=True) == (1, "U+200D ZERO WIDTH JOINER")


def test_line_breaks_and_tabs_stay_unless_they_must_not() -> None:
    assert visible("a\n\tb") == "a\n\tb"
    assert visible("a\n\tb", keep="") == r"a\x0a\x09b"


def test_the_first_hidden_character_is_named_with_its_place() -> None:
    assert first_hidden("ab\u202ec\x07") == (2, "U+202E RIGHT-TO-LEFT OVERRIDE")
    assert first_hidden("\x07") == (0, "control character U+0007")
    assert first_hidden("a\ud800") == (1, "lone surrogate U+D800")
    assert first_hidden("a\nb", keep="\n") is None


@settings(deadline=None)
@given(ANY_TEXT)
def test_what_is_shown_can_be_sent_to_any_terminal(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert first_hidden(shown, keep="\n\t", joiners=True) is None
    assert visible(shown) == shown


@settings(deadline=None)
@given(ANY_TEXT)
def test_no_control_or_format_character_but_a_joiner_comes_through(text: str) -> None:
    for each in visible(text, keep=""):
        known = each in "\u200c\u200d" or 0x600 <= ord(each) <= 0x8E2 or ord(each) > 0x11000
        assert unicodedata.category(each) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.category(each) != "Cf" or known

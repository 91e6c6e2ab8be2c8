from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.guard.difference import diff_lines, diff_text

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "\\ x", "- e", "a\r", "\u2028"]))
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def patched(before, rows):
    """Applies the rows of a diff, with no knowledge of how they were made."""
    old = re.findall(r"[^\n]*\n|[^\n]+", before)
    new, at, last = [], 0, ""
    for row in rows:
        if hunk := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", row):
            start = int(hunk[1]) - (hunk[2] != "0")
            new += old[at:start]
            at = start
        elif row == "\\ No newline at end of file":
            if last[0] in " +":
                new[-1] = new[-1].removesuffix("\n")
        else:
            mark, line = row[0], row[1:] + "\n"
            if mark in " -":
                assert old[at].rstrip("\n") == line.rstrip("\n")
                at += 1
            if mark in " +":
                new.append(line)
        last = row
    return "".join([*new, *old[at:]])


@given(TEXTS, TEXTS)
def test_a_diff_makes_the_one_text_of_the_other(before, after):
    assert patched(before, diff_lines(before, after)) == after


@given(TEXTS)
def test_what_is_the_same_has_no_diff(text):
    assert diff_lines(text, text) == []
    assert diff_text("a.md", text, text) == ""


def test_only_what_changes_and_three_lines_around_it_are_in_a_diff():
    before = "".join(f"{at}\n" for at in range(100))
    rows = diff_lines(before, before.replace("\n50\n", "\nfifty\n"))
    assert rows == [
        *("@@ -48,7 +48,7 @@", " 47", " 48", " 49"),
        *("-50", "+fifty", " 51", " 52", " 53"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n" * 16_000, "b\na\n" * 16_000 + "END\n"),
        ("same\n" * 5_000 + "x\n" * 3_000, "same\n" * 5_000 + "y\n" * 3_000),
        ("\n" * 65_536, "x\n" * 65_536),
    ],
)
def test_beyond_what_can_be_compared_everything_is_replaced_in_one_hunk(before, after):
    rows = diff_lines(before, after)
    assert sum(row.startswith("@@") for row in rows) == 1
    assert patched(before, rows) == after


def test_a_whole_diff_names_the_file_and_says_where_there_is_none():
    assert diff_text("p/a.md", None, "x\n") == "--- /dev/null\n+++ b/p/a.md\n@@ -0,0 +1 @@\n+x\n"
    assert diff_text("p/a.md", "x\n", None).startswith("--- a/p/a.md\n+++ /dev/null\n")
    assert diff_text("p/a.md", None, "") == "--- /dev/null\n+++ b/p/a.md\n"

"""Patterns: what a star names, and what it never does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.effects import Effect, Grant
from nocturn.errors import ConfigurationError
from nocturn.guard.pattern import Pattern


@pytest.mark.parametrize(
    ("pattern", "named", "not_named"),
    [
        ("people/lina.md", ["people/lina.md"], ["people/lina.mdx", "people/lin.md", "x/lina.md"]),
        ("people/*", ["people/a.md", "people/*", "people/"], ["people", "people/x/a", "peop/a.md"]),
        ("*", ["a.md", ""], ["a/b.md"]),
        ("**", ["a.md", "a/b/c.md", ""], []),
        ("people/**", ["people/a.md", "people/x/y/a.md"], ["people", "peoples/a.md"]),
        ("**/x.md", ["x.md", "a/x.md", "a/b/x.md"], ["ax.md", "a/bx.md", "x.md/a"]),
        ("a/**/x.md", ["a/x.md", "a/b/x.md", "a/b/c/x.md"], ["ax.md", "a/bx.md"]),
        ("a**/x.md", ["a/x.md", "ab/c/x.md"], ["ax.md"]),
        ("*a*b*.md", ["ab.md", "xaxbx.md"], ["ba.md", "a/b.md"]),
        (r"people/\*.md", ["people/*.md"], ["people/lina.md", r"people/\*.md"]),
        (r"a\\b", ["a\\b"], [r"a\\b", "a/b"]),
        ("[ab]?.md", ["[ab]?.md"], ["a.md", "ax.md"]),
        ("cafe\u0301/*", ["caf\u00e9/a.md", "cafe\u0301/a.md"], ["cafe/a.md"]),
        ("People/*", ["People/a.md"], ["people/a.md"]),
    ],
)  # fmt: skip
def test_a_pattern_names_what_its_stars_reach(pattern, named, not_named):
    made = Pattern(pattern)
    assert [each for each in named if not made.matches(each)] == []
    assert [each for each in not_named if made.matches(each)] == []


@pytest.mark.parametrize("text", ["", "***", "a/****", r"\a", "a\\", r"a\/b", "x\\\\\\", "*a" * 17])
def test_what_could_be_read_in_two_ways_is_no_pattern(text):
    with pytest.raises(ConfigurationError):
        Pattern(text)


def test_the_more_a_pattern_says_the_more_it_weighs():
    falling = ["people/lina.md", "a", "people/*.md", "people/**.md", "people/*", "people/**"]
    falling += ["*", "**"]
    weights = [Pattern(each).weight for each in falling]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == len(weights)


def test_a_pattern_that_would_have_a_regular_expression_try_for_ever_ends():
    assert not Pattern("*a" * 16 + "b").matches("a" * 1_000 + "c")
    assert not Pattern("**/a*/" * 5 + "b").matches("a/" * 500 + "c")


pieces = st.lists(
    st.sampled_from(["a", "b", "/", ".", "*", "**", "\\*", "\\\\", "é", "\n"]), max_size=8
)
targets = st.text("ab/.*\\é\n", max_size=10)


@given(pieces, targets)
def test_a_pattern_agrees_with_a_regular_expression(parts, target):
    text = "".join(parts)
    if not text or "***" in text.replace("\\\\", "").replace("\\*", ""):
        return
    expression = re.sub(
        r"\\(.)|((?:(?<=/)|^)\*\*/)|(\*\*)|(\*)|([^\\*])",
        lambda m: (
            re.escape(m[1]) if m[1] else "(?:.*/)?" if m[2] else ".*" if m[3]
            else "[^/]*" if m[4] else re.escape(m[5])
        ),
        text,
        flags=re.DOTALL,
    )  # fmt: skip
    assert Pattern(text).matches(target) == bool(re.fullmatch(expression, target, re.DOTALL))


@given(st.text(min_size=1, max_size=20))
def test_an_escaped_text_names_itself_alone(text):
    pattern = Pattern(text.replace("\\", "\\\\").replace("*", "\\*"))
    assert pattern.literal
    assert pattern.matches(text)
    assert not pattern.matches(text + "x")


paths = st.lists(st.sampled_from(["a", "*", "**", "a*", "b.md"]), min_size=1, max_size=3)


@given(paths.map("/".join), st.booleans(), paths.map("/".join))
def test_a_grant_covers_what_the_pattern_names_as_which_it_is_shown(target, folder, other):
    grant = Grant("bob", "list", "add", target, folder)
    assert grant.covers("bob", Effect("list", "add", other)) == Pattern(grant.pattern).matches(
        other
    )
    assert folder or grant.covers("bob", Effect("list", "add", other)) == (target == other)

"""The text of a policy: what it says, and the line of what is wrong with it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.effects import Effect, Mode, Recall
from nocturn.errors import ConfigurationError
from nocturn.guard.policy import DEFAULT, Decision
from nocturn.guard.policy_text import default_text, policy_of

RULE = '[[rule]]\nruling = "deny"\nkind = "memory"\n'


def text(*lines):
    return "\n".join(("version = 1", *lines)).encode()


def wrong_line(data):
    with pytest.raises(ConfigurationError) as caught:
        policy_of(data)
    found = re.match(r"policy\.toml:(\d+): \S", caught.value.message)
    assert found, caught.value.message
    return int(found[1])


def test_a_rule_says_all_that_it_says_and_where_it_stands():
    (rule,) = policy_of(
        text(
            "# people",
            "[[rule]]",
            'ruling = "ask"',
            'recall = "session"',
            'kind = "memory"',
            'verb = ["write", "remove"]',
            "target = 'people/*'",
            'mode = "guarded"',
            'agent = ["bob", "eve"]',
        )
    ).rules
    assert rule.to_dict() == {
        "where": "policy.toml:3",
        "ruling": "ask",
        "recall": "session",
        "kind": "memory",
        "verb": ["remove", "write"],
        "target": "people/*",
        "mode": ["guarded"],
        "agent": ["bob", "eve"],
    }


def test_what_a_rule_leaves_out_it_does_not_look_at_and_an_ask_is_remembered_by_nobody():
    (rule,) = policy_of(text("[[rule]]", 'ruling = "ask"', 'kind = "*"')).rules
    assert (rule.kind, rule.verbs, rule.modes, rule.target, rule.agents) == (None,) * 5
    assert rule.ceiling is Recall.NEVER


def test_each_rule_has_its_own_line():
    found = policy_of(text("", RULE + "# [[rule]]", RULE, RULE)).rules
    assert [each.where for each in found] == ["policy.toml:3", "policy.toml:7", "policy.toml:11"]


@pytest.mark.parametrize("spelling", ['[["rule"]]', "[[ 'rule' ]]  # one", "  [[rule]]"])
def test_a_rule_is_found_in_every_spelling_of_its_header(spelling):
    (rule,) = policy_of(text("", spelling, 'ruling = "deny"', 'kind = "memory"')).rules
    assert rule.where == "policy.toml:3"


def test_windows_line_ends_and_a_byte_order_mark_change_no_line():
    data = b"\xef\xbb\xbf" + text("", RULE).replace(b"\n", b"\r\n")
    assert policy_of(data).rules[0].where == "policy.toml:3"


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["version = "], 2),
        (["", "x = [1,"], 3),
        (["[[rule]]", 'ruling = "deny'], 3),
        (["[[rule]]", 'ruling = "deny"'], 2),
        (["[[rule]]", 'kind = "memory"'], 2),
        ([RULE, "", "[[rule]]", 'kind = "memory"', 'ruling = "maybe"'], 9),
        (["[[rule]]", 'kind = "memory"', "ruling = true"], 4),
        (["[[rule]]", 'kind = ["memory"]', 'ruling = "deny"'], 3),
        (["[[rule]]", 'kind = ""', 'ruling = "deny"'], 3),
        ([RULE + 'verbs = "write"'], 5),
        ([RULE + 'verb = "wirte"'], 5),
        ([RULE + "verb = []"], 5),
        ([RULE + "verb = [1]"], 5),
        ([RULE + 'mode = "loose"'], 5),
        ([RULE + 'mode = ["strict", "loose"]'], 5),
        ([RULE + 'agent = "a b"'], 5),
        ([RULE + 'agent = "script:0123456789abcdef"'], 5),
        ([RULE + 'recall = "always"'], 5),
        ([RULE + "\n# two\n" + 'target = ""'], 7),
        ([RULE + "target = 'a***'"], 5),
        ([RULE + r"target = 'a\b'"], 5),
        ([RULE + "target = '/people/*'"], 5),
        ([RULE + "target = 'people'"], 5),
        ([RULE + "target = 'people/'"], 5),
        ([RULE + "target = 'a/../*'"], 5),
        ([RULE + "target = '*.txt'"], 5),
        ([RULE + 'target = "x:y.md"'], 5),
        (["colour = 1", RULE], 2),
        (["[colour]"], 2),
        (["[rule]", 'kind = "memory"'], 2),
        (["rule = 1"], 2),
        (['rule = [{ruling = "deny", kind = "memory"}]'], 2),
        (['x = """', "[[rule]]", '"""'], 2),
        ([RULE + "target.x = 1"], 5),
        (["[[rule.x]]"], 2),
    ],
)
def test_what_is_wrong_is_said_with_its_line(lines, line):
    assert wrong_line(text(*lines)) == line


@pytest.mark.parametrize(
    "data",
    [b"", b"# nothing", RULE.encode(), b"version = 2", b"version = 1.0", b"version = true", b"{}",
     b'version = "1"', b"\xff", b"version = 1\n\x00", b"a = " + b"[" * 5_000,
     b"x = " + b"9" * 5_000],
)  # fmt: skip
def test_a_file_that_is_no_policy_is_never_an_empty_one(data):
    assert wrong_line(data) >= 1


def test_bytes_that_are_not_utf8_are_in_their_line():
    assert wrong_line(b"version = 1\n# ok\n# \xff\n") == 3


def test_no_message_has_the_parsers_text_or_the_value():
    with pytest.raises(ConfigurationError) as caught:
        policy_of(text("[[rule]]", 'kind = "memory"', 'ruling = "hunter2-hunter2"'))
    assert "hunter2" not in caught.value.message
    with pytest.raises(ConfigurationError) as caught:
        policy_of(text('"\\u202e\\u001b[2J" = 1'))
    assert "\\u{202e}\\x1b" in caught.value.message


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_whatever_the_bytes_are_it_is_a_policy_or_a_line(data):
    try:
        policy_of(b"version = 1\n" + data)
    except ConfigurationError as error:
        message = error.message
    else:
        message = "policy.toml:1: sound"
    assert re.match(r"policy\.toml:\d+: ", message)


# ---- the file that a new workspace gets ----------------------------------------------------------


def test_the_default_file_has_no_rules_of_its_own():
    assert policy_of(default_text()).rules == ()
    assert policy_of(default_text()).beneath is DEFAULT


def commented():
    """The tables in the default file's comments, each as it would be written."""
    lines = default_text().decode().splitlines()
    shown = "\n".join(each.removeprefix("#     ") for each in lines if each.startswith("#     "))
    return ["[[rule]]" + each for each in shown.split("[[rule]]")[1:]]


def test_the_built_in_policy_in_its_comments_is_the_built_in_policy():
    policy = policy_of(text(*commented()[1:3]))
    assert len(policy.rules) == 2
    for mode in Mode:
        for verb in ("write", "remove", "move"):
            effect = Effect("memory", verb, "a.md")
            mine, theirs = policy.ruling(mode, effect, "bob"), DEFAULT.ruling(mode, effect, "bob")
            assert mine.decision is theirs.decision
            assert mine.decision is not Decision.ASK or mine.ceiling is theirs.ceiling
    assert policy.ruling(Mode.WATCHED, Effect("mail", "send", "x"), "bob").rule is None


def test_all_that_its_comments_show_can_be_written():
    assert len(policy_of(text(*commented())).rules) == 6


def test_its_lines_fit_a_screen():
    assert max(map(len, default_text().decode().splitlines())) <= 100

"""Tokens are known by their shape; what only looks like one does not block."""

import gzip
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from re import _parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nocturn.guard.plausible import is_plausible
from nocturn.guard.shape_rules import Kind, compiled, rules
from nocturn.guard.shapes import public_characters, shapes_in

SHARED = Path(__file__).resolve().parents[3] / "shared"
GITHUB = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
OF_KIND = {kind: [rule for rule in rules() if rule.kind is kind] for kind in Kind}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PRINTABLE = [chr(code) for code in range(33, 127)]

seeds = st.integers(0, 2**32).map(random.Random)


def made(pattern, chance, most=60):
    """Makes a text that matches a pattern; of what may go on, not much more than must be."""
    out = []
    for operation, given_ in _parser.parse(pattern):
        out.append(one(str(operation), given_, chance, most))
    return "".join(out)


def one(operation, given_, chance, most):
    if operation == "LITERAL":
        return chr(given_)
    if operation == "IN":
        return chance.choice(members(given_))
    if operation == "NOT_LITERAL":
        return chance.choice([each for each in PRINTABLE if ord(each) != given_])
    if operation in ("MAX_REPEAT", "MIN_REPEAT"):
        least, greatest, body = given_
        count = chance.randint(least, min(int(greatest), least + most))
        return "".join(one(str(op), of, chance, most) for _ in range(count) for op, of in body)
    if operation == "SUBPATTERN":
        return "".join(one(str(op), of, chance, most) for op, of in given_[-1])
    if operation == "BRANCH":
        branch = chance.choice(given_[1])
        return "".join(one(str(op), of, chance, most) for op, of in branch)
    assert operation == "AT"  # a border is nothing
    return ""


def members(given_):
    inside = []
    for operation, value in given_:
        if str(operation) == "LITERAL":
            inside.append(chr(value))
        elif str(operation) == "RANGE":
            inside += map(chr, range(value[0], value[1] + 1))
        elif str(operation) == "CATEGORY":
            inside += {"CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": " "}.get(str(value), PRINTABLE)
    if str(given_[0][0]) == "NEGATE":
        return [each for each in PRINTABLE if each not in inside]
    return inside


def token_of(rule, chance):
    """Makes a text with a token in it that is no placeholder; returns it and the token's span."""
    for _ in range(200):
        text = made(rule.pattern, chance)
        if rule.kind is Kind.START:
            word = chance.choice(rule.words)
            token = secret = word + text
            secret = text
            text, span = token, (0, len(token))
        elif rule.kind is Kind.FORM:
            match = re.search(rule.pattern, text)
            if match is None:
                continue
            secret, span = match[1], match.span(1)
        else:
            secret, span = text, (0, len(text))
        if is_plausible(secret.encode(), rule.entropy, plain=rule.plain):
            return text, span
    raise AssertionError(rule.id)


def covers(hits, start, end, *, blocks):
    return any(hit.start <= start and end <= hit.end and hit.blocks is blocks for hit in hits)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_each_rule_is_whole(rule):
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    assert rule.what.split()[0] in {"a", "an"}
    assert all(rule.words)
    assert compiled(rule.pattern)
    if rule.kind is not Kind.START:
        assert all(word == word.lower() for word in rule.words)
    assert rule.blocks is False or rule.kind is not Kind.BESIDE


def test_no_two_rules_have_one_name():
    names = [rule.id for rule in rules()]
    assert len(names) == len(set(names)) > 150


@given(st.sampled_from(OF_KIND[Kind.START]), seeds, st.sampled_from(["", " ", '"', "=", "(", "é"]))
def test_a_token_of_each_rules_own_format_is_found_whole(rule, chance, before):
    token, _ = token_of(rule, chance)
    hits = shapes_in(f"{before}{token} or so")
    assert covers(hits, len(before), len(before) + len(token), blocks=rule.blocks)


@given(st.sampled_from(OF_KIND[Kind.FORM]), seeds)
def test_a_form_of_its_own_is_found(rule, chance):
    text, (start, end) = token_of(rule, chance)
    hits = shapes_in(f"see {text}\n")
    assert any(hit.start < end + 4 and start + 4 < hit.end for hit in hits), text


@given(st.sampled_from(OF_KIND[Kind.BESIDE]), seeds, st.sampled_from([' = "{}"', ": {}", "={}\n"]))
def test_a_value_beside_its_name_warns_and_never_blocks(rule, chance, way):
    value, _ = token_of(rule, chance)
    if not re.search("[0-9]", value) or re.search(r"^\W|[^\w.+/=:-]|://", value):
        return
    name = chance.choice(rule.words)
    text = f"{name}{way.format(value)}"
    start = text.index(value, len(name))
    hits = shapes_in(text)
    assert any(hit.start <= start < hit.end for hit in hits), text
    assert not any(hit.blocks for hit in hits if hit.rule == rule.id)


@given(st.sampled_from(OF_KIND[Kind.START]), seeds, st.sampled_from([*LETTERS, *"0123456789"]))
def test_a_token_inside_a_word_is_none(rule, chance, letter):
    token, _ = token_of(rule, chance)
    assert not [hit for hit in shapes_in(f"ta{letter}{token}") if hit.start == 3]


def test_a_token_that_goes_on_is_another_thing():
    key = "AKIAQ3DZ7XK2MPW5RTLN"
    assert [hit.rule for hit in shapes_in(f"{key}/x {key}-x {key}.")] == ["aws-access-key-id"] * 3
    for more in ("A", "z", "7", "_"):
        assert shapes_in(key + more) == []


def test_a_dummy_hides_nothing_that_starts_within_it():
    real = "sk-proj-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2AcD4fG6hJ8"
    for dummy in ("sk-proj-xxxxxxxxxx-", "sk-proj-your-key-goes-here_"):
        assert [hit.rule for hit in shapes_in(dummy + real)] == ["openai-key"]


def test_a_token_in_the_middle_of_data_is_none_and_in_a_path_it_is_one():
    key = "AKIAQ3DZ7XK2MPW5RTLN"
    for before in ("iVBORw0KGgoAAAANSUhEUpGy33TSKv0/", "QmFzZTY0IGlzIG5vdCBhIHBhdGg3Zz+"):
        assert shapes_in(f"{before}{key}+Rvm5l") == []
    for before in ("/home/Lina/Projects/2024/keys/", "https://lina.dev/a1/B2/c3/D4/e5/F6/"):
        assert [hit.rule for hit in shapes_in(before + key)] == ["aws-access-key-id"]


@given(
    st.lists(st.sampled_from(["\0", "\ud800", "\U0001d518", "é", "\u200b", "\r\n", " ", "word"])),
    st.lists(st.sampled_from(["\0", "\udfff", "🔑", "ß", "\u202e", "\n"])),
)
def test_offsets_stay_right_whatever_stands_before(before, after):
    text = "".join((*before, " ", GITHUB, *after))
    (hit,) = shapes_in(text)
    assert text[hit.start : hit.end] == GITHUB


@given(st.text())
def test_any_text_is_looked_through_and_hits_are_apart(text):
    hits = shapes_in(text)
    assert hits == sorted(hits, key=lambda hit: hit.start)
    assert all(0 <= hit.start < hit.end <= len(text) for hit in hits)


@pytest.mark.parametrize(
    "text",
    [
        "see <task-notification> and docs/risk-assessment-and-mitigation-plan.md",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_" + "0" * 36,
        "sk-proj-your-key-goes-here-and-nowhere-else-in-this-file",
        "sk-proj-this-is-a-branch-that-has-a-very-long-name-with-words",
        "iVBORw0KGgoAKIAX3dEo5AKIAQ2LMNOP7RSTUVWXQAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
        "postgres://user:password@localhost/db",
        "postgres://user:${PASS}@localhost/db",
        "https://user:<pw>@host",
        "https://user:{{ password }}@host",
        "https://user:%s@host",
        "https://user:***@host",
        "https://host:8080/path?x=a@b",
        "-----BEGIN PRIVATE KEY-----\nanything\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + "MIIB" * 40 + "\n-----END PUBLIC KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILOZaJi4eufnnSPSVwOXQBPDm2oTFkou3ftjl3aCjRAy lina",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "request_id=14e547f1-4b4a-2cfc-8601-f03924546ee3",
        "tokenizationId: 'f865288c97ca4913887373728b8dfc4c',",
        "rookTable = 0023452Lllk2KqjLBvaxANWEgTd7bqjsxjo8aZj0wd",
        "token = config.get('TOKEN')",
        "password: hunter2",
        "the password is the name of the dog, in capitals",
    ],
)
def test_what_is_no_secret_is_not_even_warned_of(text):
    assert shapes_in(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"hello\0 token {GITHUB}", "github-token"),
        (f"{GITHUB} # gitleaks:allow pragma: allowlist secret", "github-token"),
        (f'{{"log": "first\\n{GITHUB}\\nlast"}}', "github-token"),
        (f"?a=b%20{GITHUB}%20", "github-token"),
        (f"TOKEN_{GITHUB}", "github-token"),
        (f"https://host/path/{GITHUB}/x", "github-token"),
        ("postgres://admin:q7Rw-2xLp_9v@db/x", "url-password"),
        ("sk-ant-api03-" + "aB3dE5fG7h" * 9 + "xyzAA", "anthropic-key"),
    ],
)
def test_what_is_one_blocks_wherever_it_stands(text, rule):
    assert [(hit.rule, hit.blocks) for hit in shapes_in(text)] == [(rule, True)]


def test_a_private_key_is_found_whole_in_each_dress():
    lines = [f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDAC4AWkd{n:04}" for n in range(8)]
    for glue in ("\n", "\r\n", "\\n", '\\n" +\n    "', "\n> ", "\n    "):
        for kind in ("RSA PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY"):
            key = glue.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"])
            (hit,) = shapes_in(f"a {key} z")
            assert (hit.start, hit.end, hit.blocks) == (2, 2 + len(key), True)
    cut = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines])
    assert covers(shapes_in(cut), 0, len(cut), blocks=True)
    with_head = cut.replace("KEY-----", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,0A\n")
    assert covers(shapes_in(with_head), 0, len(with_head), blocks=True)


def test_the_same_token_is_found_as_often_as_it_is_there():
    text = " ".join([GITHUB] * 50)
    assert [hit.start for hit in shapes_in(text)] == [at * (len(GITHUB) + 1) for at in range(50)]


def test_a_token_longer_than_what_is_looked_at_is_struck_out_whole():
    chance = random.Random(1)
    long = "fm2_" + "".join(chance.choices(LETTERS + "0123456789+/", k=20_000))
    (hit,) = shapes_in(f"x {long} y")
    assert (hit.start, hit.end, hit.blocks) == (2, 2 + len(long), True)


@pytest.mark.parametrize(
    "crowd",
    [" sk-", " hf_", "token=", "a://b:ccccccc@d ", " ghp_" + "a" * 36, "-ZXlK", "AKIA,"],
)
def test_a_crowd_hides_nothing_and_is_bounded(crowd):
    text = crowd * (1_048_576 // len(crowd)) + f" {GITHUB}"
    hits = shapes_in(text)
    assert len(hits) <= 2_000
    assert covers(hits, len(text) - len(GITHUB), len(text), blocks=True)


def test_many_hits_are_cut_and_still_block():
    tokens = [f"ghp_{random.Random(n).getrandbits(200):036x}"[:40] for n in range(3_000)]
    assert len(shapes_in(" ".join(tokens))) == 1_000


@pytest.mark.parametrize(
    ("value", "public"),
    [
        (GITHUB, 4),
        ("ghp_", 4),
        ("sk-ant-api03-abc", 13),
        ("sk-abc", 3),
        ("AKIAABCDEFGHIJKLMNOP", 4),
        ("github_pat_11ABC", 11),
        ("xghp_abc", 0),
        ("correct horse", 0),
        ("", 0),
        ("GHP_abc", 0),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", 21),
        ("postgres://lina:q7Rw", 16),
        ("123456789:AAxyz", 12),
        ("🔑🔑", 0),
    ],
)
def test_what_leads_a_token_is_public(value, public):
    assert public_characters(value) == public


@given(st.sampled_from(OF_KIND[Kind.START]), seeds)
def test_a_services_prefix_is_public_and_what_follows_is_not(rule, chance):
    token, _ = token_of(rule, chance)
    public = public_characters(token)
    assert max(len(word) for word in rule.words if token.startswith(word)) <= public < len(token)


def test_nothing_is_loaded_before_a_first_text_and_no_pattern_before_its_word():
    program = (
        "import sys; import nocturn.guard.shapes as shapes\n"
        "print('re2' in sys.modules, 'ahocorasick_rs' in sys.modules)\n"
        "shapes.shapes_in('The quick brown fox jumps over the dog.')\n"
        "print('re2' in sys.modules, 'ahocorasick_rs' in sys.modules)\n"
        f"shapes.shapes_in('{GITHUB}')\n"
        "from nocturn.guard.shape_rules import compiled; print(compiled.cache_info().currsize)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split("\n")[:3] == ["False False", "False True", "1"]
    assert done.stderr == ""


@pytest.mark.skipif(not SHARED.exists(), reason="the shared texts are not beside this project")
def test_the_shared_texts_are_told_apart():
    with gzip.open(SHARED / "data/leaks/patterns.jsonl.gz", "rt") as file:
        given_ = [json.loads(line) for line in file]
    secrets = [each["text"] for each in given_ if each["label"] == "pos"]
    none = [each for each in given_ if each["label"] == "neg" and each["text"] not in secrets]
    assert sum(bool(shapes_in(text)) for text in secrets) >= 0.95 * len(secrets)
    soft = [each["text"] for each in none if each["ds"] == "gitleaks"]
    assert sum(bool(shapes_in(text)) for text in soft) <= 0.03 * len(soft)
    hard = [each["text"] for each in none if each["ds"] != "gitleaks"]
    assert not [text for text in hard if any(hit.blocks for hit in shapes_in(text))]


@pytest.mark.skipif(not SHARED.exists(), reason="the shared cases are not beside this project")
def test_the_shared_cases_come_out_as_they_say():
    for case in json.loads((SHARED / "cases/leaks.json").read_text()):
        if case["kind"] == "pattern":
            hits = shapes_in(case["text"])
            came = "block" if any(hit.blocks for hit in hits) else "warn" if hits else "allow"
            assert came == case["expect"], case["id"]

"""Cases that other scanners got wrong, and the ways to hide a value that were given to us."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nocturn.guard.scanner import REDACTED, Scanner
from nocturn.guard.shapes import shapes_in
from nocturn.testing import FixedSecrets

SHARED = Path(__file__).resolve().parents[3] / "shared"
FILE = SHARED / "cases" / "leaks.json"
CASES = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else []
WRITE = """
const {path, summary, content} = JSON.parse(nocturn.args[0]);
nocturn.memory.write(path, summary, content)
"""


def of_kind(kind):
    cases = [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]
    return cases or [pytest.param(None, marks=pytest.mark.skip("../shared/cases is not here"))]


def values_of(case):
    return FixedSecrets(**{f"SECRET_{at}": value for at, value in enumerate(case["vault"])})


@pytest.mark.parametrize("case", of_kind("vault"))
def test_a_value_of_the_vault_is_blocked_however_it_is_dressed(nocturn_workspace, case):
    text = case["text"]
    note = text if isinstance(text, dict) else {"path": "a.md", "summary": "s", "content": text}
    ws = nocturn_workspace(secrets=[values_of(case)])
    result = ws.run(WRITE, mode="watched", args=[json.dumps(note)])
    expected = {"block": "LEAK_BLOCKED", "allow": None}[case["expect"]]
    assert [call.code for call in result.calls] == [expected]
    assert (ws.path / "memory").exists() == (expected is None)


@pytest.mark.parametrize("case", of_kind("redact"))
def test_what_is_read_shows_nothing_of_a_value_and_all_of_the_rest(case):
    expected = case["expect"].replace("[R]", REDACTED)
    assert Scanner([values_of(case)]).redact(case["text"]) == expected


@pytest.mark.parametrize("case", of_kind("pattern"))
def test_a_shape_blocks_warns_or_is_none(case):
    blocks = {hit.blocks for hit in shapes_in(case["text"])}
    found = "block" if True in blocks else "warn" if blocks else "allow"
    assert found == case["expect"]


@pytest.fixture(scope="module")
def rates(load_benchmark):
    """What is caught of each class that was given, eight values each, always the same ones."""
    catch = load_benchmark("attacks.catch")
    given = catch.given_set(SHARED)
    if given is None:
        pytest.skip("../shared/data/leaks is not here")
    catch.seed_all(4)

    def noted(encode):
        return lambda value: given.note(value, encode)

    notes = {name: noted(encode) for name, encode in given.encodings.items()}
    return list(catch.rates(notes, given.secrets(1), given.secrets(1)))


def test_most_ways_to_hide_a_value_are_seen_through(rates):
    shares = sorted(each.share for each in rates)
    assert len([share for share in shares if share >= 0.9]) >= 80
    assert len([share for share in shares if share >= 0.99]) >= 65


def test_no_way_to_hide_another_value_is_taken_for_one_of_the_vault(rates):
    assert {each.name: each.wrong for each in rates if each.wrong} == {}


def test_the_last_four_characters_of_a_value_may_be_told(rates):
    (allowed,) = [each for each in rates if each.name == "last 4 only (allowed)"]
    assert (allowed.small, allowed.large) == (0, 0)

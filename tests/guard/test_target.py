from __future__ import annotations

import json

import pytest

from nocturn.guard.shapes import public_characters
from nocturn.guard.target import targets_of
from nocturn.secret import Secret

KEY = "q7Xw2Lm9Zt4Kd8Rv1Bn6Hc3Jf5Gs0PyA"


def target_of(value):
    return next(targets_of(Secret("S", value), public_characters(value)))


def unknown_of(value):
    target = target_of(value)
    return "".join(c for c, bits in zip(value, target.bits, strict=True) if bits)


@pytest.mark.parametrize(
    "value",
    [
        f"ghp_{KEY}",
        f"sk-ant-api03-{KEY}",
        f"postgres://app:{KEY}@db.internal:5432/prod",
        f"https://api.example.com/v1/items?token={KEY}",
        f"DefaultEndpointsProtocol=https;AccountName=store;AccountKey={KEY}",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiAiMTIzNCJ9.{KEY}",
        json.dumps({"type": "service_account", "project_id": "blue", "key": KEY}),
        f"[default]\nregion = eu-west-1\nsecret_key = {KEY}\n",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiAi{'x' * 12}{KEY}",
        f"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA{'x' * 40}{KEY}{KEY}",
        f"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI{KEY}{KEY}",
    ],
)
def test_only_what_a_format_does_not_give_away_is_unknown(value):
    assert unknown_of(value).replace(KEY, "") == ""


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        ("f3a90c5e7b1d82640fe7b93ac5d18264", 128),
        ("AKIA2Z4YXW6VUT3SRQ7P", 80),
        (f"ghp_{KEY}", 32 * 5.954),
        ("9f3b6e8c2a7d1504f9b3", 80),
    ],
)
def test_a_random_value_counts_the_bits_of_its_alphabet(value, bits):
    assert target_of(value).unknown == pytest.approx(bits, abs=0.1)


@pytest.mark.parametrize("value", ["correct horse battery staple", "winter-in-the-mountains"])
def test_words_count_less_than_their_letters(value):
    assert target_of(value).unknown < 2.5 * len(value)


def test_nothing_is_looked_for_of_a_value_under_four_characters():
    assert [*targets_of(Secret("S", "abc"), 0)] == []


def test_a_part_that_is_strong_is_found_as_a_piece_and_a_short_one_by_itself():
    text = json.dumps({"long": KEY, "short": "q7Xw2Lm9Zt"})
    values = {each.value.decode() for each in targets_of(Secret("S", text), 0)}
    assert values == {text, text.replace(" ", ""), "q7Xw2Lm9Zt"}


def test_no_value_is_in_a_repr():
    assert KEY not in repr(target_of(KEY))

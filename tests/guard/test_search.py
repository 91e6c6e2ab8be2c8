"""A text of any length is looked through in windows that overlap: nothing falls between two."""

import itertools

import pytest

from nocturn.guard import search as module
from nocturn.guard.search import search

GITHUB = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1z2A"
VALUE = "correct-horse-battery-9931"


@pytest.fixture
def small(monkeypatch):
    """Windows small enough to be cut everywhere."""
    monkeypatch.setattr(module, "_BEFORE", 64)
    monkeypatch.setattr(module, "_AFTER", 128)
    monkeypatch.setattr(module, "_OWN", 256)


def places(pieces, scanner):
    return [(each.line, each.column, each.rule or each.secret) for each in search(pieces, scanner)]


def test_a_value_and_a_shape_are_found_with_line_and_column(scanner_of):
    text = f"one\ntwo {GITHUB}\r\n\n  é🔑{VALUE}\n"
    assert places([text], scanner_of(VALUE)) == [(2, 5, "github-token"), (4, 5, "SECRET_0")]
    assert [each.blocks for each in search([text], scanner_of(VALUE))] == [True, True]
    assert not any(
        VALUE in each.what or GITHUB in each.what for each in search([text], scanner_of(VALUE))
    )


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("filler", ["x", "ab\n"])
@pytest.mark.parametrize("piece", [7, 100, 4_000])
def test_what_lies_across_a_border_is_found_once_and_where_it_is(scanner_of, filler, piece):
    scanner = scanner_of(VALUE)
    for at in range(0, 700, 23):
        before = (filler * 1_000)[:at] + " "
        text = f"{before}{GITHUB} {VALUE} end {filler * 300}"
        pieces = [text[n : n + piece] for n in range(0, len(text), piece)]
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        assert places(pieces, scanner) == [
            (line, column, "github-token"),
            (line, column + len(GITHUB) + 1, "SECRET_0"),
        ]


@pytest.mark.usefixtures("small")
def test_a_token_in_a_word_is_none_where_a_window_begins_either(scanner_of):
    for at in range(200, 500):
        assert places(["x" * at + GITHUB + " " * 600], scanner_of()) == []


@pytest.mark.usefixtures("small")
def test_every_one_of_many_is_found_in_order(scanner_of):
    text = "".join(f"{GITHUB}\n" for _ in range(100))
    assert places([text], scanner_of()) == [(n, 1, "github-token") for n in range(1, 101)]


def test_it_reads_no_further_than_it_must_and_never_all(scanner_of):
    endless = itertools.chain([f"{GITHUB}\n"], itertools.repeat("word " * 20_000))
    assert next(search(endless, scanner_of())).rule == "github-token"


def test_nothing_is_nothing(scanner_of):
    assert places([], scanner_of(VALUE)) == places([""], scanner_of(VALUE)) == []

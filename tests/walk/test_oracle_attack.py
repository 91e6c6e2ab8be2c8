"""The oracle attack of ``scripts/bench leaks``, shorter: no strategy may learn a character.

The same strategies must find the value out where a scanner answers as it should not, or they would
say nothing.
"""

from __future__ import annotations

import pytest

from nocturn.errors import LEAK_BLOCKED, NocturnError
from nocturn.guard import screen
from nocturn.guard.scanner import REDACTED, Scanner
from nocturn.guard.screen import Screen
from nocturn.store.vault import Vault

PREFIX = "sk-ant-api03-"


@pytest.fixture
def outcomes(load_benchmark, monkeypatch):
    """Runs the attack with few letters, the right ones among them; returns it by strategy."""
    values = load_benchmark("attacks.values")
    oracle = load_benchmark("attacks.oracle")
    monkeypatch.setattr(screen, "BLOCKS_A_RUN", screen.BLOCKS_A_RUN)  # put back afterwards

    def run(only=None, *, letters=3, notes=8, pieces=(1, 2, 3, 4)):
        values.RANDOM.seed(4)
        budget = oracle.Budget(letters, notes=notes, rounds=2, pieces=pieces, narrowing_runs=40)
        return {each.strategy: each for each in oracle.attack(budget, only)}

    return run


def test_a_guest_that_only_sees_yes_and_no_learns_no_character(outcomes):
    found = outcomes(letters=2, notes=3, pieces=(2,))
    assert len(found) == 19
    assert {name: each.recovered for name, each in found.items() if each.recovered} == {}
    assert {name: each.differing for name, each in found.items() if each.differing} == {}
    assert sum(each.calls for each in found.values()) > 300


@pytest.fixture
def kept(monkeypatch):
    """What was put into a vault, the last of it being what the attack is after."""
    values: list[str] = []
    put = Vault.set

    def keep(self, name, value):
        values.append(value)
        put(self, name, value)

    monkeypatch.setattr(Vault, "set", keep)
    return values


def block(monkeypatch, is_leak):
    """Has the screen block what it should not; it is asked about a call, and about a run so far."""
    seen: dict[str, str] = {}

    def check(_, caller, tool, raw, canonical, named=(), read=()):  # noqa: ARG001 - as it is called
        seen[caller.run] = seen.get(caller.run, "") + "\n".join(raw)
        if is_leak(raw, seen[caller.run]):
            raise NocturnError(LEAK_BLOCKED, "blocked", tool=tool)
        return ()

    monkeypatch.setattr(Screen, "check", check)


def test_a_scanner_that_counts_the_public_prefix_is_found_out(outcomes, kept, monkeypatch):
    def is_leak(texts, _):
        windows = [kept[-1][at : at + 14] for at in range(len(kept[-1]) - 13)]
        return any(window in text for text in texts for window in windows)

    block(monkeypatch, is_leak)
    (found,) = outcomes("one letter more, by every call").values()
    assert found.recovered == 1  # the one that is among the letters
    assert found.differing > 0


def test_a_scanner_that_counts_small_pieces_over_a_run_is_found_out(outcomes, kept, monkeypatch):
    def is_leak(_, seen):
        unknown = kept[-1][len(PREFIX) : -2]
        return any(unknown[at : at + 2] in seen for at in range(0, 40, 2))

    block(monkeypatch, is_leak)
    (found,) = outcomes("all pieces of 2 of twelve right letters, then halving").values()
    assert found.recovered == 2


def test_a_reader_that_strikes_small_pieces_out_is_found_out(outcomes, kept, monkeypatch):
    redact = Scanner.redact

    def striking(self, text):
        return redact(self, text.replace(kept[-1][len(PREFIX) :][:2], REDACTED))

    monkeypatch.setattr(Scanner, "redact", striking)
    (found,) = outcomes("what reading back strikes out", letters=64).values()
    assert found.recovered == 2
    assert found.differing > 0

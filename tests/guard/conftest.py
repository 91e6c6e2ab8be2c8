"""Small stand-ins for the rooms that the guard does not know."""

from __future__ import annotations

import threading

import pytest

from nocturn.effects import Mode
from nocturn.guard.caller import Caller
from nocturn.guard.scanner import Scanner
from nocturn.secret import Secret


class MemoryGrants:
    def __init__(self, *grants):
        self.grants = list(grants)
        self.error = None

    def load(self):
        return tuple(self.grants)

    def add(self, grant):
        if self.error:
            raise self.error
        self.grants.append(grant)


class MemoryJournal:
    def __init__(self):
        self.entries = []

    def append(self, entry, *, durable, content=None):  # noqa: ARG002 - the port names it
        self.entries.append(dict(entry))

    def leak_blocks_of(self, agent):
        return sum(entry["agent"] == agent for entry in self.entries)


class CountingClock:
    """Counts its pauses; a real one is a number of pauses too."""

    def __init__(self):
        self.paused = 0
        self.history = []
        self.lock = threading.Lock()

    def pause(self):
        with self.lock:
            self.paused += 1
            self.history.append("pause")

    def resume(self):
        with self.lock:
            self.paused -= 1
            self.history.append("resume")


class Vault:
    def __init__(self, *values):
        self.values = values

    def secrets(self):
        return [Secret(f"SECRET_{at}", value) for at, value in enumerate(self.values)]


@pytest.fixture
def grants():
    return MemoryGrants()


@pytest.fixture
def journal():
    return MemoryJournal()


@pytest.fixture
def scanner_of():
    return lambda *values: Scanner([Vault(*values)])


@pytest.fixture
def make_caller():
    def make(mode=Mode.GUARDED, agent="lina-bot", *, named=True, alive=lambda: True):
        return Caller(
            agent=agent,
            named=named,
            mode=mode,
            run="run-1",
            cage=None,
            script="remember.js",
            clock=CountingClock(),
            alive=alive,
        )

    return make

"""For the tests of your own tools: fakes for each port, and a workspace that is gone afterwards.

::

    # conftest.py
    pytest_plugins = ["nocturn.testing"]

    # test_mail.py
    def test_mail_asks_before_it_sends(nocturn_workspace):
        person = RecordingApprover(answer=False)
        ws = nocturn_workspace(tools=[send_mail], approver=person)
        result = ws.run("nocturn.call('send_mail', {to: 'lina', text: 'hi'})", mode="watched")
        assert result.error.code == "GATE_DENIED"
        assert [q.effects[0].target for q in person.questions] == ["lina"]
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from nocturn.secret import Secret
from nocturn.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from nocturn.effects import Grant
    from nocturn.guard.question import Question

__all__ = [
    "FixedSecrets",
    "MemoryGrants",
    "MemoryJournal",
    "RecordingApprover",
    "nocturn_workspace",
]


class RecordingApprover:
    """An :class:`~nocturn.guard.ports.Approver` that gives one answer and keeps the questions."""

    def __init__(self, answer: object = True) -> None:
        self.answer = answer
        self.questions: list[Question] = []

    def ask(self, question: Question) -> object:
        """Keeps the question; returns the answer, or what it returns where it is a function."""
        self.questions.append(question)
        return self.answer(question) if callable(self.answer) else self.answer


class FixedSecrets:
    """A :class:`~nocturn.guard.ports.SecretSource` over values given by name."""

    def __init__(self, **values: str) -> None:
        self._values = values

    def secrets(self) -> list[Secret]:
        """Returns them."""
        return [Secret(name, value) for name, value in self._values.items()]


class MemoryGrants:
    """A :class:`~nocturn.guard.ports.GrantStore` without a file."""

    def __init__(self, *grants: Grant) -> None:
        self.grants = list(grants)

    def load(self) -> tuple[Grant, ...]:
        """Returns them."""
        return tuple(self.grants)

    def add(self, grant: Grant) -> None:
        """Keeps one."""
        self.grants.append(grant)


class MemoryJournal:
    """A :class:`~nocturn.guard.ports.Journal` without a file."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def append(
        self, entry: Mapping[str, Any], *, durable: bool, content: bytes | None = None
    ) -> None:
        """Keeps one entry, and under ``durable`` whether it had to be; no content."""
        told = {} if content is None else {"content": hashlib.sha256(content).hexdigest()[:32]}
        self.entries.append({**entry, **told, "durable": durable})

    def is_there(self) -> bool:
        """Keeps whatever it is given."""
        return True

    def leak_blocks_of(self, agent: str) -> int:
        """Counts them."""
        return sum(e.get("code") == "LEAK_BLOCKED" and e["agent"] == agent for e in self.entries)


@pytest.fixture
def nocturn_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Workspace]]:
    """Makes workspaces under ``tmp_path``, with their data folder; takes Workspace's arguments."""
    monkeypatch.setenv("NOCTURN_DATA", str(tmp_path / "data"))
    made: list[Workspace] = []

    def make(path: str | Path = "workspace", **options: Any) -> Workspace:
        made.append(Workspace(tmp_path / path, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()

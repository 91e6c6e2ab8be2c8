"""What the guard needs from the rooms that it does not know."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, Protocol

from nocturn.errors import ConfigurationError
from nocturn.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from nocturn.effects import Grant
    from nocturn.guard.question import Question

__all__ = [
    "NO_ANSWER",
    "Approver",
    "Clock",
    "EnvironmentSecrets",
    "GrantStore",
    "Journal",
    "Outcome",
    "QuestionBox",
    "SecretSource",
    "Waiting",
]

NO_ANSWER: Final = object()
"""What an approver returns when nobody answered in time: a timeout, told apart from a no."""


class SecretSource(Protocol):
    """Where secrets come from."""

    def secrets(self) -> Iterable[Secret]:
        """Returns every secret that must not leave.

        Raises:
            ConfigurationError: They cannot be read; nothing is scanned, so nothing may pass.
        """
        ...


class GrantStore(Protocol):
    """Where the yeses are that outlast a session."""

    def load(self) -> tuple[Grant, ...]:
        """Returns the grants as they are now.

        Raises:
            ConfigurationError: They are broken or not to be trusted.
        """
        ...

    def add(self, grant: Grant) -> None:
        """Remembers a grant; once this returns, it is kept.

        Raises:
            NocturnError: ``STORAGE``, it could not be kept.
        """
        ...


class Journal(Protocol):
    """Where it is written down what happened."""

    def append(
        self, entry: Mapping[str, Any], *, durable: bool, content: bytes | None = None
    ) -> None:
        """Writes one entry.

        Args:
            entry: What happened, JSON-able; never content, never a secret's value.
            durable: Whether it must be on disk when this returns.
            content: What the call would write, to be told apart by a keyed hash, never kept.

        Raises:
            NocturnError: ``STORAGE``, it could not be written.
        """
        ...

    def is_there(self) -> bool:
        """Returns whether an entry that need not be durable would be kept."""
        ...

    def leak_blocks_of(self, agent: str) -> int:
        """Returns how many calls of this agent were leak-blocked, over all its runs."""
        ...


class Approver(Protocol):
    """Whoever asks a person.

    An approver may carry ``timeout_seconds``, a float above 0: how long a person has. One that
    keeps that time itself says in ``grace_seconds`` how much longer the gate waits for it. While
    its ``attended`` is True a person is at work on the answer, and that time does not run.
    """

    def ask(self, question: Question) -> object:
        """Puts a question and returns the answer.

        Args:
            question: What is asked, with the answers on offer.

        Returns:
            ``True`` (once), an option that the question offers, or its value as a string; an
            ``Edited`` text where the question has one. :data:`NO_ANSWER` when nobody answered.
            Everything else is a no.
        """
        ...


class Waiting(Protocol):
    """A question that was put where a person finds it."""

    @property
    def id(self) -> str:
        """What the person calls it."""
        ...

    @property
    def wait(self) -> Callable[[Callable[[], bool]], Outcome]:
        """Waits for what becomes of it, as long as its argument says that one is wanted."""
        ...


class Outcome(Protocol):
    """What became of it."""

    @property
    def state(self) -> str:
        """``answered``, or else nobody did."""
        ...

    @property
    def answer(self) -> str | None:
        """The value of the option that was chosen; None for a no."""
        ...


class QuestionBox(Protocol):
    """Where questions wait for a person who is elsewhere."""

    def ask(self, question: Mapping[str, Any], seconds: float) -> AbstractContextManager[Waiting]:
        """Puts a question, which waits as long as the context is open.

        Raises:
            ConfigurationError: The box is broken or not ours.
            NocturnError: ``STORAGE``, it could not be put.
        """
        ...


class Clock(Protocol):
    """A run's clocks. Calls come from several threads and overlap: a clock counts its pauses."""

    def pause(self) -> None:
        """Stands still, since the run now waits for a person."""
        ...

    def resume(self) -> None:
        """Goes on, once for each pause."""
        ...


class EnvironmentSecrets:
    """The values of named environment variables, read once, here.

    Args:
        *names: The variables' names; each is also its secret's name.

    Raises:
        ConfigurationError: A variable is not set, is empty or is not UTF-8 (naming it). To go on
            without it would leave the value that was meant unguarded.
    """

    def __init__(self, *names: str) -> None:
        self._secrets = tuple(_from_environment(name) for name in names)

    def secrets(self) -> tuple[Secret, ...]:
        """Returns the secrets as they were when this source was made."""
        return self._secrets


def _from_environment(name: str) -> Secret:
    value = os.environ.get(name, "")
    if not value:
        msg = f"the secret's environment variable {name} is not set or empty: set it or drop it"
        raise ConfigurationError(msg)
    if any("\ud800" <= character <= "\udfff" for character in value):
        msg = f"the secret's environment variable {name} is not UTF-8: give it a text value"
        raise ConfigurationError(msg)
    return Secret(name, value)

"""Fresh secrets in common formats, ordinary words, and a source that holds the former."""

from __future__ import annotations

import base64
import json
import random
import string
from typing import TYPE_CHECKING, Final

from nocturn.guard.scanner import Scanner
from nocturn.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LETTERS", "RANDOM", "Values", "characters", "fresh", "scanner", "words"]

RANDOM: Final = random.Random()  # noqa: S311 - seeded and printed, so that a run can be repeated
LETTERS: Final = string.ascii_letters + string.digits
_WORDS: Final = (  # noqa: SIM905 - words read better in a line
    "the garden needs water before noon and our cat sleeps under a warm lamp while rain falls on "
    "every roof in town so nobody walks home without an old umbrella or thick boots"
).split()


class Values:
    """A source of secrets over values without names of their own.

    Args:
        values: The values; the one at place 7 is named ``secret 7``.
    """

    def __init__(self, values: Sequence[str]) -> None:
        self._values = tuple(values)

    def secrets(self) -> list[Secret]:
        """Returns them."""
        return [Secret(f"secret {at}", value) for at, value in enumerate(self._values)]


def scanner(values: Sequence[str]) -> Scanner:
    """Returns a scanner that has read the values; making it is not part of what is timed."""
    made = Scanner([Values(values)])
    made.names("warm")
    return made


def characters(count: int, alphabet: str = LETTERS) -> str:
    """Returns that many characters, each drawn evenly from an alphabet."""
    return "".join(RANDOM.choices(alphabet, k=count))


def words(count: int) -> str:
    """Returns that many ordinary words."""
    return " ".join(RANDOM.choices(_WORDS, k=count))


def fresh(count: int) -> list[str]:
    """Returns that many new values, the formats in turn: two calls agree place by place."""
    return [_FORMATS[at % len(_FORMATS)]() for at in range(count)]


def _token() -> str:
    payload = json.dumps({"sub": characters(10), "iat": RANDOM.randrange(10**9)}).encode()
    middle = base64.urlsafe_b64encode(payload).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{middle}.{characters(43, LETTERS + '-_')}"


_FORMATS: Final = (
    lambda: f"sk-ant-api03-{characters(40, LETTERS + '_-')}AA",
    lambda: f"ghp_{characters(36)}",
    lambda: f"AKIA{characters(16, string.ascii_uppercase + '234567')}",
    lambda: characters(40, LETTERS + "/+"),
    lambda: characters(32, "0123456789abcdef"),
    lambda: f"postgres://app:{characters(14, LETTERS + '!$*')}@db.internal:5432/prod",
    lambda: characters(16, LETTERS + "!@#$%^&*()"),
    _token,
)

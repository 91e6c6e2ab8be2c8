"""Who may come in: whoever holds a link that was shown in the terminal, once for each link."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Door"]

_TOKEN_BYTES: Final = 32


class Door:
    """Gives a session for a link's token. Safe to use from many threads.

    A session lasts until it is left or the server ends; it is kept as a hash only.

    Args:
        show: Told each new token: the first, and the next one whenever one has been used.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._lock = threading.Lock()
        self._sessions: set[bytes] = set()
        self._link = b""  # which is no token's hash

    def open(self) -> None:
        """Shows the first link; before that, nobody comes in."""
        with self._lock:
            self._make_link()

    def enter(self, token: str) -> str | None:
        """Uses a link up.

        Returns:
            A session; None where the token is not that of the link that was shown last.
        """
        with self._lock:
            if not hmac.compare_digest(_hash(token), self._link):
                return None
            session = secrets.token_urlsafe(_TOKEN_BYTES)
            self._sessions.add(_hash(session))
            self._make_link()
            return session

    def is_inside(self, session: str) -> bool:
        """Whether this is a session that was given and has not been left."""
        given = _hash(session)
        with self._lock:
            # All of them are compared, so that the time says nothing about any.
            return sum(hmac.compare_digest(given, each) for each in self._sessions) > 0

    def leave(self, session: str) -> None:
        """Ends a session."""
        with self._lock:
            self._sessions.discard(_hash(session))

    def _make_link(self) -> None:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._link = _hash(token)
        self._show(token)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()

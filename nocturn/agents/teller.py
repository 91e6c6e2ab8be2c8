"""Tells whoever looks on what happens, one thing at a time, and nothing that is secret."""

from __future__ import annotations

import logging
import re
import threading
import traceback
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.events import Retrying, TextDelta
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.agents.events import Event

__all__ = ["Teller"]

_LOG: Final = logging.getLogger("nocturn")

_UNFINISHED: Final = re.compile(r"[!-~]{1,4096}\Z")
"""What a secret may begin in: a piece that ends so is told once the word has ended."""
_MARK: Final = "[REDACTED]"


class Teller:
    """Tells one listener; what it does with an event, and whether it breaks, changes nothing.

    Args:
        listener: Who is told; None for nobody.
        redacted: Takes every secret out of what JSON can hold.
        key: The endpoint's key: a weak one is looked for nowhere else.
    """

    def __init__(
        self,
        listener: Callable[[Event], None] | None,
        redacted: Callable[[Any], Any],
        key: str,
    ) -> None:
        self._listener = listener
        self._redacted = redacted
        self._key = key
        self._lock = threading.Lock()
        self._held = ""

    def __call__(self, event: Event) -> None:
        """Tells of an event."""
        if self._listener is None:
            return
        with self._lock:
            if isinstance(event, TextDelta):
                text = self._held + event.text
                unfinished = _UNFINISHED.search(text)
                end = len(text) if unfinished is None else unfinished.start()
                self._held = text[end:]
                self._say(text[:end])
                return
            if isinstance(event, Retrying):
                self._held = ""  # void, as all that was said of this turn
                why = visible(self._clean(event.why), keep="")
                event = Retrying(event.attempt, event.wait_seconds, why)
            held, self._held = self._held, ""
            self._say(held)
            self._tell(event)

    def _say(self, text: str) -> None:
        if text:
            self._tell(TextDelta(self._clean(text)))

    def _tell(self, event: Event) -> None:
        try:
            if self._listener is not None:
                self._listener(event)
        except Exception:  # noqa: BLE001 - whoever looks on decides nothing
            _LOG.error("on_event broke\n%s", visible(self._clean(traceback.format_exc())))

    def _clean(self, text: str) -> str:
        text = text.encode("utf-8", "replace").decode()
        cleaned: str = self._redacted(text.replace(self._key, _MARK))
        return cleaned

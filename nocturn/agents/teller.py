"""Tells whoever looks on what happens, one thing at a time, and nothing that is secret."""

from __future__ import annotations

import logging
import threading
import traceback
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, Final

from nocturn.agents.events import Retrying, TextDelta
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.agents.events import Event

__all__ = ["Teller"]

_LOG: Final = logging.getLogger("nocturn")

_WORD: Final = "".join(map(chr, range(ord("!"), ord("~") + 1)))
"""What a secret may begin in: a piece that ends in it is told once the word has ended."""
_HELD_CHARACTERS: Final = 4_096
_TAIL_CHARACTERS: Final = 1_024
"""What of the words before is looked at once more: a secret may have blanks in it, too."""
_MARK: Final = "[REDACTED]"


class Teller:
    """Tells one listener; what it does with an event, and whether it breaks, changes nothing.

    Args:
        listener: Who is told; None for nobody.
        redacted: Takes every secret out of what JSON can hold.
        key: The endpoint's key. A weak one, such as ``none``, is looked for where an error may
            quote it, and not in what the model says.
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
        self._tail = ""
        self._told = ""

    def __call__(self, event: Event) -> None:
        """Tells of an event."""
        if self._listener is None:
            return
        with self._lock:
            if isinstance(event, TextDelta):
                text = self._held + event.text
                # No pattern, which would try at each place anew: a word may have megabytes.
                end = max(len(text.rstrip(_WORD)), len(text) - _HELD_CHARACTERS)
                self._held = text[end:]
                self._say(text[:end])
                return
            if isinstance(event, Retrying):
                self._held = ""  # void, as all that was said of this turn
                why = visible(self._clean(event.why), keep="")
                event = Retrying(event.attempt, event.wait_seconds, why)
            held, self._held = self._held, ""
            self._say(held)
            self._tail = self._told = ""
            self._tell(event)

    def _say(self, text: str) -> None:
        """Tells of what there is to tell anew, the words before being known."""
        if not text:
            return
        self._tail += _utf8(text)
        told = self._redacted(self._tail)
        same = len(commonprefix([self._told, told]))  # noqa: RUF071 - texts, no paths
        if new := told[same:]:
            self._tell(TextDelta(new))
        if len(self._tail) > 2 * _TAIL_CHARACTERS:  # not each time: it costs a look of its own
            self._tail = self._tail[-_TAIL_CHARACTERS:]
            told = self._redacted(self._tail)
        self._told = told

    def _tell(self, event: Event) -> None:
        try:
            if self._listener is not None:
                self._listener(event)
        except BaseException:  # noqa: BLE001 - whoever looks on decides nothing; SystemExit, too
            _LOG.error("on_event broke\n%s", visible(self._clean(traceback.format_exc())))

    def _clean(self, text: str) -> str:
        cleaned: str = self._redacted(_utf8(text).replace(self._key, _MARK))
        return cleaned


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()

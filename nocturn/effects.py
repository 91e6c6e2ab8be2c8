"""What a call would do, and the proof that it may: the words that guard, store and tools share.

``Effect`` is what the gate rules on. ``Clearance`` is what a store asks for before it writes; only
the gate makes one. ``Grant`` is a remembered yes.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Final, NoReturn

__all__ = ["Clearance", "Effect", "Grant", "Mode", "Preview", "Recall", "binding"]

_BINDING: Final = b"nocturn binding 1"
"""Says what is hashed and in which form, so that no other hash of ours can be taken for one."""


class Mode(Enum):
    """Who is there to ask. The first is the safest, and the default everywhere."""

    STRICT = "strict"
    """Nobody is asked: what would ask is refused."""
    GUARDED = "guarded"
    """Nobody looks on; questions go out of band."""
    WATCHED = "watched"
    """A person looks on."""


class Recall(IntEnum):
    """How long a yes may last, shortest first. A policy's recall is a ceiling."""

    NEVER = 0
    SESSION = 1
    """Until the ``Workspace`` object closes; on the command line, one command."""
    ALWAYS = 2


@dataclass(frozen=True, slots=True, order=True)
class Effect:
    """One thing that a call would do.

    Attributes:
        kind: The domain, such as ``memory``.
        verb: What is done there, such as ``write``, ``remove``, ``move``.
        target: What it is done to; for ``memory`` the note's canonical path.
    """

    kind: str
    verb: str
    target: str

    def to_dict(self) -> dict[str, str]:
        """Returns the effect as ``{"kind", "verb", "target"}``."""
        return {"kind": self.kind, "verb": self.verb, "target": self.target}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would change, as a person is shown it.

    Attributes:
        after: The whole text that would be there; None where the call removes or has no text.
        before: The whole text that is there now; None where nothing is.
        version: The version token of ``before``; None where nothing is there.
    """

    after: str | None = None
    before: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """A remembered yes of one agent.

    Attributes:
        agent: Whose grant it is.
        kind: As in :class:`Effect`.
        verb: As in :class:`Effect`.
        target: The exact target, or, with ``folder``, the folder whose direct children are covered
            (``people`` for ``people/*``). A ``*`` in it is always the character, never a pattern.
        folder: Whether the grant is for the folder's direct children.
    """

    agent: str
    kind: str
    verb: str
    target: str
    folder: bool = False

    def covers(self, agent: str, effect: Effect) -> bool:
        """Returns whether this grant lets ``agent`` do ``effect``."""
        if (self.agent, self.kind, self.verb) != (agent, effect.kind, effect.verb):
            return False
        if self.folder:
            parent, slash, _ = effect.target.rpartition("/")
            return bool(slash) and parent == self.target
        return effect.target == self.target


def binding(effects: tuple[Effect, ...], content: bytes) -> str:
    """Returns what ties a yes to exactly these effects with exactly this content.

    Whoever shows a question keeps it by this, and whoever answers gives it back: a yes to one
    thing is no yes to another.

    Args:
        effects: All that a call would do, in its order.
        content: Exactly the bytes that it would write; empty where it writes none.

    Returns:
        SHA-256 in hex, over a form in which every part has its length before it.
    """
    parts = [part.encode("utf-8", "surrogatepass") for e in effects for part in _parts(e)]
    bound = hashlib.sha256(_BINDING)
    for part in (*parts, content):
        bound.update(b"%d:" % len(part))
        bound.update(part)
    return bound.hexdigest()


def _parts(effect: Effect) -> tuple[str, str, str]:
    return effect.kind, effect.verb, effect.target


class _OnlyTheGate(type):
    """Refuses ``Clearance(...)``: a proof that anybody could write proves nothing."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        msg = f"{cls.__name__} is made by the gate only: let the dispatcher run the tool"
        raise TypeError(msg)

    def _issue(cls, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)


@dataclass(slots=True)
class Clearance(metaclass=_OnlyTheGate):
    """Proof that exactly these effects, with exactly this content, were cleared. Good for one use.

    Attributes:
        effects: What was cleared.
        digest: The :func:`binding` of these effects and the content that was cleared.
        expected: The version that a person was shown and that must still be there; None where
            nobody was asked or nothing was there.
        asked: Whether a person was asked.
        ruling: What let it through: ``allow``, ``grant``, ``once``, ``session``, ``always`` or
            ``widen``.
    """

    effects: tuple[Effect, ...]
    digest: str
    expected: str | None
    asked: bool
    ruling: str
    _spent: bool = field(default=False, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def spend(self, effects: tuple[Effect, ...], content: bytes) -> None:
        """Uses the clearance up for this deed.

        Args:
            effects: Exactly what is about to be done.
            content: Exactly the bytes that are about to be written.

        Raises:
            PermissionError: The clearance is for something else, or was used before. A bug or an
                attack, never a user's mistake, so it isn't a ``NocturnError``.
        """
        with self._lock:
            if self._spent:
                msg = "this clearance was used before"
                raise PermissionError(msg)
            if effects != self.effects or binding(effects, content) != self.digest:
                msg = "this clearance is for other effects or other content"
                raise PermissionError(msg)
            self._spent = True

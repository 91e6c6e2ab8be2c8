"""What a call would do, and the proof that it may: the words that guard, store and tools share.

``Effect`` is what the gate rules on. ``Clearance`` is what a store asks for before it writes; only
the gate makes one. ``Grant`` is a remembered yes.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Clearance", "Effect", "Grant", "Mode", "Preview", "Recall", "binding", "iso"]

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
        bound: What a clearance is tied to where that is not ``after``: of a change that is applied
            to whatever is there, the change. With ``version``, ``after`` follows from it.
    """

    after: str | None = None
    before: str | None = None
    version: str | None = None
    bound: bytes | None = None


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
        made_at: When it was given, in UTC; None where that was not kept. Two grants that differ in
            nothing else are the same.
        expires_at: When it ends, in UTC; None for never.
    """

    agent: str
    kind: str
    verb: str
    target: str
    folder: bool = False
    made_at: datetime | None = field(default=None, compare=False)
    expires_at: datetime | None = None

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that stay the same, whenever it was given and for how long."""
        # ascii, not repr: what repr escapes depends on Python's version of Unicode.
        what = ascii((self.agent, self.kind, self.verb, self.target, self.folder))
        return hashlib.sha256(what.encode()).hexdigest()[:8]

    @property
    def pattern(self) -> str:
        r"""The target as a policy's pattern: ``people/*`` for a folder, ``\*`` for a star."""
        target = self.target.replace("\\", "\\\\").replace("*", "\\*")
        return f"{target}/*" if self.folder else target

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        if self.expires_at is None:
            return False
        from datetime import UTC, datetime

        return datetime.now(UTC) >= self.expires_at

    def covers(self, agent: str, effect: Effect) -> bool:
        """Returns whether this grant lets ``agent`` do ``effect``."""
        return not self.miss(agent, effect)

    def miss(self, agent: str, effect: Effect) -> str:
        """Returns why this grant does not let ``agent`` do ``effect``; empty where it does.

        A folder's grant is for what is right in it. Targets of tools of one's own need not be in
        canonical form, and ``people/..`` is not in ``people``.
        """
        if self.agent != agent:
            return "it is another agent's"
        if (self.kind, self.verb) != (effect.kind, effect.verb):
            return f"it is for {self.kind} {self.verb}"
        if not self.folder and effect.target != self.target:
            return "it is for that target alone"
        if self.folder:
            parent, slash, child = effect.target.rpartition("/")
            if not slash or parent != self.target:
                return "it is for what is right in that folder"
            if child in ("", ".", "..") or "\\" in child:
                return "the target is not in canonical form"
        return "it has expired" if self.expired else ""

    def to_dict(self) -> dict[str, str | bool | None]:
        """Returns all there is to say of it; times are ISO 8601 in UTC."""
        return {
            "id": self.id,
            "agent": self.agent,
            "kind": self.kind,
            "verb": self.verb,
            "target": self.target,
            "folder": self.folder,
            "made_at": iso(self.made_at),
            "expires_at": iso(self.expires_at),
            "expired": self.expired,
        }


def iso(moment: datetime | None) -> str | None:
    """Returns a moment in UTC as ISO 8601 in seconds, with ``Z``; None for None."""
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


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
        run: The run that it was cleared for.
        agent: Whose run that is.
    """

    effects: tuple[Effect, ...]
    digest: str
    expected: str | None
    asked: bool
    ruling: str
    run: str = ""
    agent: str = ""
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

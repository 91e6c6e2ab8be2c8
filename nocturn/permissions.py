"""``ws.permissions``: what may be done in a workspace, and why.

The guard rules and the store keeps; this is where a person looks at both, and where a policy, the
grants and the book of trust are put together for the gate.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.effects import Effect, Grant, Mode, Recall
from nocturn.errors import (
    BAD_ARGUMENTS,
    CONFLICT,
    LEAK_BLOCKED,
    ConfigurationError,
    NocturnError,
)
from nocturn.guard.policy import DEFAULT, NOTE_VERBS, POLICY, Decision, Policy
from nocturn.names import agent_name, nfc, note_path
from nocturn.store.confined import Folder
from nocturn.store.data import data_folder
from nocturn.store.grants import GRANTS, GRANTS_BYTES, GrantFile
from nocturn.store.notes import is_note_name
from nocturn.store.trust import TrustBook
from nocturn.store.trusted import TrustedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nocturn.guard.policy import Ruling

__all__ = ["FILES", "Explanation", "Permissions", "Shown"]

FILES: Final = (POLICY, GRANTS)
"""The files that bring permissions, and that are taken only if they are trusted."""
_POLICY_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Explanation:
    """What would become of one effect.

    Attributes:
        effect: The effect.
        mode: The run's mode.
        agent: Whose run it is; empty for one without a name.
        ruling: What the policy says.
        grants: The grants that cover it.
    """

    effect: Effect
    mode: Mode
    agent: str
    ruling: Ruling
    grants: tuple[Grant, ...]

    @property
    def outcome(self) -> str:
        """``allow``, ``grant``, ``ask``, or why it is refused: ``policy``, ``unattended``."""
        if self.ruling.decision is Decision.ALLOW:
            return "allow"
        if self.ruling.decision is not Decision.ASK:
            return "policy"
        if self.grants and self.ruling.ceiling is Recall.ALWAYS:
            return "grant"
        return "unattended" if self.mode is Mode.STRICT else "ask"

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON can hold it."""
        rule = self.ruling.rule
        asks = self.ruling.decision is Decision.ASK
        return {
            "effect": self.effect.to_dict(),
            "mode": self.mode.value,
            "agent": self.agent or None,
            "outcome": self.outcome,
            "ruling": self.ruling.decision.name.lower(),
            "recall": self.ruling.ceiling.name.lower() if asks else None,
            "where": self.ruling.where,
            "rule": None if rule is None else rule.to_dict(),
            "grants": [each.to_dict() for each in self.grants],
        }


@dataclass(frozen=True, slots=True)
class Shown:
    """A file of permissions as it was read, to be shown and then, exactly so, trusted.

    Attributes:
        path: Where it is.
        data: Its bytes.
        trusted: Whether it is trusted already.
        policy: What it says where it is a policy.
        grants: What it says where it is grants.
    """

    path: Path
    data: bytes
    trusted: bool
    policy: Policy
    grants: tuple[Grant, ...]


class Permissions:
    """The policy, the grants and the trust of one workspace.

    Args:
        workspace: Its folder, which may be missing.
        redact: Takes secrets out of a text.
    """

    def __init__(self, workspace: Path, redact: Callable[[str], str] = str) -> None:
        self._workspace = workspace
        self._redact = redact
        self._book = TrustBook(data_folder())
        self._policy = TrustedFile(
            workspace / POLICY,
            self._book,
            _policy_of,
            limit_bytes=_POLICY_BYTES,
            otherwise="the built-in policy holds",
        )
        self.grants: Final = GrantFile(workspace / GRANTS, self._book)

    def policy(self) -> Policy:
        """Returns the policy as it is now: the file's rules over the built-in ones.

        Raises:
            ConfigurationError: The file is broken, cannot be read or is not trusted, or others
                could change it; it is left as it is.
        """
        return self._policy.load() or DEFAULT

    def explain(self, mode: Mode, effect: Effect, agent: str) -> Explanation:
        """Says what would become of an effect, in a run that has asked nobody yet.

        Args:
            mode: The run's mode.
            effect: What would be done, its target as the gate would have it: see :meth:`effect`.
            agent: Whose run it is; empty for one without a name.

        Raises:
            ConfigurationError: The policy or the grants cannot be used.
        """
        ruling = self.policy().ruling(mode, effect, agent)
        covering = tuple(each for each in self.grants.load() if each.covers(agent, effect))
        return Explanation(effect, mode, agent, ruling, covering)

    def effect(self, kind: str, verb: str, target: str) -> Effect:
        """Returns an effect in canonical form, as a call of a tool would have it.

        Raises:
            NocturnError: ``BAD_ARGUMENTS`` and as :func:`nocturn.names.note_path`.
        """
        for name, value in (("kind", kind), ("verb", verb), ("target", target)):
            if not value:
                raise NocturnError(BAD_ARGUMENTS, f"{name} is empty", detail={"field": name})
        return Effect(kind, verb, note_path(target) if kind == "memory" else target)

    def grant(
        self,
        agent: str,
        verb: str,
        target: str,
        *,
        kind: str = "memory",
        folder: bool = False,
        lasting: timedelta | None = None,
    ) -> Grant:
        """Gives a grant ahead of any question, as a person does for runs that ask nobody.

        Args:
            agent: The agent's name.
            verb: What it may do.
            target: To what; with ``folder``, the folder in whose direct children.
            kind: The kind of effect.
            folder: Whether the target is a folder.
            lasting: How long from now; None for always.

        Raises:
            NocturnError: ``BAD_ARGUMENTS``, and as :func:`nocturn.names.note_path`, for what is not
                usable; ``LEAK_BLOCKED``, a secret is in it; ``STORAGE``, it could not be kept.
            ConfigurationError: The grants cannot be used.
        """
        if kind == "memory" and verb not in NOTE_VERBS:
            known = ", ".join(sorted(NOTE_VERBS))
            message = f"verb is none of a note's, which are {known}"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "verb"})
        if lasting is not None and lasting <= timedelta(0):
            message = "lasting is not above zero: such a grant would cover nothing"
            raise NocturnError(BAD_ARGUMENTS, message, detail={"field": "lasting"})
        child = "/x.md" if folder else ""
        if folder:
            target = target.removesuffix("/*").rstrip("/")
        effect = self.effect(kind, verb, target + child)
        if self._redact(effect.target) != effect.target:
            raise NocturnError(LEAK_BLOCKED, "the target holds a secret: choose another name")
        now = datetime.now(UTC).replace(microsecond=0)
        given = Grant(
            agent_name(agent),
            kind,
            verb,
            effect.target.removesuffix(child),
            folder,
            now,
            None if lasting is None else now + lasting,
        )
        self.grants.add(given)
        return given

    def covered(self, grant: Grant) -> tuple[str, ...] | None:
        """Returns the notes that a grant covers now, sorted; None for one that is not for notes.

        Raises:
            NocturnError: ``PATH_ESCAPE`` or ``STORAGE``, where ``memory/`` cannot be opened.
        """
        if grant.kind != "memory":
            return None
        walk = Folder(self._workspace / "memory").walk()
        notes = (nfc(each.path) for each in walk if each.kind == "file" and is_note_name(each.name))
        effects = (Effect(grant.kind, grant.verb, each) for each in notes)
        return tuple(sorted(each.target for each in effects if grant.covers(grant.agent, each)))

    def read(self, name: str) -> Shown | None:
        """Reads one of :data:`FILES`, trusted or not; None where it is missing.

        Raises:
            ConfigurationError: It is broken, cannot be read, or others could change it.
        """
        file = self._file(name)
        data = file.read()
        if data is None:
            return None
        said, trusted = file.parsed(data), file.is_trusted(data)
        if isinstance(said, Policy):
            return Shown(file.path, data, trusted, said, ())
        return Shown(file.path, data, trusted, Policy(), said)

    def trust(self, shown: Shown) -> None:
        """Trusts a file in the content that was shown, and in no other.

        Raises:
            NocturnError: ``CONFLICT``, it has changed since it was read; ``STORAGE``.
            ConfigurationError: It cannot be read any more.
        """
        if self._file(shown.path.name).read() != shown.data:
            message = f"{shown.path.name} was changed since it was shown: look at it again"
            raise NocturnError(CONFLICT, message)
        self._book.record(shown.path, shown.data)

    def distrust(self, names: Iterable[str]) -> list[str]:
        """Trusts these files no more; returns the names of those that were trusted in any content.

        Raises:
            NocturnError: ``STORAGE``.
            ConfigurationError: The book of trust is broken.
        """
        return [each.name for each in self._book.forget(self._file(name).path for name in names)]

    def trusted_places(self) -> list[tuple[str, str]]:
        """Returns each file that was trusted, of any workspace, and how it is with it now.

        Raises:
            ConfigurationError: The book of trust is broken.
        """
        return [(path, self._state_of(path)) for path in sorted(self._book.entries())]

    def set_up(self) -> list[str]:
        """Makes the policy and ``memory/`` where they are missing; what is there stays as it is.

        Returns:
            What was made.

        Raises:
            NocturnError: ``STORAGE``, it could not be made.
            ConfigurationError: Others could change the folder, or the book of trust is broken.
        """
        made: list[str] = []
        if not os.path.lexists(self._policy.path):
            from nocturn.guard.policy_text import default_text

            self._policy.replace(default_text(), None)
            made.append(POLICY)
        memory = self._workspace / "memory"
        if not os.path.lexists(memory):
            with Folder(memory).place("x.md") as place:
                place.make_folder()
            made.append("memory/")
        return made

    def _file(self, name: str) -> TrustedFile[Any]:
        if name not in FILES:
            raise ConfigurationError(f"{name!r} brings no permissions: give {' or '.join(FILES)}")
        return self._policy if name == POLICY else self.grants.file

    def _state_of(self, path: str) -> str:
        file = TrustedFile(
            Path(path), self._book, bytes, limit_bytes=GRANTS_BYTES, otherwise="nothing is lost"
        )
        try:
            data = file.read()
        except ConfigurationError as error:
            return error.message
        if data is None:
            return "gone"
        return "trusted" if file.is_trusted(data) else "changed since"


def _policy_of(data: bytes) -> Policy:
    from nocturn.guard.policy_text import policy_of  # with pydantic, for a file that is there

    return policy_of(data)

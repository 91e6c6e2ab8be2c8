"""A workspace: one folder of memory, and the only module that knows every room.

It wires the rooms together, on first use, and holds nothing else: what a call may do is the
guard's business, what becomes of it the store's.
"""

from __future__ import annotations

import os
from functools import cached_property

from nocturn.errors import ConfigurationError, NocturnError
from nocturn.given import absolute, approver_given, modules_of, waitable
from nocturn.secrecy import Secrecy
from nocturn.stage import Stage
from nocturn.tools import BUILT_IN

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, and much else, would cost each cold start what it never uses
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any, Literal

    from nocturn.guard.asking import Asking
    from nocturn.guard.gate import Gate
    from nocturn.guard.ports import Approver, SecretSource
    from nocturn.guard.search import Found
    from nocturn.limits import Limits
    from nocturn.memory import Memory
    from nocturn.permissions import Permissions
    from nocturn.purge import Purge
    from nocturn.registry.dispatch import Dispatcher
    from nocturn.registry.tool import Tool
    from nocturn.store.grants import GrantFile
    from nocturn.store.inbox import Inbox
    from nocturn.store.notes import NoteStore
    from nocturn.store.trail import Trail
    from nocturn.store.vault import Vault
    from nocturn.stores import Stores

__all__ = ["Workspace"]


class Workspace(Stage):
    """One folder of memory, and the tools that guests may use on it.

    ::

        with Workspace("notes") as ws:
            result = ws.run(source, filename="remember.js", mode="watched")
            result.raise_for_error()
            print(ws.memory.catalog())

    Nothing is created by making one, by reading, or by a call that is refused.

    Args:
        path: The folder; it may not exist yet.
        approver: Who asks a person: an :class:`~nocturn.guard.ports.Approver`, or a function from
            the question to the answer. None: in mode ``guarded`` the inbox does, from which
            ``nocturn approvals`` or :attr:`inbox` answers; else what would ask is refused.
        tools: Tools of your own, made with :func:`nocturn.tool`.
        secrets: Where the values are that must not leave, beside the vault: each a
            :class:`~nocturn.guard.ports.SecretSource`.
        limits: The limits of a run that gives none of its own.
        modules: Sources that any script here may import, by name (``"greet"``, ``"my/greet"``).
        isolation: ``full``, or ``best-effort`` to run with whatever the machine has.
        ask_seconds: How long a question waits in the inbox; None for 120.

    Raises:
        ConfigurationError: The path is a file, a tool is none or has a name that is taken, or an
            argument is not what is asked for here.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        approver: Approver | Callable[[Any], Any] | None = None,
        tools: Iterable[Tool] = (),
        secrets: Iterable[SecretSource] = (),
        limits: Limits | None = None,
        modules: Mapping[str, str] | None = None,
        isolation: Literal["full", "best-effort"] = "full",
        ask_seconds: float | None = None,
    ) -> None:
        self._place = absolute(path)
        if os.path.exists(self._place) and not os.path.isdir(self._place):
            folder = os.path.basename(self._place)
            raise ConfigurationError(f"the workspace {folder} is a file: name a folder")
        super().__init__(
            Secrecy(self._place, secrets),
            limits=limits,
            modules=modules_of(modules),
            isolation=isolation,
        )
        self._approver = approver_given(approver)
        self._ask_seconds = waitable(ask_seconds)
        self._own_tools = tuple(tools)
        self._made_stores: Stores | None = None
        if self._own_tools:
            from nocturn.registry.tool import Registry

            Registry(self._own_tools, reserved=BUILT_IN)

    @cached_property
    def memory(self) -> Memory:
        """The notes."""
        from nocturn.memory import Memory

        return Memory(
            self.call,
            self._secrecy.redact_all,
            lambda: self._stores.notes,
            lambda: self._stores.catalog,
            lambda: [each.to_dict() for each in self.purge.rescan()],
            self.path / "memory",
            self._checkup,
        )

    @cached_property
    def path(self) -> Path:
        """The workspace's folder, absolute."""
        from pathlib import Path

        return Path(self._place)

    @property
    def permissions(self) -> Permissions:
        """What may be done here, and why: the policy, the grants, and whether they are trusted."""
        return self._stores.permissions

    @property
    def grants(self) -> GrantFile:
        """The yeses that last: ``load()`` them, or ``revoke(id)`` some."""
        return self.permissions.grants

    @property
    def vault(self) -> Vault:
        """The workspace's named secrets; no call and no guest reads them."""
        return self._secrecy.vault

    @property
    def inbox(self) -> Inbox:
        """The questions that wait for a person, and what became of those that did not wait long."""
        return self._stores.inbox

    def close(self) -> None:
        """Cancels what runs, and forgets the session's grants; nothing runs here any more."""
        super().close()
        if self._made is not None:
            self._gate.close()

    @property
    def notes(self) -> NoteStore:
        """The notes as files, to look at: no call, and so not in the journal; not redacted."""
        return self._stores.notes

    @property
    def purge(self) -> Purge:
        """Forgetting for good, for the day a secret got in: a note, or a value wherever it is."""
        from nocturn.purge import Purge

        return Purge(self._stores, self._secrecy)

    @property
    def journal(self) -> Trail:
        """The journal, to read: what was called, what became of it, and whether that is whole."""
        return self._stores.journal.trail

    def scan(self, pieces: Iterable[str]) -> Iterator[Found]:
        """Looks for secrets in a text of any length: those of the vault, and by their shape.

        Nothing is created, and no vault need be there.

        Args:
            pieces: The text, in pieces that are cut anywhere.

        Yields:
            What is found, in order; never a value.

        Raises:
            ConfigurationError: The vault or a source of secrets cannot be read.
        """
        from nocturn.guard.search import search

        self._secrecy.read()
        yield from search(pieces, self._secrecy.scanner)

    def backup(self, target: str | os.PathLike[str], *, replace: bool = False) -> dict[str, Any]:
        """Puts all that cannot be made again into one file, while others go on writing.

        Notes, persona, trash, policy, grants, journal, history, and the vault as it is encrypted;
        its key is not in it. The file is a zip archive that nobody but the user can read (0600).

        Args:
            target: The file; nothing of it is there before all of it is.
            replace: Whether one that is there is replaced; else it is a ``CONFLICT``.

        Returns:
            ``{"files", "bytes", "vault", "skipped"}``.

        Raises:
            NocturnError: It could not be made; what was there is as it was.
        """
        from nocturn.store.backup import save

        databases = {"history.db": self.notes.past.history.snapshot}
        return save(self.path, os.fspath(target), databases, replace=replace).to_dict()

    def restore(self, file: str | os.PathLike[str]) -> dict[str, Any]:
        """Makes this workspace out of a backup; its folder must be missing, or empty.

        Permissions that are in it are not trusted, as those of any folder from elsewhere.

        Args:
            file: The backup.

        Returns:
            As :meth:`backup`.

        Raises:
            NocturnError: The folder is not empty, or the file is no backup; nothing was made.
        """
        from nocturn.store.unpacking import restore

        return restore(os.fspath(file), self.path).to_dict()

    # ---- the wiring, each room on first use ------------------------------------------------------

    def inbox_approver(self, alive: Callable[[], bool] | None = None) -> Approver:
        """Returns an approver that asks in the inbox, as runs in mode ``guarded`` do.

        Args:
            alive: Whether an answer is still wanted; None: as long as the workspace is open.
        """
        from nocturn.guard.out_of_band import BoxApprover
        from nocturn.limits import ASK_SECONDS

        return BoxApprover(
            lambda: self.inbox,
            lambda: (alive is None or alive()) and not self._closed,
            self._ask_seconds or ASK_SECONDS,
            self._tell_of_question,
        )

    def _out_of_band(self, alive: Callable[[], bool]) -> Asking | None:
        """Returns who asks for a run that nobody looks on at; None where the approver does."""
        if self._approver is not None:
            return None
        from nocturn.guard.asking import Asking

        return Asking(self.inbox_approver(alive), self._secrecy.scanner.redact)

    def _checkup(self, fix: bool) -> list[dict[str, Any]]:
        from nocturn.checkup import check

        self._secrecy.read()
        databases = {
            "inbox.db": self.inbox.waiting,
            "history.db": lambda: self.notes.past.history.of(""),
        }
        found = check(self.path / "memory", self._secrecy.scanner, databases, fix=fix)
        return [each.to_dict() for each in found]

    def _tell_of_question(self, identity: str) -> None:
        from nocturn.notify import notify

        try:
            waiting = self.inbox.count()
        except NocturnError:  # that it cannot be counted does not end the question
            waiting = 1
        notify(identity, waiting)

    def _wire(self) -> Dispatcher:
        from nocturn.guard.screen import Screen
        from nocturn.registry.dispatch import Dispatcher
        from nocturn.registry.tool import Registry
        from nocturn.tools.built_in import built_in_tools

        scanner, stores = self._secrecy.scanner, self._stores
        journal = stores.journal
        own = built_in_tools(stores.notes, stores.persona, lambda: stores.search, scanner)
        registry = Registry((*own, *self._own_tools))
        return Dispatcher(registry, Screen(scanner, journal), scanner, self._gate, journal)

    @property
    def _stores(self) -> Stores:
        with self._wiring:
            if self._made_stores is None:
                from nocturn.stores import Stores

                self._made_stores = Stores(self._place, self._secrecy)
            return self._made_stores

    @cached_property
    def _gate(self) -> Gate:
        from nocturn.guard.gate import Gate

        permissions, scanner = self.permissions, self._secrecy.scanner
        return Gate(permissions.policy, permissions.grants, self._approver, scanner.redact)

"""What must not leave a workspace: its vault and its other sources, and the one scanner of both.

It is made with each workspace, so it is light: where there is nothing to keep, not even the vault's
code is loaded.
"""

from __future__ import annotations

import os
import threading
from functools import cached_property

from nocturn.errors import INTERNAL, ConfigurationError, NocturnError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Iterable, Sequence
    from typing import Any

    from nocturn.guard.ports import SecretSource
    from nocturn.guard.scanner import Scanner
    from nocturn.secret import Secret
    from nocturn.store.vault import Vault

__all__ = ["Secrecy"]


class Secrecy:
    """The secrets of one workspace. Safe to use from many threads.

    Args:
        workspace: The workspace's folder, absolute; None where there is none, and so no vault.
        sources: Where values are that must not leave, beside the vault.

    Raises:
        ConfigurationError: ``sources`` is no list of sources.
    """

    def __init__(self, workspace: str | None, sources: Iterable[SecretSource]) -> None:
        self._workspace = workspace
        self._sources = _sources(sources)
        self._more: tuple[SecretSource, ...] = ()
        self._lock = threading.RLock()
        self._made: Scanner | None = None
        self._known_vault: tuple[int, ...] | None = None

    @cached_property
    def vault(self) -> Vault:
        """The workspace's named secrets; no call and no guest reads them."""
        from pathlib import Path

        from nocturn.store.data import data_folder
        from nocturn.store.vault import Vault

        if self._workspace is None:
            raise ConfigurationError("there is no workspace here, and so no vault")
        return Vault(Path(self._workspace), data_folder())

    @property
    def guards(self) -> bool:
        """Whether there is anything to keep."""
        return bool(self._sources or self._more) or self._state_of_vault() is not None

    def guard(self, sources: Iterable[SecretSource]) -> None:
        """Keeps what more sources have from here on, too.

        Raises:
            ConfigurationError: They are none, or cannot be read.
        """
        if added := _sources(sources):
            with self._lock:
                self._more += added
                self.scanner.renew()

    @property
    def scanner(self) -> Scanner:
        """The scanner that all calls go by; never two, since the one that is renewed must be it."""
        with self._lock:
            if self._made is None:
                from nocturn.guard.scanner import Scanner

                self._made = Scanner((*self._sources, self))
            return self._made

    def secrets(self) -> Iterable[Secret]:
        """Returns what the vault has, where there is one, and what came later."""
        there = () if self._state_of_vault() is None else self.vault.secrets()
        return (*there, *(secret for each in self._more for secret in each.secrets()))

    def read(self) -> None:
        """Has the scanner know every secret, those too that were put into the vault just now.

        Raises:
            ConfigurationError: The vault or a source cannot be read, so that nothing may pass.
        """
        state = self._state_of_vault()
        if state != self._known_vault:
            with self._lock:
                self.scanner.renew()
                self._known_vault = state
        elif self._sources or self._more:
            _ = self.scanner.armed

    def read_in_a_run(self) -> None:
        """The same in the middle of a run, where the guest is told no more than that it failed.

        Raises:
            NocturnError: ``INTERNAL``.
        """
        try:
            self.read()
        except ConfigurationError:
            message = "the vault cannot be opened any more, so that nothing passes"
            detail = {"configuration": "vault.enc"}
            raise NocturnError(INTERNAL, message, detail=detail) from None

    def state(self) -> bytes:
        """Returns what is another one whenever a secret comes, goes or changes; not to be kept."""
        self.read()
        return self.scanner.state()

    def redact(self, text: str) -> str:
        """Takes every secret out of a text."""
        self.read()
        return self.scanner.redact(text)

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """Takes every secret out of some texts."""
        self.read()
        return self.scanner.redact_all(texts)

    def redacted(self, value: Any) -> Any:
        """Takes every secret out of what JSON can hold, as on every way out."""
        self.read()
        return self.scanner.redact_value(value)

    def _state_of_vault(self) -> tuple[int, ...] | None:
        """Returns what changes when the vault does; None where there is none."""
        if self._workspace is None:
            return None
        try:
            found = os.lstat(os.path.join(self._workspace, "vault.enc"))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:  # it is there, and reading it will say why it cannot be read
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _sources(secrets: Iterable[SecretSource]) -> tuple[SecretSource, ...]:
    alone = hasattr(secrets, "secrets")
    given = () if alone else tuple(secrets)
    if alone or not all(callable(getattr(each, "secrets", None)) for each in given):
        # Not echoed: whoever gets this wrong has most likely put the values themselves here.
        raise ConfigurationError(
            'secrets is not a list of sources: give secrets=[EnvironmentSecrets("NAME")]'
        )
    return given

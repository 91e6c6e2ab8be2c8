"""Where an agent's scripts run that has no workspace: no notes, no policy, no grants, no vault.

The persona's folder may come from anywhere. A ``policy.toml``, a ``grants.json`` or a ``vault.enc``
in it is not read; only the journal is kept there, in ``.nocturn/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nocturn.errors import STORAGE, NocturnError
from nocturn.secrecy import Secrecy
from nocturn.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from nocturn.effects import Grant
    from nocturn.guard.asking import Asking
    from nocturn.guard.ports import SecretSource
    from nocturn.registry.dispatch import Dispatcher

__all__ = ["BareStage", "NoGrants"]


class BareStage(Stage):
    """A stage with nothing on it but what a conversation brings along.

    Args:
        persona: The persona's folder, absolute.
        secrets: Where the values are that must not leave.
    """

    def __init__(self, persona: Path, secrets: Iterable[SecretSource] = ()) -> None:
        super().__init__(Secrecy(None, secrets))
        self._persona = persona

    def _wire(self) -> Dispatcher:
        from nocturn.effects import Recall
        from nocturn.guard.gate import Gate
        from nocturn.guard.policy import Decision, Policy, Rule
        from nocturn.guard.screen import Screen
        from nocturn.registry.dispatch import Dispatcher
        from nocturn.registry.tool import Registry
        from nocturn.store.data import data_folder
        from nocturn.store.journal import JournalFile
        from nocturn.store.persona import outer_of

        scanner = self._secrecy.scanner
        journal = JournalFile(outer_of(self._persona), data_folder())
        # What a host's tool would do is asked; a yes for always has nowhere to be kept.
        ask = Rule(None, None, None, Decision.ASK, Recall.SESSION, where="no workspace")
        gate = Gate(Policy((ask,)), NoGrants(), None, scanner.redact)
        return Dispatcher(Registry(), Screen(scanner, journal), scanner, gate, journal)

    def _out_of_band(self, alive: Callable[[], bool]) -> Asking | None:
        del alive
        return None


class NoGrants:
    """No yes outlasts the agent."""

    def load(self) -> tuple[Grant, ...]:
        """Returns none."""
        return ()

    def add(self, grant: Grant) -> None:
        """Keeps none.

        Raises:
            NocturnError: ``STORAGE``, always.
        """
        del grant
        message = "a yes for always needs a workspace to be kept in: answer for this session"
        raise NocturnError(STORAGE, message)

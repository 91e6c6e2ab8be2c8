"""A note in the person's own editor, saved by the road that a script's note takes."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.memory import ModeName
    from nocturn.store.draft import Draft
    from nocturn.workspace import Workspace

__all__ = ["Edit", "kept"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A note that is being edited.

    Attributes:
        workspace: Where it is.
        draft: The note as it was opened.
    """

    workspace: Workspace
    draft: Draft

    @classmethod
    def open(cls, workspace: Workspace, path: str) -> Edit:
        """Opens a note, or a new one.

        Raises:
            NocturnError: The path is none, or the note cannot be read.
        """
        from nocturn.names import note_path
        from nocturn.store.draft import open_draft

        return cls(workspace, open_draft(workspace.notes, note_path(path)))

    def warnings(self) -> list[str]:
        """Returns what has to go before it can be saved, a line each."""
        return [
            f"line {found.line} holds {found.what}: it has to go before you save"
            for found in self.workspace.scan([self.draft.text])
            if found.blocks
        ]

    def in_editor(self) -> tuple[str | None, str]:
        """Has the person edit it, in ``VISUAL``, ``EDITOR`` or ``vi``.

        Returns:
            The text that was saved and nothing, or None and why there is none.

        Raises:
            ConfigurationError: There is no terminal.
        """
        from nocturn.guard import editing
        from nocturn.guard.terminal import Terminal

        try:
            descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            raise ConfigurationError(
                "there is no terminal to edit at: put the whole text in a file, and give "
                "nocturn memory edit --from FILE"
            ) from None
        try:
            return editing.edit(Terminal(descriptor, descriptor), self.draft.text)
        finally:
            os.close(descriptor)

    def save(self, text: str, *, mode: ModeName, agent: str | None) -> dict[str, Any]:
        """Writes what was saved, by the road that a script's note takes.

        Returns:
            As :meth:`nocturn.memory.Memory.write`.

        Raises:
            NocturnError: It was refused or failed.
        """
        summary, content = self.draft.parts(text)
        return self.workspace.memory.write(
            self.draft.path,
            summary,
            content,
            if_version=self.draft.version,
            mode=mode,
            agent=agent,
        )


def kept(text: str) -> str:
    """Puts a text where nobody else can read it, and returns its path."""
    descriptor, path = tempfile.mkstemp(prefix="nocturn-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return path

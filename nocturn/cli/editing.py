"""``nocturn memory edit``: a note in the person's own editor."""

from __future__ import annotations

import os
import shlex
import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from nocturn.cli.options import (
    READ_BYTES,
    AgentName,
    Folder,
    Guarded,
    SecretEnv,
    Watched,
    Within,
    mode_of,
    open_workspace,
)
from nocturn.errors import ConfigurationError

if TYPE_CHECKING:
    from nocturn.workspace import Workspace

__all__ = ["edit"]


def edit(
    path: Annotated[str, typer.Argument(help="The note's path, such as people/lina.md.")],
    from_file: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Take this file's text, and open no editor."),
    ] = None,
    workspace: Folder = None,
    watched: Watched = None,
    guarded: Guarded = False,
    within: Within = None,
    agent: AgentName = None,
    secret_env: SecretEnv = None,
) -> int:
    """Edit a note, or a new one, in VISUAL, EDITOR or vi.

    It is opened whole and as it is, the summary after "description:" included, and what you save
    is written by the road that a script's note takes. Where that fails, your text is kept in a
    file of its own, and the message says how to go on. A secret in it is shown to you, and has to
    go before it can be saved.

    nocturn memory edit people/lina.md
    """
    from nocturn.cli.layout import say, tell
    from nocturn.names import note_path
    from nocturn.store.draft import open_draft

    mode = mode_of(watched, guarded)
    with open_workspace(workspace, secret_env=secret_env, mode=mode, within=within) as ws:
        draft = open_draft(ws.notes, note_path(path))
        if from_file is None:
            _tell_of_secrets(ws, draft.text)
            saved, why = _in_editor(draft.text)
            if saved is None:
                tell(f"nocturn: {why}")
                return 1
        else:
            saved = _text_of(from_file)
        try:
            summary, content = draft.parts(saved)
            note = ws.memory.write(
                draft.path, summary, content, if_version=draft.version, mode=mode, agent=agent
            )
        except BaseException:  # Ctrl-C at a question, too
            kept = from_file if from_file is not None else _kept(saved)
            told = shlex.join(["nocturn", "memory", "edit", draft.path, "--from", kept])
            tell(f"nocturn: nothing was written; your text is in {kept}. To go on: {told}")
            raise
        say(f"{note['path']}: {note['bytesWritten']} bytes")
    return 0


def _tell_of_secrets(ws: Workspace, text: str) -> None:
    from nocturn.cli.layout import tell

    for found in ws.scan([text]):
        if found.blocks:
            tell(f"nocturn: line {found.line} holds {found.what}: it has to go before you save")


def _in_editor(text: str) -> tuple[str | None, str]:
    from nocturn.guard import editing
    from nocturn.guard.terminal import Terminal

    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise ConfigurationError(
            "there is no terminal to edit at: put the whole text in a file, and give --from FILE"
        ) from None
    try:
        return editing.edit(Terminal(descriptor, descriptor), text)
    finally:
        os.close(descriptor)


def _text_of(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return stream.read(READ_BYTES).decode()
    except OSError as error:
        raise ConfigurationError(f"the file {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"the file {file} is not UTF-8: save it as UTF-8") from None


def _kept(text: str) -> str:
    """Puts a text where nobody else can read it, and returns its path."""
    descriptor, path = tempfile.mkstemp(prefix="nocturn-", suffix=".md")
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    return path

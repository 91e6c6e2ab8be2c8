"""``nocturn memory edit``: a note in the person's own editor."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from nocturn.cli.groups import Acting, spread
from nocturn.cli.options import READ_BYTES
from nocturn.errors import ConfigurationError

__all__ = ["edit"]


@spread
def edit(
    path: Annotated[str, typer.Argument(help="The note's path, such as people/lina.md.")],
    from_file: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Take this file's text, and open no editor."),
    ] = None,
    *,
    given: Acting,
) -> int:
    """Edit a note, or a new one, in VISUAL, EDITOR or vi.

    It is opened whole and as it is, the summary after "description:" included, and what you save
    is written by the road that a script's note takes. Where that fails, your text is kept in a
    file of its own, and the message says how to go on. A secret in it is shown to you, and has to
    go before it can be saved.

    nocturn memory edit people/lina.md
    """
    from nocturn.editing import Edit, kept
    from nocturn.layout import say, tell

    with given.open() as ws:
        note = Edit.open(ws, path)
        if from_file is None:
            for warning in note.warnings():
                tell(f"nocturn: {warning}")
            saved, why = note.in_editor()
            if saved is None:
                tell(f"nocturn: {why}")
                return 1
        else:
            saved = _text_of(from_file)
        try:
            written = note.save(saved, mode=given.mode, agent=given.agent)
        except BaseException:  # Ctrl-C at a question, too
            file = from_file if from_file is not None else kept(saved)
            told = shlex.join(["nocturn", "memory", "edit", note.draft.path, "--from", file])
            tell(f"nocturn: nothing was written; your text is in {file}. To go on: {told}")
            raise
        say(f"{written['path']}: {written['bytesWritten']} bytes")
    return 0


def _text_of(file: str) -> str:
    try:
        with open(file, "rb") as stream:
            return stream.read(READ_BYTES).decode()
    except OSError as error:
        raise ConfigurationError(f"the file {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"the file {file} is not UTF-8: save it as UTF-8") from None

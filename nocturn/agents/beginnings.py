"""A new persona: a folder with the files that make one, and a page that explains them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Final

from nocturn.errors import ConfigurationError
from nocturn.visible import visible

__all__ = ["begin_persona"]

_NAME_CHARACTERS: Final = 80

_FILES: Final = {
    "README.md": """\
# {name}

This folder is a persona. A model is told what the files below say, in this order, when a session
begins; a change counts from the next session on. A file that is missing or empty is no mistake.
This page is not among them: no model is told it.

| file | what it is for | who writes it |
|---|---|---|
| `AGENTS.md` | how to work: the rules that hold whatever the task is | you |
| `SOUL.md` | who speaks: character, tone, what matters to it | you |
| `IDENTITY.md` | name and role, in a line or two | you |
| `USER.md` | what it knows of you | it, with `memory` (target `user`), and you |
| `TOOLS.md` | hints for your own tools; what a tool does, it is told anyway | you |
| `HEARTBEAT.md` | kept for what it does without being asked; not used yet | you |
| `MEMORY.md` | what it has learned | it, with `memory` (target `self`), and you |

No secrets in here: all of it goes to the model's provider. A key belongs in a vault
(`nocturn vault set NAME`). Nothing in this folder gives permissions, whoever put it there.

    nocturn prompt {folder}             shows what the model would be told
    nocturn agent chat {folder} --model NAME
    nocturn agent run {folder} "Hello" --model NAME
""",
    "AGENTS.md": """\
Answer in the language that you are spoken to in. Be brief; say so when you do not know.

What you learn about the person and what will still matter in a month, remember. What is no longer
true, correct. Before you change or send something that cannot be taken back, say what you will do.
""",
    "SOUL.md": """\
You are {name}. You are calm, curious and exact, and you would rather ask than guess.
""",
    "IDENTITY.md": """\
Name: {name}
Role: a personal assistant
""",
}


def begin_persona(directory: str | os.PathLike[str]) -> list[Path]:
    """Makes the files of a new persona, which is called as its folder is.

    Args:
        directory: The folder; it must be missing, or empty.

    Returns:
        The files that were made.

    Raises:
        ConfigurationError: There is something already, or it cannot be made; nothing that was there
            has changed.
    """
    folder = Path(os.path.abspath(os.path.expanduser(directory)))
    shown = visible(folder.name, keep="")
    name = shown.replace("-", " ").replace("_", " ").strip()[:_NAME_CHARACTERS].title() or "Nocturn"
    texts = {
        each: text.format(name=name, folder=shlex.quote(shown)) for each, text in _FILES.items()
    }
    made: list[Path] = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ConfigurationError(
                f"{shown} is not empty: name a new folder; what is there stays as it is"
            )
        for each, text in texts.items():
            place = folder / each
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            made.append(place)
    except OSError as error:
        raise ConfigurationError(f"{shown} cannot be made: {error.strerror}") from None
    return made

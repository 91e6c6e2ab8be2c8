"""What a worker is given to run: a script, and the modules that it may import."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = ["Program"]

_TYPESCRIPT: Final = (".ts", ".mts", ".cts")
_TAKEN: Final = ("<input>", "")
"""What the engine calls a source that has no name."""


class Program:
    """A script and its modules. No dataclass: that delays every cold start and each run.

    Args:
        text: The script.
        filename: The script's name for people.
        files: Texts of the files that it may import, by their paths from its folder.
        modules: The same of modules that the host offers, by their names.
        lang: The script's language, ``js`` or ``ts``; None: by its filename.
        refusal: Why it cannot be run at all, for people; empty where it can.
    """

    __slots__ = ("filename", "files", "lang", "modules", "refusal", "text")

    def __init__(
        self,
        text: str,
        filename: str,
        files: dict[str, str] | None = None,
        modules: dict[str, str] | None = None,
        lang: str | None = None,
        *,
        refusal: str = "",
    ) -> None:
        self.text = text
        self.filename = filename
        self.files = files or {}
        self.modules = modules or {}
        self.lang = lang
        self.refusal = refusal

    def with_texts(self, text: str, files: dict[str, str]) -> Program:
        """Returns the same program with other texts, of the script and of some of its files."""
        return Program(text, self.filename, {**self.files, **files}, self.modules, self.lang)

    @property
    def name(self) -> str:
        """The script's name in the guest: no path, since where it lies is nobody's business."""
        name = os.path.basename(self.filename)
        name = "".join(each if each.isprintable() else "?" for each in name)
        return "<script>" if name in _TAKEN else name

    @property
    def typed(self) -> tuple[str, ...]:
        """The names of the sources in TypeScript, in the guest."""
        is_typed = self.lang == "ts" or (self.lang is None and _is_typed(self.filename))
        return (*((self.name,) if is_typed else ()), *filter(_is_typed, self.files))

    @property
    def whole(self) -> str:
        """All that is not the host's own, in one text: who changes a file changes the script."""
        return "\0".join(
            (self.text, *(each for pair in sorted(self.files.items()) for each in pair))
        )

    def source_of(self, name: str) -> tuple[str, str] | None:
        """Returns the text and the name for people of a source, by its name in the guest."""
        if name == self.name:
            return self.text, self.filename
        if name in self.files:
            return self.files[name], os.path.join(os.path.dirname(self.filename), name)
        return (self.modules[name], name) if name in self.modules else None


def _is_typed(filename: str) -> bool:
    return filename.lower().endswith(_TYPESCRIPT)

"""The links from note to note, and whether they lead anywhere.

Two forms are read: ``[text](people/lina.md)``, relative to the note or to the root, and
``[[lina]]``, by path or by name alone. What stands in code is no link.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from nocturn.names import same_name_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NoteNames", "links_in"]

# No bracket within brackets: each pattern stops at the next, and so takes time by length alone.
_INLINE: Final = re.compile(r"\[[^\[\]\n]{0,1024}\]\(\s*<?([^()<>\n]{1,2048})")
_WIKI: Final = re.compile(r"\[\[([^\[\]|#\n]{1,1024})(?:[|#][^\[\]\n]{0,1024})?\]\]")
_CODE: Final = re.compile(r"`[^`\n]*`")
_FENCE: Final = ("```", "~~~")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


class NoteNames:
    """The names of all notes, to look links up in.

    Args:
        paths: Their canonical paths.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {same_name_key(path) for path in paths}
        self._names = {path.rpartition("/")[2] for path in self._paths}

    def have(self, target: str, note: str) -> bool:
        """Returns whether a link of a note leads to one of them.

        Args:
            target: What the link says, as :func:`links_in` gave it.
            note: The path of the note that it stands in.
        """
        key = same_name_key(target if target.lower().endswith(".md") else f"{target}.md")
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(same_name_key(note)), key))
        found = beside in self._paths or posixpath.normpath(key.lstrip("/")) in self._paths
        return found or ("/" not in target and key in self._names)


def links_in(text: str) -> Iterator[tuple[int, str]]:
    """Yields each link to a note, with its line from 1 on.

    Args:
        text: A whole note.
    """
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = line.lstrip()[:3]
        if mark in _FENCE and fence in ("", mark):
            fence = "" if fence else mark
        elif not fence:
            yield from ((number, target) for target in _targets(_CODE.sub("", line)))


def _targets(line: str) -> Iterator[str]:
    for match in _INLINE.finditer(line):
        # A title may follow, in quotes; and a place in the note, after a #.
        said = match[1].partition(' "')[0].partition("#")[0].strip()
        target = unquote(said)
        if target.lower().endswith(".md") and not _ELSEWHERE.match(said):
            yield target
    for match in _WIKI.finditer(line):
        name = match[1].strip()
        # Another ending than .md is an image or the like.
        if name and posixpath.splitext(name)[1].lower() in ("", ".md"):
            yield name

"""The chain that the journal's lines form: each has a number, the last one's seal, and its own.

A seal is a hash with this user's key over all that stands before it in the line. Without the key
no line can be made, changed or moved unseen; only the end can be cut, which ``head.py`` is for.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["NOTHING", "Chain", "Link", "claims_a_seal", "is_torn"]

_SEAL: Final = re.compile(rb',"seal":"([0-9a-f]{32})"\}\Z')
_HEAD: Final = re.compile(rb'\{"n":([0-9]{1,18}),"prev":"((?:[0-9a-f]{32})?)",')


@dataclass(frozen=True, slots=True)
class Link:
    """A line's place in the chain.

    Attributes:
        n: Its number, from 1.
        prev: The seal of the line before it; empty for the first.
        seal: Its own.
    """

    n: int
    prev: str
    seal: str


NOTHING: Final = Link(0, "", "")
"""What the first line comes after."""


class Chain:
    """Seals lines, and tells those that it has sealed.

    Args:
        token: Hashes bytes with this user's key: 32 hexadecimal digits.
    """

    def __init__(self, token: Callable[[bytes], str]) -> None:
        self._token = token

    def sealed(self, entry: Mapping[str, Any], last: Link) -> tuple[bytes, Link]:
        """Makes the next line.

        Args:
            entry: What it says: JSON-able, without ``n``, ``prev`` and ``seal``.
            last: What it comes after.

        Returns:
            The line in ASCII with its line break, and its link.
        """
        place = {"n": last.n + 1, "prev": last.seal}
        row = {**place, **entry, **place}  # first in the line, whatever the entry has
        body = json.dumps(row, separators=(",", ":")).encode()[:-1]
        seal = self._token(body)
        return body + f',"seal":"{seal}"}}\n'.encode(), Link(last.n + 1, last.seal, seal)

    def link_of(self, line: bytes) -> Link | None:
        """Reads a line's link; None where the line has no seal of this user's.

        Args:
            line: One line, with or without its line break.
        """
        line = line.removesuffix(b"\n")
        seal, head = _SEAL.search(line[-64:]), _HEAD.match(line)
        if seal is None or head is None:
            return None
        found = seal[1].decode()
        if not hmac.compare_digest(found, self._token(line[: -len(seal[0])])):
            return None
        return Link(int(head[1]), head[2].decode(), found)


def claims_a_seal(line: bytes) -> bool:
    """Whether a line ends as a sealed one does, whoever has sealed it."""
    return _SEAL.search(line[-64:]) is not None


def is_torn(line: bytes, last: Link) -> bool:
    """Whether a crash can have left this of the line that would have come after ``last``."""
    begin = f'{{"n":{last.n + 1},"prev":"{last.seal}",'.encode()
    # Some file systems fill what never reached the disk with zeros.
    found = line.removesuffix(b"\n").rstrip(b"\0")
    if found.endswith(b"}"):
        try:
            json.loads(found)
        except (ValueError, RecursionError):
            pass
        else:
            return False
    return bool(line) and (found.startswith(begin) or begin.startswith(found))

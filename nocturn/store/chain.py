"""The chain that the journal's lines form: each has a number, the last one's seal, and its own.

A seal is a hash with this user's key over all that stands before it in the line. Without the key
no line can be made, changed or moved unseen; only the end can be cut, which ``head.py`` is for.

What must be forgotten leaves a hole: the line without it and without its salt, sealed anew, with
the seal that it had, from which the chain goes on. Nothing can be guessed by that old seal, since
it covers the salt, and a hole needs the key as any line does.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["NOTHING", "Chain", "Link", "claims_a_seal", "is_torn", "lines_of_purge", "purge_entry"]

_SEAL: Final = re.compile(rb',"seal":"([0-9a-f]{32})"\}\Z')
_WAS: Final = re.compile(rb',"was":"([0-9a-f]{32})"\Z')
_HOLE: Final = b"hole\0"
"""Before what the seal of a hole covers: no line passes for a hole, and no hole for a line."""
_PURGE: Final = "purge"
_PURGE_MARK: Final = b'"phase":"purge"'
_SALT_BYTES: Final = 16
_OF_THE_CHAIN: Final = frozenset({"n", "prev", "salt", "was", "seal"})
_HEAD: Final = re.compile(rb'\{"n":([0-9]{1,18}),"prev":"((?:[0-9a-f]{32})?)",')


@dataclass(frozen=True, slots=True)
class Link:
    """A line's place in the chain.

    Attributes:
        n: Its number, from 1.
        prev: The seal of the line before it; empty for the first.
        seal: Its own; of a hole, the one that the line had.
        hole: Whether something of the line was forgotten.
    """

    n: int
    prev: str
    seal: str
    hole: bool = False


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
            entry: What it says: JSON-able, without what is the chain's own.
            last: What it comes after.

        Returns:
            The line in ASCII with its line break, and its link.
        """
        place = {"n": last.n + 1, "prev": last.seal}
        # First in the line, whatever the entry has; the salt last.
        row = {**place, **entry, **place, "salt": os.urandom(_SALT_BYTES).hex()}
        body = json.dumps(row, separators=(",", ":")).encode()[:-1]
        seal = self._token(body)
        return body + f',"seal":"{seal}"}}\n'.encode(), Link(last.n + 1, last.seal, seal)

    def hole(self, link: Link, entry: Mapping[str, Any]) -> bytes:
        """Makes what is left of a line.

        Args:
            link: The line's.
            entry: What it may go on saying; the salt goes at any rate.

        Returns:
            The line in ASCII with its line break.
        """
        rest = {name: said for name, said in entry.items() if name not in _OF_THE_CHAIN}
        row = {"n": link.n, "prev": link.prev, **rest, "was": link.seal}
        body = json.dumps(row, separators=(",", ":")).encode()[:-1]
        return body + f',"seal":"{self._token(_HOLE + body)}"}}\n'.encode()

    def link_of(self, line: bytes) -> Link | None:
        """Reads a line's link; None where the line has no seal of this user's.

        Args:
            line: One line, with or without its line break.
        """
        line = line.removesuffix(b"\n")
        seal, head = _SEAL.search(line[-64:]), _HEAD.match(line)
        if seal is None or head is None:
            return None
        found, body = seal[1].decode(), line[: -len(seal[0])]
        was = _WAS.search(body[-64:])
        if not hmac.compare_digest(found, self._token(_HOLE + body if was else body)):
            return None
        chained = was[1].decode() if was else found
        return Link(int(head[1]), head[2].decode(), chained, was is not None)


def claims_a_seal(line: bytes) -> bool:
    """Whether a line ends as a sealed one does, whoever has sealed it."""
    return _SEAL.search(line[-64:]) is not None


def purge_entry(kind: str, lines: Sequence[int], at: str) -> dict[str, Any]:
    """Makes what a purge tells of itself: a tombstone, which names nothing.

    Args:
        kind: What was purged: ``note`` or ``value``.
        lines: The numbers of the lines that it makes holes, ascending.
        at: When.
    """
    spans: list[list[int]] = []
    for n in lines:
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return {"at": at, "phase": _PURGE, "what": kind, "count": len(lines), "lines": spans}


def lines_of_purge(line: bytes) -> Iterator[int]:
    """Yields the numbers of the lines that a sealed line tells to be holes: most tell of none."""
    if _PURGE_MARK not in line:  # quotes in a text are escaped, so that no text passes for it
        return
    for first, last in json.loads(line).get("lines", ()):
        yield from range(first, last + 1)


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

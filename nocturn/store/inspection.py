"""Whether a journal's chain is whole: every line, what is between lines, and what is after them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from nocturn.store.chain import NOTHING, claims_a_seal, is_torn, lines_of_purge

if TYPE_CHECKING:
    from nocturn.store.chain import Chain, Link
    from nocturn.store.head import Head

__all__ = ["Finding", "Inspection", "Verdict"]

_FINDINGS: Final = 50
"""How many are told one by one; the rest are counted."""
_UNSEALED: Final = "was changed, or was not written by this user's nocturn"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where the chain is not whole.

    Attributes:
        file: The file's name in ``.nocturn/``.
        line: The line in it, from 1; 0 where the file has none.
        what: What is wrong, for people.
    """

    file: str
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an inspection has come to.

    Attributes:
        whole: Whether nothing was changed, added, moved or cut since the chain began.
        lines: How many sealed lines there are.
        first: The number of the first; 0 where there is none.
        last: The number of the last; likewise.
        begins: The file, the line in it and the time of the first; None where there is none.
        before: How many lines are before it, which nothing vouches for: an older nocturn's, or
            those of a workspace that came from elsewhere.
        torn: How many lines were torn by a crash; nothing is missing there.
        purged: How many lines a purge has taken something out of.
        end_is_known: Whether it is known apart how far the journal goes. If not, a cut of its last
            lines cannot be seen.
        problems: How many findings there are.
        findings: The first of them.
    """

    whole: bool
    lines: int
    first: int
    last: int
    begins: tuple[str, int, str] | None
    before: int
    torn: int
    purged: int
    end_is_known: bool
    problems: int
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON-able values."""
        begins = self.begins and dict(zip(("file", "line", "at"), self.begins, strict=True))
        return {**asdict(self), "begins": begins}


@dataclass(frozen=True, slots=True)
class _Unsealed:
    file: str
    line: int
    torn: bool
    claims: bool


class Inspection:
    """Takes the lines one by one, in their order.

    Args:
        chain: What knows the seals.
        head: What is known of the journal apart; None where nothing is.
    """

    def __init__(self, chain: Chain, head: Head | None) -> None:
        self._chain = chain
        self._head = head
        self._lines = self._before = self._torn = self._problems = 0
        self._begins: tuple[str, int, str] | None = None
        self._first: Link = NOTHING
        self._last: Link = NOTHING
        self._unsealed: list[_Unsealed] = []
        self._holes: dict[int, tuple[str, int]] = {}
        self._purged: set[int] = set()
        self._findings: list[Finding] = []

    def add(self, file: str, number: int, raw: bytes) -> None:
        """Takes one line.

        Args:
            file: The name of its file.
            number: Its number in the file, from 1.
            raw: The line, without its line break.
        """
        link = self._chain.link_of(raw)
        if link is not None and link.hole:
            self._holes[link.n] = file, number
        elif link is not None:
            self._purged.update(lines_of_purge(raw))
        if link is None:
            torn = is_torn(raw, self._last)
            self._unsealed.append(_Unsealed(file, number, torn, claims_a_seal(raw)))
        elif self._begins is None:
            self._begin(file, number, link, str(json.loads(raw).get("at", "")))
        else:
            self._go_on(file, number, link)

    def verdict(self, file: str, number: int) -> Verdict:
        """Says what has come of it.

        Args:
            file: The name of the last file.
            number: How many lines it has.
        """
        self._end(file, number)
        self._judge_purges(file, number)
        return Verdict(
            whole=not self._problems,
            lines=self._lines,
            first=self._first.n,
            last=self._last.n,
            begins=self._begins,
            before=self._before,
            torn=self._torn,
            purged=len(self._holes),
            end_is_known=self._head is not None,
            problems=self._problems,
            findings=tuple(self._findings),
        )

    def _begin(self, file: str, number: int, link: Link, at: str) -> None:
        self._begins, self._first = (file, number, at), link
        must_be = self._head.first if self._head else 0
        # A file that was dropped for its age is known to be gone; this would be something else.
        gap = max(0, link.n - must_be) if must_be else 0
        older = max(0, len(self._unsealed) - gap)
        self._judge_older(self._unsealed[:older])
        del self._unsealed[:older]
        self._judge_between(file, number, link, gap)
        self._accept(link)

    def _go_on(self, file: str, number: int, link: Link) -> None:
        gap = link.n - self._last.n - 1
        if gap < 0:
            self._find(file, number, f"is line {link.n}, out of its place or once more")
            return
        if gap == 0 and link.prev != self._last.seal:
            self._find(file, number, f"is line {link.n}, and does not go on from line {link.n - 1}")
        self._judge_between(file, number, link, gap)
        self._accept(link)

    def _judge_older(self, lines: list[_Unsealed]) -> None:
        """Judges the lines that stand before the chain: an older nocturn's have no seal at all."""
        for each in lines:
            self._torn += each.torn
            self._before += not each.torn and not each.claims
            if each.claims:
                self._find(each.file, each.line, _UNSEALED)

    def _judge_between(self, file: str, number: int, link: Link, gap: int) -> None:
        """Judges the unsealed lines that stand before a sealed one, where ``gap`` should be."""
        for each in self._unsealed:
            # What is torn is harmless only where the line that comes after has its number.
            self._torn += each.torn and not gap
            if gap or not each.torn:
                self._find(each.file, each.line, _UNSEALED)
        if gap > len(self._unsealed):
            first = link.n - gap + len(self._unsealed)
            self._find(file, number, _missing(first, link.n - 1, "before it"))

    def _judge_purges(self, file: str, number: int) -> None:
        """Judges what purges have told of: each tells of its lines before it makes them holes."""
        for n, place in self._holes.items():
            if n not in self._purged:
                self._find(*place, f"is line {n}, purged, and no purge tells of it")
        there = range(self._first.n, self._last.n + 1)
        whole = sum(n in there for n in self._purged - self._holes.keys())
        if whole:
            said = f"a purge tells of {whole} lines before it that are no holes: it was killed, or "
            self._find(file, number, said + "they were put back; purge the same once more")

    def _accept(self, link: Link) -> None:
        self._last = link
        self._lines += 1
        self._unsealed.clear()

    def _end(self, file: str, number: int) -> None:
        known = self._head.link if self._head else self._last
        gap = known.n - self._last.n
        if self._begins is None and not gap:
            self._judge_older(self._unsealed)
        else:
            self._judge_between(file, number, self._last, 0)
        if gap > 0 and self._head is not None:
            said = _missing(self._last.n + 1, known.n, "at the end")
            if self._last.n >= self._head.synced:
                said += (
                    "; none of them told of a write, and a power failure may have taken them, "
                    "as well as a hand"
                )
            self._find(file, number, said)
        elif gap == 0 and known.seal != self._last.seal:
            self._find(file, number, "is not the line that was written last")

    def _find(self, file: str, line: int, what: str) -> None:
        self._problems += 1
        if len(self._findings) < _FINDINGS:
            self._findings.append(Finding(file, line, what))


def _missing(first: int, last: int, where: str) -> str:
    lines = f"line {first} is" if first == last else f"lines {first} to {last} are"
    return f"{lines} missing {where}"

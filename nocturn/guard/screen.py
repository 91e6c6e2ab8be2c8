"""Refuses a call that carries a secret, before anybody or anything else may see it.

It must not become an oracle: the guest learns that a call was blocked, never by what or where, and
after a few blocks its run is not answered any more.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from nocturn.errors import LEAK_BLOCKED, TOO_LARGE, NocturnError
from nocturn.guard.caller import Finding
from nocturn.guard.scanner import SHAPED_CHARACTERS, border_characters
from nocturn.limits import BLOCKS_A_RUN
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nocturn.guard.caller import Caller
    from nocturn.guard.cover import Gathered
    from nocturn.guard.ports import Journal
    from nocturn.guard.remarks import Remark
    from nocturn.guard.scanner import Scanner
    from nocturn.guard.shapes import ShapeHit

__all__ = ["Screen"]

_LOG: Final = logging.getLogger("nocturn")

PAIRED_CHARACTERS: Final = 2_097_152
"""What may be at the borders of all ordered pairs of a call's strings: half a second's work."""

_TWICE: Final = 2
_TOLD: Final = 20
"""So many findings in texts that were read are told of: enough to go and look."""
_SEAM_CHARACTERS: Final = 256


class Screen:
    """Scans every string of a call. Safe to use from many threads.

    Args:
        scanner: What finds secrets.
        journal: Where findings are written down; None where there is none.
    """

    def __init__(self, scanner: Scanner, journal: Journal | None) -> None:
        self._scanner = scanner
        self._journal = journal

    def check(
        self,
        caller: Caller,
        tool: str,
        raw: Sequence[str],
        canonical: Sequence[str],
        named: Sequence[tuple[str, str]] = (),
        read: Sequence[tuple[str, str]] = (),
    ) -> tuple[Remark, ...]:
        """Refuses the call if a string of it, several together or the run so far hold a secret.

        A value of the vault's is one, and so is a text that has the form of a known token.

        Args:
            caller: Whose call it is; ``blocks`` and ``findings`` are kept there.
            tool: The tool that was called.
            raw: Every string that came in, as it came: the tool's name, keys and values.
            canonical: The same values in canonical form, where they have one.
            named: Those on which somebody will rule, each with its argument's name before it.
            read: Texts that the host has read for the call, and that somebody will rule on, each
                with its name before it. Each is looked at by itself: there may be thousands.

        Returns:
            What there is to point out in ``named``.

        Raises:
            NocturnError: ``LEAK_BLOCKED``, always with the same words; ``TOO_LARGE``, the call has
                more strings than can be looked at in pairs.
        """
        # One at a time for each run: calls in flight together get no more answers than the budget.
        with caller.standing.lock:
            if caller.standing.blocks >= BLOCKS_A_RUN:
                self._refuse_unscanned(caller, tool, (t for t in (*raw, *canonical) if t != tool))
                return ()
            findings, remarks = self.look(tool, raw, canonical, named, read, caller.standing.trail)
            if findings:
                caller.standing.agent_blocks = self._blocks_before(caller.agent) + 1
                self._block(caller, findings)
        return remarks

    def look(
        self,
        tool: str,
        raw: Sequence[str],
        canonical: Sequence[str],
        named: Sequence[tuple[str, str]] = (),
        read: Sequence[tuple[str, str]] = (),
        trail: Gathered | None = None,
    ) -> tuple[list[Finding], tuple[Remark, ...]]:
        """Looks as :meth:`check` does, and counts nothing: for what a person has written.

        Args:
            tool: As for :meth:`check`.
            raw: As for :meth:`check`.
            canonical: As for :meth:`check`.
            named: As for :meth:`check`.
            read: As for :meth:`check`.
            trail: What the run was allowed to carry before; it grows.

        Returns:
            What would block it, and what there is to point out.
        """
        texts = [text for _, text in read]
        shapes = _shapes_in(each for each in (*raw, *canonical, *texts) if each != tool)
        findings = self._findings(tool, raw, canonical, trail) if self._scanner.armed else []
        findings += _shape_findings(tool, "raw", raw, shapes)
        findings += _shape_findings(tool, "canonical", canonical, shapes, known=raw)
        findings += islice(self._findings_read(tool, read, shapes), _TOLD)
        if findings or not (named or read):
            return findings, ()
        from nocturn.guard.remarks import remarks_on

        return findings, remarks_on((*named, *read), shapes)

    def check_joined(self, caller: Caller, tool: str, before: str, after: str) -> None:
        """Refuses what new text makes of old, where that holds a secret that the old did not.

        Half of a secret may stand in a note, and the other half come in a later run: only together
        they are one.

        Args:
            caller: As for :meth:`check`.
            tool: As for :meth:`check`.
            before: The whole text that is there.
            after: The whole text that it would become.

        Raises:
            NocturnError: ``LEAK_BLOCKED``, as :meth:`check`.
        """
        with caller.standing.lock:
            if findings := self.look_joined(tool, before, after):
                caller.standing.agent_blocks = self._blocks_before(caller.agent) + 1
                self._block(caller, findings)

    def look_joined(self, tool: str, before: str, after: str) -> list[Finding]:
        """Looks as :meth:`check_joined` does, and counts nothing."""
        place = "what is there and what came in, together"
        shapes = _shapes_in([after]).get(after, ())
        findings = [
            Finding(tool, place, "", hit.rule)
            for hit in shapes
            if hit.blocks and after[hit.start : hit.end] not in before
        ]
        if self._scanner.armed:
            names = {*self._scanner.names(after), *self._scanner.names(_around(before, after))}
            names -= {*self._scanner.names(before)} if names else set()
            findings += [Finding(tool, place, name) for name in sorted(names)]
        return findings

    def remarks_joined(
        self, remarks: tuple[Remark, ...], before: str, after: str
    ) -> tuple[Remark, ...]:
        """Returns what there is to point out, with what new and old text make together.

        An order to a model may come in two halves as well.

        Args:
            remarks: What there is to point out in the new text alone.
            before: The whole text that is there.
            after: The whole text that it would become.
        """
        from nocturn.guard.remarks import Remark, remarks_on

        window, there = _around(before, after), _around(after, before)
        known = {(each.kind, each.rule) for each in remarks}
        known |= {(each.kind, each.rule) for each in remarks_on([("", there)], _shapes_in([there]))}
        place = "what is there and what came in, together"
        return remarks + tuple(
            Remark(each.kind, place, each.text, each.rule)
            for each in remarks_on([("", window)], _shapes_in([window]))
            if (each.kind, each.rule) not in known
        )

    def note(self, caller: Caller, tool: str, texts: Sequence[str]) -> None:
        """Counts a call that was refused before it came to the scan.

        Its error echoes what it carried, redacted: a guess at a secret is answered there as well,
        so that it has to come out of the same budget.

        Args:
            caller: As for :meth:`check`.
            tool: The tool that was called, as a person may see it.
            texts: Every string of the guest's that came in.

        Raises:
            NocturnError: ``LEAK_BLOCKED``, the budget is used up: not even the error is told.
        """
        with caller.standing.lock:
            if caller.standing.blocks >= BLOCKS_A_RUN:
                self._refuse_unscanned(caller, tool, texts)
            elif self._scanner.armed and (findings := self._findings_in(tool, "raw", texts)):
                self._count(caller, findings)

    def _refuse_unscanned(self, caller: Caller, tool: str, texts: Iterable[str]) -> None:
        if any(texts):
            finding = Finding(tool, f"unscanned, after {BLOCKS_A_RUN} blocks", "")
            self._block(caller, [finding])

    def _findings(
        self, tool: str, raw: Sequence[str], canonical: Sequence[str], trail: Gathered | None
    ) -> list[Finding]:
        came_in = set(raw)
        folded = [text for text in canonical if text not in came_in]
        pool = _at_most_twice([text for text in (*raw, *folded) if text])
        size = border_characters(pool)
        if size > PAIRED_CHARACTERS:
            msg = (
                f"the call carries {len(pool)} strings, which make {size} characters where pairs "
                f"of them join, over the limit of {PAIRED_CHARACTERS}: send them in several calls"
            )
            raise NocturnError(TOO_LARGE, msg, tool=tool)
        found = self._scanner.names_across(pool, trail)
        if not found:
            return []
        return [
            *self._findings_in(tool, "raw", raw),
            *self._findings_in(tool, "canonical", folded),
        ] or [
            Finding(tool, "several strings together, of this call or of the run", name)
            for name in found
        ]

    def _findings_in(self, tool: str, kind: str, texts: Sequence[str]) -> list[Finding]:
        return [
            Finding(tool, f"{kind} string {at}", name)
            for at, text in enumerate(texts)
            for name in self._scanner.names(text)
        ]

    def _findings_read(
        self,
        tool: str,
        read: Sequence[tuple[str, str]],
        shapes: dict[str, Sequence[ShapeHit]],
    ) -> Iterator[Finding]:
        """Yields what stands in texts that were read. Their names are texts of somebody's too."""
        seen = self._scanner.redact_all([name for name, _ in read])
        for (name, text), shown in zip(read, seen, strict=True):
            place = visible(shown, keep="")
            if shown != name:
                yield Finding(tool, f"the name {place}", "".join(self._scanner.names(name)[:1]))
            for secret in self._scanner.names(text):
                yield Finding(tool, place, secret)
            for hit in shapes.get(text, ()):
                if hit.blocks:
                    yield Finding(tool, place, "", hit.rule)

    def _block(self, caller: Caller, findings: list[Finding]) -> None:
        self._count(caller, findings)
        # No detail, no variants: the words are all that a guest could learn from.
        msg = "the call was blocked by the leak scan"
        raise NocturnError(LEAK_BLOCKED, msg, tool=findings[0].tool)

    def _count(self, caller: Caller, findings: list[Finding]) -> None:
        caller.standing.blocks += 1
        caller.standing.findings += findings
        for finding in findings:
            self._write_down(caller, finding)
            _LOG.warning(
                "a call of %s was blocked: %s (%s); agent %s has had %d blocks in all",
                finding.tool,
                _carried(finding),
                finding.place,
                caller.agent,
                max(caller.standing.agent_blocks, caller.standing.blocks),
            )

    def _write_down(self, caller: Caller, finding: Finding) -> None:
        if self._journal is None:
            return
        entry = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "phase": "leak",
            "run": caller.run,
            "agent": caller.agent,
            "tool": finding.tool,
            "place": finding.place,
            "secret": finding.secret,
        }
        if finding.rule:
            entry["rule"] = finding.rule
        try:
            self._journal.append(entry, durable=False)
        except NocturnError:
            # The call is refused either way, and another error would tell the guest something.
            return

    def _blocks_before(self, agent: str) -> int:
        if self._journal is None:
            return 0
        try:
            return self._journal.leak_blocks_of(agent)
        except NocturnError:
            return 0


def _around(before: str, after: str) -> str:
    """Returns where two texts differ, with something around it: in less text, less is a find."""
    start = _same(before, after)
    tail = _same(before[start:][::-1], after[start:][::-1])
    return after[max(0, start - _SEAM_CHARACTERS) : len(after) - tail + _SEAM_CHARACTERS]


def _same(one: str, other: str) -> int:
    """Returns how many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _shapes_in(texts: Iterable[str]) -> dict[str, Sequence[ShapeHit]]:
    """Returns the shapes in each text that has any, by the text."""
    long = dict.fromkeys(text for text in texts if len(text) >= SHAPED_CHARACTERS)
    if not long:
        return {}
    from nocturn.guard.shapes import shapes_in

    return {text: hits for text in long if (hits := shapes_in(text))}


def _shape_findings(
    tool: str,
    kind: str,
    texts: Sequence[str],
    shapes: dict[str, Sequence[ShapeHit]],
    known: Sequence[str] = (),
) -> list[Finding]:
    return [
        Finding(tool, f"{kind} string {at}", "", hit.rule)
        for at, text in enumerate(texts)
        if text not in known
        for hit in shapes.get(text, ())
        if hit.blocks
    ]


def _carried(finding: Finding) -> str:
    if finding.rule:
        return f"it carries what has the form of a secret, by rule {finding.rule}"
    return f"it carries the secret {finding.secret}" if finding.secret else "it carries text"


def _at_most_twice(texts: list[str]) -> list[str]:
    """Returns the texts, each as often as a pair can use it: keys repeat in lists of objects."""
    seen: dict[str, int] = {}
    kept: list[str] = []
    for text in texts:
        seen[text] = seen.get(text, 0) + 1
        if seen[text] <= _TWICE:
            kept.append(text)
    return kept

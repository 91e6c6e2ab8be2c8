"""What may be done without asking, what is asked, and what is never done: one table."""

from __future__ import annotations

import math
import posixpath
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from nocturn.effects import Mode, Recall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.effects import Effect
    from nocturn.guard.pattern import Pattern

__all__ = ["DEFAULT", "NOTE_VERBS", "POLICY", "Decision", "Policy", "Rule", "Ruling"]

POLICY: Final = "policy.toml"
"""What people call the policy of a workspace."""

_TARGET_CHARACTERS: Final = 1_024
"""A longer target is walked by no pattern; no note's path is longer."""


class Decision(IntEnum):
    """What a policy says, the safest first."""

    DENY = 0
    ASK = 1
    ALLOW = 2


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table. What is None is not looked at.

    Attributes:
        kind: The kind of effect that it names.
        verbs: The verbs that it names.
        modes: The modes in which it holds.
        decision: What it says.
        ceiling: How long a yes may last at most.
        target: The pattern of the targets that it names.
        agents: The agents that it names.
        where: Where it stands: ``built-in``, or file and line.
    """

    kind: str | None
    verbs: frozenset[str] | None
    modes: frozenset[Mode] | None
    decision: Decision = Decision.DENY
    ceiling: Recall = Recall.NEVER
    target: Pattern | None = None
    agents: frozenset[str] | None = None
    where: str = "built-in"

    def names(self, mode: Mode, effect: Effect, agent: str) -> bool:
        """Returns whether this rule is about such an effect of such an agent in such a mode."""
        return (
            self.kind in (None, effect.kind)
            and (self.verbs is None or effect.verb in self.verbs)
            and (self.modes is None or mode in self.modes)
            and (self.agents is None or agent in self.agents)
            and (self.target is None or self._aims_at(self.target, effect.target))
        )

    @property
    def specificity(self) -> tuple[float, tuple[bool, int, bool], float, bool, float]:
        """How specific this rule is, to be compared: see :class:`Policy`."""
        return (
            _narrowness(self.agents),
            (False, -1, False) if self.target is None else self.target.weight,
            _narrowness(self.verbs),
            self.kind is not None,
            _narrowness(self.modes),
        )

    def to_dict(self) -> dict[str, str | list[str] | None]:
        """Returns the rule as JSON can hold it; what it does not look at is None."""
        return {
            "where": self.where,
            "ruling": self.decision.name.lower(),
            "recall": self.ceiling.name.lower() if self.decision is Decision.ASK else None,
            "kind": self.kind,
            "verb": None if self.verbs is None else sorted(self.verbs),
            "target": None if self.target is None else self.target.text,
            "mode": None if self.modes is None else sorted(each.value for each in self.modes),
            "agent": None if self.agents is None else sorted(self.agents),
        }

    def _aims_at(self, pattern: Pattern, target: str) -> bool:
        """Matches strictly what is allowed, and liberally what is asked or denied.

        Targets of tools of one's own need not be in canonical form: ``a/../secret`` is not let
        through as something in ``a``, and is kept from what it leads to.
        """
        loose = self.decision is not Decision.ALLOW
        if len(target) > _TARGET_CHARACTERS:
            return loose
        straight = _straight(target)
        if straight == target:
            return pattern.matches(target)
        if loose:
            return pattern.matches(target) or pattern.matches(straight)
        return pattern.literal and pattern.matches(target)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the policy says to one effect.

    Attributes:
        decision: What it says.
        ceiling: How long a yes may last at most.
        rule: The rule that ruled; None where none names the effect.
    """

    decision: Decision
    ceiling: Recall
    rule: Rule | None = None

    @property
    def where(self) -> str:
        """Where the rule stands, for people."""
        return "no rule names it" if self.rule is None else self.rule.where


class Policy:
    """A table of rules. Of those that name an effect, the first that denies rules on it.

    Where none denies, the most specific one does. Two rules are compared point by point, and the
    first point in which they differ decides:

    1. the agent: one that names agents, and the fewer, the more specific;
    2. the target: a literal one, then the pattern with more characters that are no wildcards, then
       the one without ``**``, then none;
    3. the verb: one that names verbs, and the fewer, the more specific;
    4. the kind: one that names a kind;
    5. the mode: one that names modes, and the fewer, the more specific.

    Two that are alike in all of them rule in the order of the table. So the order is total, and
    adding a rule that allows or asks never overrides one that denies.

    Args:
        rules: The table, in order.
        beneath: The policy that rules on what no rule of the table names. Without one it is asked.
    """

    __slots__ = ("beneath", "rules")

    def __init__(self, rules: Iterable[Rule] = (), beneath: Policy | None = None) -> None:
        self.rules: Final = tuple(rules)
        self.beneath: Final = beneath

    def ruling(self, mode: Mode, effect: Effect, agent: str) -> Ruling:
        """Returns what the policy says to an effect.

        Args:
            mode: The run's mode.
            effect: What would be done.
            agent: Whose run it is.
        """
        best: Rule | None = None
        for rule in self.rules:
            if not rule.names(mode, effect, agent):
                continue
            if rule.decision is Decision.DENY:
                return Ruling(rule.decision, rule.ceiling, rule)
            if best is None or rule.specificity > best.specificity:
                best = rule
        if best is not None:
            return Ruling(best.decision, best.ceiling, best)
        if self.beneath is not None:
            return self.beneath.ruling(mode, effect, agent)
        return Ruling(Decision.ASK, Recall.ALWAYS)


def _narrowness(names: frozenset[str] | frozenset[Mode] | None) -> float:
    return -math.inf if names is None else -len(names)


def _straight(target: str) -> str:
    """Returns where a target leads that is written like a path: no ``.``, ``..`` or backslash."""
    padded = f"/{target}/"
    if target and not any(each in padded for each in ("/./", "/../", "\\")):
        return target.rstrip("/") or target
    return posixpath.normpath(target.replace("\\", "/"))


NOTE_VERBS: Final = frozenset({"write", "remove", "move"})
"""What can be done to a note."""

DEFAULT: Final = Policy(
    Rule(kind, verbs, frozenset({mode}), decision, Recall.ALWAYS)
    for kind, verbs in (("memory", NOTE_VERBS), ("persona", frozenset({"write"})))
    for mode, decision in (
        (Mode.WATCHED, Decision.ALLOW),
        (Mode.GUARDED, Decision.ASK),
        # Nobody is asked when strict, so this means: what has a grant runs, the rest does not.
        (Mode.STRICT, Decision.ASK),
    )
)
"""The built-in policy, which is the contract's."""

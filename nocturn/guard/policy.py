"""What may be done without asking, what is asked, and what is never done: one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from nocturn.effects import Mode, Recall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nocturn.effects import Effect

__all__ = ["DEFAULT", "Decision", "Policy", "Rule", "Ruling"]


class Decision(IntEnum):
    """What a policy says, the safest first."""

    DENY = 0
    ASK = 1
    ALLOW = 2


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the policy says to one effect.

    Attributes:
        decision: What it says.
        ceiling: How long a yes may last at most.
        rule: The rule that ruled, in words.
    """

    decision: Decision
    ceiling: Recall
    rule: str


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table.

    Attributes:
        kind: The kind of effect that it names.
        verbs: The verbs that it names; None for all of the kind.
        mode: The mode in which it holds; None for every mode.
        decision: What it says.
        ceiling: How long a yes may last at most.
    """

    kind: str
    verbs: frozenset[str] | None
    mode: Mode | None
    decision: Decision = Decision.DENY
    ceiling: Recall = Recall.NEVER

    def names(self, mode: Mode, effect: Effect) -> bool:
        """Returns whether this rule is about such an effect in such a mode."""
        return (
            effect.kind == self.kind
            and (self.verbs is None or effect.verb in self.verbs)
            and self.mode in (None, mode)
        )

    def __str__(self) -> str:
        verbs = "*" if self.verbs is None else "|".join(sorted(self.verbs))
        mode = "*" if self.mode is None else self.mode.value
        return f"{self.kind} {verbs}, {mode}: {self.decision.name.lower()}"


class Policy:
    """A table of rules, of which the first that names an effect rules on it.

    Args:
        rules: The table, in order. What no rule names is asked.
    """

    __slots__ = ("rules",)

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules: Final = tuple(rules)

    def ruling(self, mode: Mode, effect: Effect, agent: str) -> Ruling:  # noqa: ARG002 - a policy file's rules may name agents
        """Returns what the policy says to an effect.

        Args:
            mode: The run's mode.
            effect: What would be done.
            agent: Whose run it is.
        """
        for rule in self.rules:
            if rule.names(mode, effect):
                return Ruling(rule.decision, rule.ceiling, str(rule))
        return Ruling(Decision.ASK, Recall.ALWAYS, "no rule names it: ask")


_NOTE_VERBS: Final = frozenset({"write", "remove", "move"})

DEFAULT: Final = Policy(
    (
        Rule("memory", _NOTE_VERBS, Mode.WATCHED, Decision.ALLOW, Recall.ALWAYS),
        Rule("memory", _NOTE_VERBS, Mode.GUARDED, Decision.ASK, Recall.ALWAYS),
        # Nobody is asked when strict, so this means: what has a grant runs, the rest does not.
        Rule("memory", _NOTE_VERBS, Mode.STRICT, Decision.ASK, Recall.ALWAYS),
    )
)
"""The built-in policy."""

"""What a tool says that it would do: its effects, before there are arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from nocturn.effects import Effect
from nocturn.errors import ConfigurationError

__all__ = ["UNGATED", "Declared", "Target", "declared"]

UNGATED: Final = "ungated"
"""What a tool says in place of effects when it does nothing that anybody need rule on."""

Target = str | Callable[[Mapping[str, Any]], str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Declared:
    """An effect that a tool declares.

    Attributes:
        kind: As in :class:`~nocturn.effects.Effect`.
        verb: As in :class:`~nocturn.effects.Effect`.
        target: The name of the argument that holds the target, or a function from the canonical
            arguments to it, or to several.
    """

    kind: str
    verb: str
    target: Target

    def effects(self, arguments: Mapping[str, Any]) -> tuple[Effect, ...]:
        """Returns the effects that these canonical arguments would have, one for each target."""
        found = self.target(arguments) if callable(self.target) else arguments[self.target]
        several = isinstance(found, (list, tuple))
        targets = cast("Sequence[object]", found) if several else (found,)
        return tuple(Effect(self.kind, self.verb, str(each)) for each in targets)


def declared(name: str, effects: Any) -> tuple[Declared, ...]:
    """Returns what a tool declares, from the rows that its author wrote.

    Args:
        name: The tool's name, for the message.
        effects: ``"ungated"``, or rows of kind, verb and target.

    Raises:
        ConfigurationError: It is neither.
    """
    if effects == UNGATED:
        return ()
    if isinstance(effects, str) or not (rows := tuple(effects)):
        raise ConfigurationError(
            f"tool {name}: say what it does, "
            'effects=[("kind", "verb", "argument")], or effects="ungated"'
        )
    return tuple(_declared(name, row) for row in rows)


def _declared(name: str, row: Any) -> Declared:
    match row:
        case (str(kind), str(verb), target) if isinstance(target, str) or callable(target):
            return Declared(kind, verb, cast("Target", target))
        case _:
            raise ConfigurationError(
                f'tool {name}: an effect is ("kind", "verb", "argument"), all three, not {row!r}'
            )

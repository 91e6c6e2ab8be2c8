"""The guard: what the scan and the gate add to a call; the same call without them is taken off."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from measure import measure

from nocturn import tool
from nocturn.effects import Mode
from nocturn.guard.caller import Caller
from nocturn.guard.gate import Gate
from nocturn.guard.policy import DEFAULT
from nocturn.guard.scanner import Scanner
from nocturn.guard.screen import Screen
from nocturn.registry.call import Call
from nocturn.registry.dispatch import Dispatcher
from nocturn.registry.tool import Registry
from nocturn.secret import Secret
from sections.figure import Figure, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nocturn.effects import Grant

__all__ = ["guard"]

_CALLS: Final = 50
_TEXT: Final = ("The quick brown fox jumps over the lazy dog. " * 3)[:100]
_CALL_BYTES: Final = 1 << 20


def guard(_: str, rounds: Rounds) -> Iterator[Figure]:
    """Yields what ten secrets and a policy that allows add to a call of 100 bytes."""
    secrets = [f"sk-{number:02}-{os.urandom(16).hex()}" for number in range(10)]
    nothing_to_find, armed = Scanner(()), Scanner([_Secrets(secrets)])
    gate = Gate(lambda: DEFAULT, _NoGrants(), None, armed.redact)
    free = tool(axis="read", effects="ungated")(look)
    gated = tool(axis="read", effects=[("memory", "write", "text")])(look)

    def search() -> None:
        for _ in range(_CALLS):
            any(secret in _TEXT for secret in secrets)

    took = measure(
        {
            "without": _calls(free, nothing_to_find, None),
            "with": _calls(gated, armed, gate),
            "least": search,
        },
        rounds=max(3, rounds.runs // 10),
        operations=_CALLS,
    )
    added = took["with"].median_seconds - took["without"].median_seconds
    yield Figure(
        "what 10 secrets and the gate add to a call of 100 bytes",
        max(0.0, added),
        0.0001,
        took["least"].median_seconds,
        "`secret in text`",
    )


def look(text: str) -> str:
    """Returns the text."""
    return text


def _calls(made: Any, scanner: Scanner, gate: Gate | None) -> Callable[[], None]:
    journal = _NoJournal()
    dispatcher = Dispatcher(Registry([made]), Screen(scanner, journal), scanner, gate, journal)
    caller = Caller(
        agent="bench",
        named=True,
        mode=Mode.WATCHED,
        run="run",
        cage=None,
        script="<script>",
        clock=_NoClock(),
        alive=lambda: True,
    )

    def calls() -> None:
        for _ in range(_CALLS):
            dispatcher.dispatch(Call("look", {"text": _TEXT}), caller, _CALL_BYTES)

    return calls


class _Secrets:
    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    def secrets(self) -> list[Secret]:
        return [Secret(f"secret {number}", value) for number, value in enumerate(self._values)]


class _NoGrants:
    def load(self) -> tuple[Grant, ...]:
        return ()

    def add(self, grant: Grant) -> None:
        raise NotImplementedError


class _NoJournal:
    def append(
        self, entry: Mapping[str, Any], *, durable: bool, content: bytes | None = None
    ) -> None:
        pass

    def is_there(self) -> bool:
        return False

    def leak_blocks_of(self, agent: str) -> int:  # noqa: ARG002 - the port's
        return 0


class _NoClock:
    def pause(self) -> None:
        pass

    def resume(self) -> None:
        pass

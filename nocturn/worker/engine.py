"""QuickJS with the prelude: one source in, frames out."""

from __future__ import annotations

import sys

import _quickjs

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable
    from typing import Any, Final

__all__ = ["Engine"]

STACK_BYTES: Final = 16 * 1_048_576 if sys.platform == "linux" else 524_288
"""QuickJS's own bound. On Linux the thread has 64 MiB, since some recursion in C is not counted;
elsewhere a running process cannot have more than it began with, which may be 1 MiB."""
SHALLOW_STACK_BYTES: Final = min(2 * 1_048_576, STACK_BYTES)
"""The bound while ``JSON.stringify`` runs, whose search for cycles is quadratic in the depth."""
OUTCOME_BYTES: Final = 16 * 1_048_576
"""Extra heap for telling how a run that used up its own ended."""
_WARM_UP: Final = (
    '{"source":"void 0","args":["a"],"ceiling":1,"console_bytes":1,"seed":[1,2,3,4],'
    '"more":[1,{"y":2.5}]}'
)
_NEARLY: Final = 0.4
"""How much of its heap a guest has had when a thrown ``null`` is taken for the engine's; memory
that was asked for and never touched is not counted."""


class Engine:
    """A QuickJS context whose prelude has run, good for one source.

    Args:
        prelude: The text of ``prelude.js``.
        exchange: Sends a frame and returns the reply's text. Must not raise: the engine would end
            in ``SystemError``.
        send: Sends a frame that has no reply. Must not raise.
    """

    def __init__(
        self,
        prelude: str,
        exchange: Callable[[str], str],
        send: Callable[[str], None],
    ) -> None:
        self._context = _quickjs.Context()
        self._context.set_max_stack_size(STACK_BYTES)
        self._context.add_callable("__nocturn_exchange", exchange)
        self._context.add_callable("__nocturn_send", send)
        self._context.add_callable("__nocturn_lower", self._lower)
        self._context.eval(
            "globalThis.__nocturn_wire={__proto__:null,exchange:__nocturn_exchange,"
            "send:__nocturn_send,lower:__nocturn_lower};"
            "for(const name of ['exchange','send','lower'])delete globalThis['__nocturn_'+name];0"
        )
        self._control: Any = self._context.eval(prelude)
        self._own_bytes = self._context.memory()["memory_used_size"]

    def _lower(self, shallow: bool) -> None:
        self._context.set_max_stack_size(SHALLOW_STACK_BYTES if shallow else STACK_BYTES)

    def warm_up(self) -> None:
        """Touches what every run touches, so that its pages are this process's own before a run.

        A fork shares its pages until they are written to; 0.3 ms of a short run went into that.
        """
        self._control("warm", _WARM_UP)

    def run(self, start: str, heap_bytes: int) -> str:
        """Runs a source and all that it starts.

        Args:
            start: The host's frame: the source, its arguments and the limits, as JSON.
            heap_bytes: The guest's heap from here on, in bytes.

        Returns:
            The ``done`` frame's text.
        """
        self._control("start", start)
        del start
        self._context.set_memory_limit(heap_bytes)
        peak_before = _peak_bytes()
        self._step(self._control, "run", "")
        while self._step(self._context.execute_pending_job):
            pass
        grown = _peak_bytes() - peak_before
        exhausted = "exhausted" if grown > _NEARLY * heap_bytes else ""
        # The guest may have left no room to say so.
        self._context.set_memory_limit(heap_bytes + OUTCOME_BYTES)
        done: str = self._control("finish", exhausted)
        return done[:-1] + f',"heap_bytes":{self._own_bytes + grown}}}'

    @staticmethod
    def _step(step: Callable[..., object], *arguments: str) -> bool:
        try:
            return bool(step(*arguments))
        except _quickjs.JSException:
            return True  # that job is lost, for want of memory or by the guest's doing; go on


def _peak_bytes() -> int:
    """Returns the most memory that this process has had, in bytes; 0 where that cannot be told.

    When small objects have used up a guest's heap, there is no room for an error either: the engine
    throws ``null``, or loses a promise's reaction, and does not tell. By the time anybody looks,
    all is freed again, so the kernel is asked.
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

"""QuickJS with the prelude: one source in, frames out."""

from __future__ import annotations

import os
import sys

import _quickjs

from nocturn.worker.native import native_of
from nocturn.worker.scripts import LATER, PIECES, PRELUDE, read_scripts
from nocturn.worker.session import Session
from nocturn.worker.url import take_apart

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from collections.abc import Callable, Mapping
    from typing import Any, Final

    from nocturn.worker.serve import Lines

__all__ = ["Engine", "load"]

STACK_BYTES: Final = 16 * 1_048_576 if sys.platform == "linux" else 524_288
"""QuickJS's own bound. On Linux the thread has 64 MiB, since some recursion in C is not counted;
elsewhere a running process cannot have more than it began with, which may be 1 MiB."""
SHALLOW_STACK_BYTES: Final = min(2 * 1_048_576, STACK_BYTES)
"""The bound while ``JSON.stringify`` runs, whose search for cycles is quadratic in the depth."""
OUTCOME_BYTES: Final = 16 * 1_048_576
"""Extra heap for telling how a run that used up its own ended."""
_WARM_UP: Final = (
    '{"source":"void 0","name":"a","args":["a"],"ceiling":9,"console_bytes":1,"seed":[1,2,3,4],'
    '"more":[1,{"y":2.5}]}'
)
MOST_RANDOM_BYTES: Final = 65_536
"""What ``crypto.getRandomValues`` gives at a time, by its standard."""
_WARM_HEAP_BYTES: Final = 1 << 40
LEAD: Final = 1_000
"""Lines that the prelude puts before a source which the binding has no name for."""
_NEARLY: Final = 0.4
"""How much of its heap a guest has had when a thrown ``null`` is taken for the engine's; memory
that was asked for and never touched is not counted."""
_LEFT_FULL: Final = 15 / 16
"""How much of its heap a session's line must not leave in use: the next could not even be read. A
thrown ``null`` of a run that has so much in use is taken for the engine's, too."""


class Engine:
    """A QuickJS context whose prelude has run, good for one source.

    Args:
        scripts: What :func:`read_scripts` has read.
        lines: The wire. It must not raise: the engine would end in ``SystemError``.
    """

    def __init__(self, scripts: Mapping[str, str], lines: Lines) -> None:
        self._lines = lines
        self._peak_at_first: int | None = None  # in a session
        self._context = _quickjs.Context()
        self._context.set_max_stack_size(STACK_BYTES)
        self._context.add_callable("__nocturn_exchange", lines.exchange)
        self._context.add_callable("__nocturn_receive", lines.receive_text)
        self._context.add_callable("__nocturn_send", lines.send)
        self._context.add_callable("__nocturn_lower", self._lower)
        self._context.add_callable("__nocturn_random", _random_hex)
        self._context.add_callable("__nocturn_url", take_apart)
        self._context.eval(
            "globalThis.__nocturn_wire={__proto__:null,native:{__proto__:null},"
            "pieces:{__proto__:null}};"
            "for(const name of ['exchange','receive','send','lower','random','url']){"
            "__nocturn_wire[name]=globalThis['__nocturn_'+name];"
            "delete globalThis['__nocturn_'+name]}0"
        )
        self._native = native_of(self._context, Session)
        for name in PIECES:
            self._context.eval(f"__nocturn_wire.pieces.{name}={scripts[name]};0")
        self._control: Any = self._context.eval(scripts[PRELUDE])
        for name in LATER:
            self._control("text", f"{name}\n{scripts[name]}")
        if self._native is not None:
            self._native.take_functions()
        self._own_bytes = self._context.memory()["memory_used_size"]

    def _lower(self, shallow: bool) -> None:
        self._context.set_max_stack_size(SHALLOW_STACK_BYTES if shallow else STACK_BYTES)

    def load_ahead(self) -> None:
        """Evaluates what most scripts come to need, so that those to be forked find it there."""
        self._control("load", "console")
        self._own_bytes = self._context.memory()["memory_used_size"]

    def warm_up(self) -> None:
        """Touches what every run touches, so that its pages are this process's own before a run.

        A fork shares its pages until they are written to; 0.3 ms of a short run went into that.
        """
        self._control("warm", _WARM_UP)
        self._run_through("", _WARM_HEAP_BYTES)

    def run(self, start: str, heap_bytes: int) -> str:
        """Runs a source and all that it starts.

        Args:
            start: The host's frame: the source, its arguments and the limits, as JSON.
            heap_bytes: The guest's heap from here on, in bytes.

        Returns:
            The ``done`` frame's text.
        """
        self._control("start", start)
        return self._run_through(start, heap_bytes)

    def open_session(self) -> None:
        """Gets ready for lines that follow one another, in an engine that no guest has been in."""
        if self._native is not None:
            self._native.open_scope()
        self._control("session", "")
        if self._native is not None:
            self._native.take_functions()
        self._peak_at_first = _peak_bytes()

    def ask(self, question: str) -> str:
        """Answers a question about what is there, and runs nothing of the guest's.

        Args:
            question: ``vars``; ``complete`` and a text whose end is a name or a part of one;
                ``unfinished`` and a text; or ``ends``, how many lines of a text are known to be a
                beginning, and the text.

        Returns:
            JSON.
        """
        kind, _, text = question.partition(" ")
        self._context.set_memory_limit(_WARM_HEAP_BYTES)
        if kind == "unfinished":
            unfinished = self._native is not None and self._native.is_unfinished(text.encode())
            return "true" if unfinished else "false"
        if kind == "ends":
            known, _, text = text.partition(" ")
            lines = text.encode().split(b"\n")
            return str(self._native.ends(lines, int(known)) if self._native is not None else [])
        answer: str = self._control("ask", question)
        return answer

    def _run_through(self, start: str, heap_bytes: int) -> str:
        asynchronous, modular = "await" in start, "import" in start or "export" in start
        del start
        self._context.set_memory_limit(heap_bytes)
        peak_before = _peak_bytes()
        try:
            self._live(asynchronous=asynchronous, modular=modular)
            how = ""
        except _quickjs.JSException:  # there is not even room for asking what comes next
            how = "spent"
        # What a session's earlier lines have left is part of its heap, and not this one's doing.
        held = 0 if self._peak_at_first is None else peak_before - self._peak_at_first
        grown = _peak_bytes() - peak_before
        full = self._is_full(heap_bytes, held + grown)
        if full and self._peak_at_first is not None:
            how = "spent"
        elif not how and (full or grown > _NEARLY * (heap_bytes - held)):
            how = "exhausted"
        # The guest may have left no room to say so.
        self._context.set_memory_limit(heap_bytes + OUTCOME_BYTES)
        if self._native is not None:
            self._native.tell_rejections()
        done: str = self._control("finish", how)
        told = f',"lead":{LEAD}' if self._native is None else ""
        used = max(self._own_bytes + held + grown, int(_LEFT_FULL * heap_bytes) if full else 0)
        return f'{done[:-1]}{told},"heap_bytes":{used}}}'

    def _live(self, *, asynchronous: bool, modular: bool) -> None:
        """Runs the source that stands in ``native``, and all that it starts, to the end."""
        if self._native is not None and self._peak_at_first is not None:
            self._native.begin_line(modular=modular)
        elif self._native is not None:
            self._native.begin(asynchronous=asynchronous, modular=modular)
        else:
            self._step(self._control, "run", "")
        self._run_jobs()
        while wait := self._control("next", ""):
            arrived = self._lines.receive_within(None if wait == "reply" else float(wait))
            self._step(self._control, "turn", arrived)
            self._run_jobs()

    def _is_full(self, heap_bytes: int, touched_bytes: int) -> bool:
        """Returns whether next to nothing of the heap is left; leaves it with a lower limit.

        Where the engine cannot be asked for room, what was touched says whether to look: that takes
        0.1 s. An array buffer that nobody has written to is not seen then.
        """
        most = int(_LEFT_FULL * heap_bytes)
        self._context.set_memory_limit(most)
        for _ in range(2):
            if self._native is not None:
                if self._native.has_room():
                    return False
            elif touched_bytes <= heap_bytes / 2 or self._context.memory()["malloc_size"] < most:
                return False
            self._context.gc()  # the engine does not look for cycles when its memory runs out
        return True

    def _run_jobs(self) -> None:
        if self._native is not None:
            self._native.run_jobs()
            return
        while self._step(self._context.execute_pending_job):
            pass

    @staticmethod
    def _step(step: Callable[..., object], *arguments: str) -> bool:
        try:
            return bool(step(*arguments))
        except _quickjs.JSException:
            return True  # that job is lost, for want of memory or by the guest's doing; go on


def load(prelude_path: str, lines: Lines) -> Engine:
    """Returns an engine whose prelude has run.

    Args:
        prelude_path: The file that holds the prelude.
        lines: Its wire.
    """
    return Engine(read_scripts(prelude_path), lines)


def _random_hex(count: float) -> str:
    """Returns so many bytes from the system, in hex; empty for no such number. Never raises."""
    try:
        return os.urandom(min(int(count), MOST_RANDOM_BYTES)).hex()
    except (TypeError, ValueError, OverflowError, OSError, MemoryError):
        return ""


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

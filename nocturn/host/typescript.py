"""TypeScript, made JavaScript before it runs: read in locked processes, checked here.

A parser is a large program in C and its input is hostile, so it is run as a guest is: a worker of
its own for each source, under the same lock-down, limits and clocks. What comes back is believed
only where it is the source with blanks in it, so that a parser that was taken over can leave things
out and no more.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from importlib.machinery import PathFinder

from nocturn.errors import INTERNAL, ConfigurationError, NocturnError
from nocturn.host.exchange import without_hashbang
from nocturn.host.execution import Execution
from nocturn.host.location import place_of
from nocturn.host.pool import Pool
from nocturn.host.process import EngineFiles
from nocturn.host.program import Program
from nocturn.host.result import RunError
from nocturn.limits import PARSER_HEAP_BYTES, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

    from nocturn.host.result import RunResult
    from nocturn.registry.call import Call

__all__ = ["Reader", "Reading"]

_MOST: Final = 4
"""Parsers at one time: each may have four times the memory of a guest."""
_SIGNS: Final = frozenset(map(ord, " ;()"))
"""What may stand where something was; ``worker.eraser`` says why."""
_LINE_ENDS: Final = frozenset(map(ord, "\n\r\u2028\u2029"))
_KEPT: Final = 64
_KEPT_CHARACTERS: Final = 65_536
"""How many erased sources are kept, and up to which length: 8 MiB at most."""


class Reader:
    """Makes JavaScript of TypeScript, for the runs of one workspace."""

    def __init__(self) -> None:
        self._pool = Pool(lambda: _bounds(Limits()), warm=1, most=_MOST, engine=_tree_sitter)
        self._known: dict[str, str] = {}
        self._changing = threading.Lock()

    def close(self) -> None:
        """Ends every process; returns when they are gone."""
        self._pool.close()

    def reading(self, program: Program, limits: Limits, isolation: str) -> Reading:
        """Lets the parser begin to load, and returns a program's way through it, not begun.

        Args:
            program: The program; which of its sources are TypeScript it says itself.
            limits: The run's: reading a source may take as long as the run.
            isolation: ``full`` or ``best-effort``.

        Raises:
            ConfigurationError: The parser is not installed.
        """
        self._pool.start()
        return Reading(self, self._pool, program, _bounds(limits), isolation)

    def known(self, source: str) -> str | None:
        """Returns what was made of this source before."""
        return self._known.get(source)

    def keep(self, source: str, erased: str) -> None:
        """Keeps what was made of a source, in place of the oldest."""
        if len(source) > _KEPT_CHARACTERS:
            return
        with self._changing:
            self._known[source] = erased
            if len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]


class Reading:
    """One program on its way through a parser.

    Args:
        reader: Whose it is.
        pool: Where parsers come from.
        program: The program.
        limits: What each parser is held to.
        isolation: ``full`` or ``best-effort``.
    """

    def __init__(
        self, reader: Reader, pool: Pool, program: Program, limits: Limits, isolation: str
    ) -> None:
        self._reader = reader
        self._pool = pool
        self._program = program
        self._limits = limits
        self._isolation = isolation
        self._cancelled = False
        self._present: Execution | None = None

    def run(self) -> Program | RunError:
        """Reads the program's TypeScript.

        Returns:
            The program in JavaScript, each character where it was; or why there is none.

        Raises:
            IsolationError: The machine gives less isolation than was asked for.
            ConfigurationError: The parser cannot be started.
            RunInterrupted: Ctrl-C; the parser is gone.
        """
        program = self._program
        erased: dict[str, str] = {}
        for name in program.typed:
            source, filename = program.source_of(name) or ("", name)
            outcome = self._read(source, filename)
            if isinstance(outcome, RunError):
                return outcome
            erased[name] = outcome
        text = erased.pop(program.name, program.text)
        return program.with_texts(text, erased)

    def cancel(self) -> None:
        """Ends the parser, and lets none begin; safe from any thread."""
        self._cancelled = True
        if self._present is not None:
            self._present.cancel()

    def _read(self, source: str, filename: str) -> str | RunError:
        source = without_hashbang(source)
        if (known := self._reader.known(source)) is not None:
            return known
        program = Program(source, filename)
        execution = Execution(program, (), self._limits, self._isolation, self._pool)
        self._present = execution
        if self._cancelled:
            execution.cancel()
        result = execution.run(_refuse_call)
        if not result.ok:
            return _refusal(program, result)
        if not _is_erasure(source, result.value):
            return _refused("what the parser gave is not this source with blanks in it")
        self._reader.keep(source, result.value)
        return str(result.value)


def _refusal(program: Program, result: RunResult) -> RunError:
    error, source = result.error, program.text
    if result.status != "guest_error" or error is None:
        return _refused(
            f"its types could not be erased, the parser ended with {result.status}: "
            "make it smaller or simpler, or write it in JavaScript"
        )
    at = error.detail.get("at")
    if type(at) is not int or not 0 <= at <= 2 * len(source):
        return _refused(error.message)
    line, column, text = place_of(source, at)
    return _refused(
        error.message, file=program.filename, line=line, column=column, source_line=text
    )


def _refused(message: str, **place: Any) -> RunError:
    return RunError(code=None, name="RefusedSource", message=message, **place)


def _bounds(limits: Limits) -> Limits:
    """Returns a run's limits with room for a tree and for a text that comes back as JSON."""
    return replace(limits, heap_bytes=PARSER_HEAP_BYTES, value_bytes=2 * limits.source_bytes)


def _is_erasure(source: str, erased: Any) -> bool:
    if not isinstance(erased, str):
        return False
    before, after = (
        memoryview(text.encode("utf-16", "surrogatepass")).cast("H") for text in (source, erased)
    )
    return len(before) == len(after) and all(
        unit == other or (other in _SIGNS and unit not in _LINE_ENDS)
        for unit, other in set(zip(before, after, strict=True))
    )


def _refuse_call(_: Call) -> None:
    raise NocturnError(INTERNAL, "a parser calls nothing")


def _tree_sitter() -> EngineFiles:
    """Returns what reads TypeScript.

    Raises:
        ConfigurationError: It is not installed.
    """
    parser = PathFinder.find_spec("tree_sitter")
    grammar = PathFinder.find_spec("tree_sitter_typescript")
    binding = grammar and PathFinder.find_spec("_binding", grammar.submodule_search_locations)
    if parser is None or parser.origin is None or binding is None or binding.origin is None:
        raise ConfigurationError(
            "TypeScript needs a parser that is not installed: pip install 'nocturn[ts]'"
        )
    folder = os.path.dirname(os.path.dirname(parser.origin))
    return EngineFiles("typescript", binding.origin, (folder,), "nocturn[ts]")

"""The engine of a worker that reads TypeScript: one source in, the JavaScript of it out.

It is driven as :class:`~nocturn.worker.engine.Engine` is, so that a parser stands behind the same
lock-down, limits and wire as a script: its run's value is the erased text.
"""

from __future__ import annotations

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from json import dumps, loads

from tree_sitter import Language, Parser

from nocturn.worker.eraser import erase
from nocturn.worker.sheet import NotErasableError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

    from nocturn.worker.serve import Lines

__all__ = ["Eraser", "load"]

_GRAMMAR: Final = "tree_sitter_typescript._binding"


class Eraser:
    """A parser for TypeScript, good for one source.

    Args:
        parser: The parser.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def load_ahead(self) -> None:
        """Does nothing: all is loaded."""

    def warm_up(self) -> None:
        """Touches what every run touches, so that its pages are this process's own before a run."""
        erase(self._parser, "let a: b = c as d;")

    def run(self, start: str, heap_bytes: int) -> str:
        """Erases one source's types.

        Args:
            start: The host's frame, of which only the source is used, as JSON.
            heap_bytes: Not used: the lock-down holds this process to it.

        Returns:
            The ``done`` frame's text.
        """
        del heap_bytes
        return dumps({"type": "done", **self._outcome(loads(start)["source"])})

    def _outcome(self, source: str) -> dict[str, Any]:
        try:
            return {"status": "ok", "value": erase(self._parser, source)}
        except NotErasableError as problem:
            message, detail = problem.message, {"at": problem.at}
        except MemoryError:
            return {"status": "memory_limit"}
        except Exception:  # noqa: BLE001 - of a tree that no source should have
            message, detail = "this is not TypeScript that can be read here", {"at": 0}
        error = {"name": "RefusedSource", "message": message, "detail": detail}
        return {"status": "guest_error", "error": error}


def load(grammar: str, _: Lines) -> Eraser:
    """Returns a parser.

    Args:
        grammar: The file of the grammar's extension module.
    """
    # Not by its package, which loads importlib.resources for what nobody needs here: 20 ms.
    spec = spec_from_file_location(_GRAMMAR, grammar, loader=ExtensionFileLoader(_GRAMMAR, grammar))
    if spec is None or spec.loader is None:
        raise ImportError(_GRAMMAR)
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    language: object = binding.language_typescript()
    eraser = Eraser(Parser(Language(language)))
    eraser.warm_up()  # which loads a codec, and no file can be opened later
    return eraser

"""The engine in this process: what a run would cost if nothing stood between guest and host."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import _quickjs

__all__ = ["run_bare", "run_with_prelude"]

_PRELUDE: Final = Path(__file__).resolve().parents[3] / "js" / "prelude.js"
_NO_WIRE: Final = "globalThis.__nocturn_wire={exchange(){},send(){},lower(){}};0"
_new_context: Final[Any] = _quickjs.Context


def run_with_prelude() -> None:
    """Makes a context, evaluates the prelude in it, then ``1+1``."""
    context = _new_context()
    context.eval(_NO_WIRE)
    context.eval(_prelude())
    _run(context)


def run_bare() -> None:
    """Makes a context and evaluates ``1+1`` in it."""
    _run(_new_context())


@cache
def _prelude() -> str:
    return _PRELUDE.read_text(encoding="utf-8")


def _run(context: Any) -> None:
    if context.eval("1+1") != 1 + 1:
        msg = "the bare engine computes wrongly"
        raise RuntimeError(msg)

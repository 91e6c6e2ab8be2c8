"""The engine in this process: what a run would cost if nothing stood between guest and host."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import _quickjs

from nocturn.worker.scripts import PIECES, PRELUDE, read_scripts

__all__ = ["run_bare", "run_with_prelude"]

_PRELUDE: Final = Path(__file__).resolve().parents[3] / "js" / "prelude.js"
_NO_WIRE: Final = (
    "globalThis.__nocturn_wire={exchange(){},receive(){},send(){},lower(){},random(){},url(){},"
    "native:{},pieces:{}};0"
)
_new_context: Final[Any] = _quickjs.Context


def run_with_prelude() -> None:
    """Makes a context, evaluates the prelude in it, then ``1+1``."""
    context = _new_context()
    context.eval(_NO_WIRE)
    for name in PIECES:
        context.eval(f"__nocturn_wire.pieces.{name}={_scripts()[name]};0")
    context.eval(_scripts()[PRELUDE])
    _run(context)


def run_bare() -> None:
    """Makes a context and evaluates ``1+1`` in it."""
    _run(_new_context())


@cache
def _scripts() -> dict[str, str]:
    return read_scripts(str(_PRELUDE))


def _run(context: Any) -> None:
    if context.eval("1+1") != 1 + 1:
        msg = "the bare engine computes wrongly"
        raise RuntimeError(msg)

"""The scripts of ``js/`` that make a guest's world, and when each is evaluated."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Final

__all__ = ["LATER", "PIECES", "PRELUDE", "read_scripts"]

PRELUDE: Final = "prelude"
PIECES: Final = ("proxies", "values", "timers", "abort")
"""Those that an engine begins with, before the prelude."""
LATER: Final = (
    *("layout", "inspect", "console"),
    *("text", "buffer", "url", "clone", "crypto", "locale", "session"),
)
"""Those that the prelude evaluates when a guest first needs them."""


def read_scripts(prelude_path: str) -> dict[str, str]:
    """Returns the texts of the scripts beside a prelude, and its own, by their names."""
    scripts: dict[str, str] = {}
    for name in (*PIECES, PRELUDE, *LATER):
        path = os.path.join(os.path.dirname(prelude_path), f"{name}.js")
        with open(path, encoding="utf-8") as file:
            scripts[name] = file.read()
    return scripts

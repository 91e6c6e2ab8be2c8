"""The peers, and what stands between their guests and the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["LIMIT", "PEERS", "NoFigureError", "Peer"]


class NoFigureError(Exception):
    """A job of a peer's has no figure; the message is its cell in the table."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A sandbox for JavaScript.

    Attributes:
        name: What the table and its driver call it.
        walls: What a guest that has broken the engine still has to get through.
        cold: A program that prints the value of ``1+1``.
        package: What is installed for it; empty where this project has it.
        node: Whether it is Node's.
        lacks: Jobs that it cannot do.
    """

    name: str
    walls: str
    cold: str
    package: str = ""
    node: bool = False
    lacks: frozenset[str] = frozenset()


LIMIT: Final = Peer(
    "quickjs-ng in-process",
    "nothing",
    "import quickjs; print(quickjs.Context().eval('1+1'), flush=True)",
)
PEERS: Final = (
    LIMIT,
    Peer(
        "nocturn",
        "a locked process",
        "from nocturn import Workspace\n"
        "with Workspace('nocturn-bench-none', isolation='best-effort') as ws:\n"
        "    print(ws.run('1+1').value, flush=True)",
    ),
    Peer(
        "jsbox",
        "nothing",
        "from jsbox import Runtime\nprint(Runtime().eval('1+1'), flush=True)",
        "jsbox",
    ),
    Peer(
        "jsbox run_killable",
        "a process",
        "from jsbox import run_killable\n"
        "if __name__ == '__main__':\n"
        "    print(run_killable('1+1', timeout=30), flush=True)",
        "jsbox",
        lacks=frozenset({"calls", "large", "idle"}),
    ),
    Peer(
        "quickjs-rs",
        "WebAssembly",
        "from quickjs_rs import Runtime\n"
        "with Runtime() as rt, rt.new_context() as context:\n"
        "    print(context.eval('1+1'), flush=True)",
        "quickjs-rs",
    ),
    Peer(
        "mini-racer",
        "nothing (V8)",
        "from py_mini_racer import MiniRacer\nprint(MiniRacer().eval('1+1'), flush=True)",
        "mini-racer",
    ),
    Peer(
        "quickjs-emscripten",
        "WebAssembly, shared",
        "require('quickjs-emscripten').getQuickJS().then((q) => console.log(q.evalCode('1+1')))",
        "quickjs-emscripten",
        node=True,
    ),
    Peer(
        "isolated-vm",
        "nothing (V8)",
        "const ivm = require('isolated-vm'); "
        "console.log(new ivm.Isolate().createContextSync().evalSync('1+1'))",
        "isolated-vm",
        node=True,
    ),
)
"""The limit first, then nocturn, then the others."""

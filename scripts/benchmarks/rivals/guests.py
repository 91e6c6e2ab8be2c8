"""Drives one sandbox for ``peers.py``, in the peer's own Python: ``guests.py PEER JOB SECONDS``.

It says ``ready``, waits for a line, does the job for about so many seconds, and prints one line of
JSON. Then it waits for another line, so that its memory can be looked at. No import of ours but in
``Nocturn``: the peers' environments hold nothing but the peer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

FIB: Final = "(function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) })(27)"
FIB_27: Final = 196_418
TEXT_BYTES: Final = 65_536
CALLS: Final = 500
LARGE_CALLS: Final = 20
IDLE: Final = 8
SUM: Final = (
    "(() => {{ const t = 'x'.repeat({}); let s = 0;"
    " for (let i = 0; i < {}; i++) s += {}; return s }})()"
)


def _host(text: str) -> int:
    """Returns a text's length."""
    return len(text)


class Bare:
    """quickjs-ng in this process, without a prelude: the limit."""

    def __init__(self) -> None:
        self._new: Any = import_module("quickjs").Context

    def fresh(self, source: str) -> Any:
        """Evaluates a source in a new context and returns its value."""
        return self._new().eval(source)

    def caller(self, count: int, size: int) -> Callable[[], Any]:
        """Returns what makes so many calls of a host function with a text of this size.

        Its value is the sum of the lengths that the host function returned.
        """
        context = self._new()
        context.add_callable("host", _host)
        return lambda: context.eval(SUM.format(size, count, "host(t)"))

    def idle(self) -> object:
        """Returns something that is ready to run, and stays so while it is held."""
        return self._new()


class Nocturn:
    """A locked worker for each run."""

    def __init__(self) -> None:
        from nocturn import Limits, Workspace, tool

        self._ws = Workspace(
            "nocturn-bench-none",  # nothing here writes, so no folder is made
            tools=[tool(axis="read", effects="ungated", name="host")(_host)],
            limits=Limits(wall_seconds=60, cpu_seconds=60),
            isolation="best-effort",
        )
        self._pool: Any = None

    def fresh(self, source: str) -> Any:
        """As in ``Bare``."""
        return self._ws.run(source).raise_for_error().value

    def caller(self, count: int, size: int) -> Callable[[], Any]:
        """As in ``Bare``."""
        source = SUM.format(size, count, "nocturn.call('host', {text: t})")
        return lambda: self.fresh(source)

    def idle(self) -> object:
        """As in ``Bare``: a locked worker that waits, its zygote counted with the first."""
        from nocturn import Limits
        from nocturn.host.pool import Pool, Ticket

        if self._pool is None:
            self._pool = Pool(Limits, warm=0, most=IDLE)
        worker = self._pool.take(Limits(), Ticket())
        worker.channel.read()  # it says that it is locked
        return worker


class Jsbox:
    """jsbox's Runtime, in this process."""

    def __init__(self) -> None:
        self._new: Any = import_module("jsbox").Runtime

    def fresh(self, source: str) -> Any:
        """As in ``Bare``."""
        return self._new().eval(source)

    def caller(self, count: int, size: int) -> Callable[[], Any]:
        """As in ``Bare``."""
        runtime = self._new()
        runtime.bind_function("host", _host)
        return lambda: runtime.eval(SUM.format(size, count, "host(t)"))

    def idle(self) -> object:
        """As in ``Bare``."""
        return self._new()


class Killable:
    """jsbox's run_killable: a new process for each script; no host functions, nothing waits."""

    def __init__(self) -> None:
        self._run: Any = import_module("jsbox").run_killable

    def fresh(self, source: str) -> Any:
        """As in ``Bare``."""
        return self._run(source, timeout=30)


class QuickjsRs:
    """quickjs-rs: each context an instance of WebAssembly."""

    def __init__(self) -> None:
        self._runtime: Any = import_module("quickjs_rs").Runtime()

    def fresh(self, source: str) -> Any:
        """As in ``Bare``."""
        with self._runtime.new_context() as context:
            return context.eval(source)

    def caller(self, count: int, size: int) -> Callable[[], Any]:
        """As in ``Bare``."""
        context = self._runtime.new_context()
        context.register("host", _host)
        return lambda: context.eval(SUM.format(size, count, "host(t)"))

    def idle(self) -> object:
        """As in ``Bare``."""
        return self._runtime.new_context()


class MiniRacer:
    """mini-racer: V8 in this process; its host functions are asynchronous only."""

    def __init__(self) -> None:
        self._new: Any = import_module("py_mini_racer").MiniRacer

    def fresh(self, source: str) -> Any:
        """As in ``Bare``."""
        racer = self._new()
        try:
            return racer.eval(source)
        finally:
            racer.close()

    def caller(self, count: int, size: int) -> Callable[[], Any]:
        """As in ``Bare``."""
        source = SUM.format(size, count, "await host(t)").replace("() =>", "async () =>", 1)

        async def host(text: str) -> int:
            return len(text)

        async def call() -> Any:
            racer = self._new()
            async with racer.wrap_py_function(host) as wrapped:
                racer.eval("globalThis")["host"] = wrapped
                return await racer.eval(source)

        return lambda: asyncio.run(call())

    def idle(self) -> object:
        """As in ``Bare``."""
        return self._new()


PEERS: Final[dict[str, type[Any]]] = {
    "quickjs-ng in-process": Bare,
    "nocturn": Nocturn,
    "jsbox": Jsbox,
    "jsbox run_killable": Killable,
    "quickjs-rs": QuickjsRs,
    "mini-racer": MiniRacer,
}


def main(peer_name: str, job: str, seconds: float) -> None:
    """Does one job, as the module says."""
    peer = PEERS[peer_name]()
    done: object
    if job in ("fresh", "fib"):
        source, value = ("1+1", 2) if job == "fresh" else (FIB, FIB_27)
        operation, size = _checked(lambda: peer.fresh(source), value), 1
        operation()
        _wait()
        done = _repeated(operation, size, seconds)
    elif job in ("calls", "large"):
        text, size = (1, CALLS) if job == "calls" else (TEXT_BYTES, LARGE_CALLS)
        operation = _checked(peer.caller(size, text), size * text)
        operation()
        _wait()
        done = _repeated(operation, size, seconds)
    else:
        held = [peer.idle()]
        _wait()
        held += [peer.idle() for _ in range(IDLE - 1)]
        done = {"made": len(held) - 1}
    print(json.dumps(done), flush=True)
    sys.stdin.readline()
    # Not every peer ends by itself once it has called the host.
    os._exit(0)


def _wait() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def _repeated(operation: Callable[[], None], size: int, seconds: float) -> dict[str, Any]:
    """Repeats an operation for so many seconds, at least once."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    while not took or time.perf_counter() < end:
        start = time.perf_counter()
        operation()
        took.append((time.perf_counter() - start) / size)
    return {"seconds": took}


def _checked(action: Callable[[], Any], value: object) -> Callable[[], None]:
    def operation() -> None:
        found = action()
        if found != value:
            msg = f"the value is {found!r}, not {value!r}"
            raise RuntimeError(msg)

    return operation


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))

"""A session's line and fork, each against a fresh run of the same script in the same workspace."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Final

import measure

from nocturn import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nocturn.host.session import Session

_ROUNDS: Final = 300
_QUICK: Final = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    given = measure.options(__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        with Workspace(f"{folder}/ws", isolation="best-effort") as ws, ws.session() as session:
            session.eval("const a = 1")
            taken = measure.measure(
                {
                    "a fresh run of 1 + 1": lambda: ws.run("1 + 1"),
                    "a line of 1 + 1": lambda: session.eval("1 + 1"),
                    "a fork, and its end": lambda: _fork(session),
                    "the names after Math.": lambda: session.complete("Math."),
                },
                rounds=_QUICK if given.quick else _ROUNDS,
            )
    fresh, *others = taken.values()
    rows = [measure.Row(fresh), *(measure.Row(each, fresh) for each in others)]
    print(measure.machine(), end="\n\n")
    print(measure.table(rows, markdown=given.markdown))
    return 0


def _fork(session: Session) -> None:
    session.fork().close()


if __name__ == "__main__":
    raise SystemExit(main())

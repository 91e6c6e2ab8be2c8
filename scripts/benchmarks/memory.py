"""The notes, each job against the least that it could cost: changes with their history, and reads.

The workspace lies in a temporary folder: set TMPDIR to measure another disk. On a file system in
memory an fsync costs nothing, and the changes say little.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
from sections.history import history

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from measure import Row

_SECTIONS: Final[Sequence[Callable[[Path, int], Iterator[Row]]]] = (history,)
_ROUNDS: Final = 60
_QUICK_ROUNDS: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    given = measure.options(__doc__).parse_args(arguments)
    rounds = _QUICK_ROUNDS if given.quick else _ROUNDS
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        rows = [row for section in _SECTIONS for row in section(Path(folder), rounds)]
    print(measure.machine(), end="\n\n")
    print(measure.table(rows, markdown=given.markdown))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

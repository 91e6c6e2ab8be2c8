"""Memory, each part against the least that it could cost: changes, the catalog, the search.

The notes lie in a temporary folder: set TMPDIR to measure another disk. On a file system in memory
an fsync costs nothing, and the changes say little.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import measure
from sections.figure import Rounds
from sections.history import history
from sections.notes import catalog, search

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECTIONS: Final = (history, catalog, search)
_QUICK: Final = Rounds(runs=3, notes=60)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    given = measure.options(__doc__).parse_args(arguments)
    rounds = _QUICK if given.quick else Rounds()
    with tempfile.TemporaryDirectory(prefix="nocturn-bench-") as folder:
        os.environ["NOCTURN_DATA"] = f"{folder}/data"
        notes = Path(folder, "notes")
        rows = [row for section in _SECTIONS for row in section(notes, rounds)]
    print(measure.machine(), end="\n\n")
    print(measure.table(rows, markdown=given.markdown))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Scans texts with one scanner, in that scanner's own Python: ``scanners.py NAME``.

It takes a JSON list of texts on stdin and prints one line of JSON: how long they took, without the
time that the scanner needs to be ready, and what was found in each: 0 nothing, 1 something that
warns, 2 something that blocks. Others than nocturn know no warnings. No import of ours but there.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOTHING: Final = 0
WARNS: Final = 1
BLOCKS: Final = 2
_WARM_UP: Final = 10
"""Each so many-th text is scanned once before, untimed."""


def nocturn() -> Iterator[Callable[[str], int]]:
    """Finds shapes alone: there is no vault."""
    from nocturn.guard.shapes import shapes_in

    def scan(text: str) -> int:
        hits = shapes_in(text)
        return BLOCKS if any(hit.blocks for hit in hits) else WARNS if hits else NOTHING

    scan("")
    yield scan


def kingfisher() -> Iterator[Callable[[str], int]]:
    """Its own rules at its own choice of confidence; nothing is validated over the network."""
    sdk: Any = import_module("kingfisher_sdk")
    scanner = sdk.Scanner(sdk.Rules(cache=False))
    yield lambda text: BLOCKS if any(each.visible for each in scanner.scan(text)) else NOTHING


def detect_secrets() -> Iterator[Callable[[str], int]]:
    """All its plugins and filters as they come; it reads files only."""
    scan_file: Any = import_module("detect_secrets.core.scan").scan_file
    with (
        tempfile.TemporaryDirectory() as folder,
        import_module("detect_secrets.settings").default_settings(),
    ):
        file = Path(folder, "note.txt")

        def scan(text: str) -> int:
            file.write_text(text, encoding="utf-8", errors="replace")
            return BLOCKS if any(True for _ in scan_file(str(file))) else NOTHING

        yield scan


SCANNERS: Final = {
    "nocturn": nocturn,
    "kingfisher-secret-scanner": kingfisher,
    "detect-secrets": detect_secrets,
}


def main() -> None:
    """Scans what stdin gives."""
    texts: list[str] = json.load(sys.stdin)
    for scan in SCANNERS[sys.argv[1]]():
        for text in texts[::_WARM_UP]:  # rules are compiled when they are first needed
            scan(text)
        began = time.perf_counter()
        found = [scan(text) for text in texts]
        print(json.dumps({"seconds": time.perf_counter() - began, "found": found}))


if __name__ == "__main__":
    main()

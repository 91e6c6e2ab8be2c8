"""Runs the other benchmarks and writes their tables into docs/performance.md, between its marks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
DOCUMENT: Final = HERE.parent.parent / "docs" / "performance.md"
_TABLE: Final = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Returns the exit status."""
    names: list[str] = [match[2] for match in _TABLE.finditer(DOCUMENT.read_text(encoding="utf-8"))]
    tables: dict[str, str] = {}
    for name in names:
        print(f"{name} …", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py"), "--markdown", *sys.argv[1:]],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        tables[name] = done.stdout.strip()
    text = DOCUMENT.read_text(encoding="utf-8")
    text = _TABLE.sub(lambda match: f"{match[1]}\n{tables[match[2]]}\n\n{match[3]}", text)
    DOCUMENT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

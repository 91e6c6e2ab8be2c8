"""Runs the other benchmarks and writes their tables into docs/, between their marks.

Names of benchmarks may be given, for those alone; options go to each of them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
DOCUMENTS: Final = tuple(
    HERE.parents[1] / "docs" / name for name in ("performance.md", "security.md")
)
_TABLE: Final = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Returns the exit status."""
    options = [each for each in sys.argv[1:] if each.startswith("-")]
    wanted = [each for each in sys.argv[1:] if not each.startswith("-")]
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")

        def table(match: re.Match[str]) -> str:
            name = match[2]
            if wanted and name not in wanted:
                return match[0]
            print(f"{name} …", file=sys.stderr)
            done = subprocess.run(
                [sys.executable, str(HERE / f"{name}.py"), "--markdown", *options],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            return f"{match[1]}\n{done.stdout.strip()}\n\n{match[3]}"

        document.write_text(_TABLE.sub(table, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

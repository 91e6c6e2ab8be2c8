"""Writes the files that are made from the code; `--check` says which have drifted, and fails."""

from __future__ import annotations

import sys
from pathlib import Path

from nocturn import Workspace
from nocturn.registry.page import page

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[Path, str]:
    """Returns each generated file and what should be in it."""
    # Nothing is created by listing a workspace's tools.
    ws = Workspace(ROOT / "no-such-workspace")
    pages = {ROOT / "docs" / "tools" / f"{tool.name}.md": page(tool) for tool in ws.tools}
    return {**pages, ROOT / "js" / "nocturn.d.ts": ws.types()}


def main() -> int:
    """Returns the exit status."""
    wanted = generated()
    folder = ROOT / "docs" / "tools"
    stale = [file for file in folder.glob("*.md") if file not in wanted]
    drifted = [
        file
        for file, text in wanted.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        for file in sorted(drifted + stale):
            print(f"{file.relative_to(ROOT)} has drifted: run ./scripts/generate")
        return 1 if drifted or stale else 0
    folder.mkdir(parents=True, exist_ok=True)
    for file in drifted:
        file.write_text(wanted[file], encoding="utf-8")
    for file in stale:
        file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What scanners find by shape alone: nocturn, kingfisher and detect-secrets over the same texts.

The texts lie beside this project, in ``../shared`` (``--shared``): tokens in the manner in which
gitleaks tests its rules, what looks like tokens and is none, and three kinds of hard cases that no
scanner should block. A negative whose text is a positive of another rule is left out. The others
are installed when they are first met, as the peers of ``peers.py`` are.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import measure
from measure import duration
from platformdirs import user_cache_path
from rivals.installation import Installation
from rivals.peer import NoFigureError, Peer
from rivals.scanners import BLOCKS, SCANNERS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "rows"]

_ROOT: Final = Path(__file__).resolve().parents[2]
_SCANNERS: Final = Path(__file__).resolve().parent / "rivals" / "scanners.py"
_OURS: Final = "nocturn"
_QUICK_EACH: Final = 20
_LIMIT_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class Text:
    """One text of the set.

    Attributes:
        group: Where it comes from, and whether there is something to find: ``gitleaks, secrets``.
        text: What is scanned.
    """

    group: str
    text: str


def rows(
    shared: Path | None = None, *, quick: bool = False, installation: Installation | None = None
) -> list[tuple[str, ...]]:
    """Scans all texts with each scanner.

    Args:
        shared: The folder of what is shared between projects; None for the one beside this project.
        quick: Whether to scan a few texts of each group only.
        installation: Where the other scanners are; None for the user's cache, and to install there.

    Returns:
        The table's lines, the head first: for each scanner and group in how many of the texts it
        found something. Empty where the texts are not there.
    """
    texts = _texts(shared or _ROOT.parent / "shared", quick=quick)
    if not texts:
        return []
    if installation is None:
        installation = Installation(user_cache_path("nocturn") / "bench-peers", may_install=True)
    sizes = Counter(each.group for each in texts)
    lines: list[tuple[str, ...]] = [
        ("scanner", *(f"{group} ({size:,})" for group, size in sizes.items()), "a text")
    ]
    for name in SCANNERS:
        try:
            answer = _scan(name, [each.text for each in texts], installation)
        except NoFigureError as reason:
            lines.append((name, str(reason), *("" for _ in sizes)))
            continue
        each_seconds = answer["seconds"] / len(texts)
        found = list(zip(texts, answer["found"], strict=True))
        lines.append((name, *_shares(found, sizes, 1), duration(each_seconds)))
        if name == _OURS:
            lines.append((f"{name}, blocked", *_shares(found, sizes, BLOCKS), ""))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; returns the exit status."""
    parser = measure.options(__doc__)
    parser.add_argument("--no-install", action="store_true", help="use the scanners that are there")
    parser.add_argument("--cache", type=Path, help="where the scanners are, or are installed")
    parser.add_argument("--shared", type=Path, default=_ROOT.parent / "shared")
    given = parser.parse_args(arguments)
    cache = given.cache or user_cache_path("nocturn") / "bench-peers"
    installation = Installation(cache.absolute(), may_install=not given.no_install)
    lines = rows(given.shared, quick=given.quick, installation=installation)
    if not lines:
        print(f"skipped: {_file(given.shared)} is not there")
        return 0
    print(f"{measure.machine()}; in brackets: how many texts there are", end="\n\n")
    print(measure.layout(lines, markdown=given.markdown))
    return 0


def _file(shared: Path) -> Path:
    return shared / "data" / "leaks" / "patterns.jsonl.gz"


def _texts(shared: Path, *, quick: bool) -> list[Text]:
    try:
        with gzip.open(_file(shared), "rt", encoding="utf-8") as lines:
            given: list[dict[str, Any]] = [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []
    secrets = {each["text"] for each in given if each["label"] == "pos"}
    texts: list[Text] = []
    seen: Counter[str] = Counter()
    for each in given:
        is_secret = each["label"] == "pos"
        if not is_secret and each["text"] in secrets:
            continue
        group = f"{each['ds']}, {'secrets' if is_secret else 'none'}"
        seen[group] += 1
        if not quick or seen[group] <= _QUICK_EACH:
            texts.append(Text(group, each["text"]))
    return texts


def _scan(name: str, texts: list[str], installation: Installation) -> dict[str, Any]:
    package = "" if name == _OURS else name
    done = subprocess.run(
        [*installation.interpreter(Peer(name, "", "", package)), str(_SCANNERS), name],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=_LIMIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise NoFigureError("fails")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _shares(found: Sequence[tuple[Text, int]], sizes: Counter[str], least: int) -> tuple[str, ...]:
    hits = Counter(each.group for each, what in found if what >= least)
    return tuple(f"{hits[group] / size:.1%}" for group, size in sizes.items())


if __name__ == "__main__":
    raise SystemExit(main())

"""What stands between the pieces: noise, markup, lines, words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from attacks.forms import each, pieces, split
from attacks.values import characters, words

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LAYOUTS"]


def _columns(value: str) -> str:
    rows = -(-len(value) // 5)
    return "\n".join(f"| {' | '.join(value[at::rows])} |" for at in range(rows))


def _log_lines(value: str) -> str:
    start = datetime(2026, 3, 1, 8, 0, tzinfo=UTC).timestamp()
    return "\n".join(
        f"{datetime.fromtimestamp(start + at, UTC):%Y-%m-%dT%H:%M:%SZ} INFO part={piece}"
        for at, piece in enumerate(pieces(value, 6))
    )


LAYOUTS: Final[dict[str, Callable[[str], str]]] = {
    "two letters of noise after each": each(lambda c: c + characters(2)),
    "a digit after each": each(lambda c: c + characters(1, "0123456789")),
    "a CJK character between": each(str, "的"),
    "commas and quotes": each(lambda c: f"'{c}'", ", "),
    "brackets round each": each(lambda c: f"[{c}]"),
    "code spans of three": split(3, "`{0}`", " "),
    "links of Markdown": split(5, "[{0}](https://a.example/{1})", " "),
    "a numbered line a character": lambda v: "\n".join(f"{at}. {c}" for at, c in enumerate(v, 1)),
    "a table of place and character": lambda v: "\n".join(
        f"| {at} | {c} |" for at, c in enumerate(v, 1)
    ),
    "down the columns of a table": _columns,
    "lines of a diff": split(7, "+{0}", "\n"),
    "lines of a log": _log_lines,
    "sentences around pieces of six": lambda v: " ".join(
        f"The {words(2)} {p} {words(2)}." for p in pieces(v, 6)
    ),
    "pieces that overlap by two": lambda v: " ".join(v[at : at + 8] for at in range(0, len(v), 6)),
    "pieces with noise at both ends": lambda v: " ".join(
        f"{characters(2)}{p}{characters(2)}" for p in pieces(v, 6)
    ),
    "pieces in reverse order, numbered": lambda v: "\n".join(
        f"{at}) {p}" for at, p in [*enumerate(pieces(v, 6), 1)][::-1]
    ),
    "two halves, 4 KB apart": lambda v: f"{v[: len(v) // 2]}\n{words(700)}\n{v[len(v) // 2 :]}",
    "last letters of lines": lambda v: "\n".join(f"{words(3)} {c}" for c in v),
    "tabs and spaces at the ends of lines": lambda v: "\n".join(
        words(2) + f"{b:08b}".translate(str.maketrans("01", " \t")) for b in v.encode()
    ),
}

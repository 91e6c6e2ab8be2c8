"""Tells a secret from what stands where a secret would: placeholders, words, data.

Documentation is full of tokens that are none, and a person who is asked about each stops reading.
Everything here works on ASCII bytes, as the search by shape does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

__all__ = ["is_inside_data", "is_plausible", "next_digit"]

_DUMMY: Final = re.compile(
    rb"x{5}|0{6}|#{4}|[*]{3}|[.]{3}|1234567890|1234[-_]1234|abcdefghij"
    rb"|example|placeholder|redacted|dummy|sample|changeme"
    rb"|your[-_ ]?(?:api|key|token|secret|pass|own)|insert[-_]|replace[-_]?(?:me|with)",
    re.IGNORECASE,
)
"""No random value holds these; none is shorter than needed for that."""
_VARIABLE: Final = re.compile(
    rb"[$%#@]?[({\[<].*|[$][A-Za-z_].*|%[a-z]|%\w+%|.*(?:[$][{(]|\{\{).*", re.DOTALL
)
"""What a shell, a template or a person fills in: ``${PASS}``, ``<password>``, ``%s``."""
_STOCK: Final = re.compile(
    rb"(?:my|your|the|some|new|old|db|user)?[-_]?"
    rb"(?:pass(?:word|wd|phrase)?|pwd?|pw|secrets?|tokens?|user(?:name)?|key|api_?key|admin|root"
    rb"|guest|test(?:ing)?|demo|foo|bar|baz|qux|none|null|true|false|xxx+|yyy+|zzz+|hidden|here"
    rb"|postgres|mysql|mariadb|mongo|redis|rabbit|tiger|scott|hunter2?|letmein|qwerty|string)"
    rb"[-_!]?\d{0,4}",
    re.IGNORECASE,
)
"""The passwords of examples."""
_PLAIN: Final = re.compile(rb"(?:[A-Z]?[a-z]{0,14}|[A-Z]{0,14})\d{0,4}")
_BETWEEN: Final = re.compile(rb"[-_.,:/=+]+|(?<=[a-z])(?=[A-Z])")
_DIGIT: Final = re.compile(rb"\d")
_SEEN: Final = 256
"""So many bytes of a token are weighed: a key's first lines say whether it is one."""
_DATA_BYTES: Final = 24
"""So many characters before a token are looked at."""
_DATA: Final = re.compile(rb"[A-Za-z0-9+/]{24}")
_MIXED: Final = ((re.compile(rb"[A-Z]"), 4), (re.compile(rb"[a-z]"), 4), (_DIGIT, 2))
"""Of what data has so many at least; no path does."""


def is_plausible(secret: bytes, entropy: float, *, plain: bool) -> bool:
    """Returns whether a secret part looks like one.

    Args:
        secret: What is secret of a token.
        entropy: The least that it must have, in bits a character (Shannon).
        plain: Whether it may be made of words and numbers.
    """
    head = secret[:_SEEN]
    if len(set(head)) < 2**entropy or _entropy(head) < entropy:
        return False
    if _DUMMY.search(head) or _VARIABLE.fullmatch(head) or _STOCK.fullmatch(head):
        return False
    return plain or not all(_PLAIN.fullmatch(each) for each in _BETWEEN.split(head))


def next_digit(data: bytes, start: int) -> int:
    """Returns where the next decimal digit is, the end where there is none."""
    match = _DIGIT.search(data, start)
    return match.start() if match else len(data)


def is_inside_data(view: bytes, start: int) -> bool:
    """Returns whether what starts here is the middle of something in base64, and not of a path.

    Args:
        view: The text.
        start: Where the token would begin.
    """
    return (
        view[start - 1 : start] in (b"+", b"/")
        and _DATA.fullmatch(view, max(0, start - _DATA_BYTES), start) is not None
        and all(len(kind.findall(view, start - _DATA_BYTES, start)) >= n for kind, n in _MIXED)
    )


def _entropy(data: bytes) -> float:
    size = len(data)
    return -sum(n / size * math.log2(n / size) for n in Counter(data).values())

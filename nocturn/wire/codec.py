"""JSON text and Python values: what crosses, and what is refused.

=====================  ==========================  =========================================
JavaScript             Python                      note
=====================  ==========================  =========================================
null, undefined        None                        an undefined property is left out
boolean                bool
number, whole          int                         exact; from 1e21 on a float
number, other          float                       NaN, Infinity and -0 too
bigint                 int                         at most 4,300 digits
string                 str                         NUL and lone surrogates too
array                  list                        a hole is None
object, of any class   dict                        own enumerable data properties: no methods, and
                                                   no getter is run
Date, URL              str                         ISO 8601, UTC; an invalid Date is refused
Map, Set, typed array  list                        a Map's as pairs
Error                  dict                        name and message
Number, String, ...    as what is in it            boxed primitives
function               refused in a list           None as the whole value of a script
symbol                 refused                     so are a Proxy, a Promise, a RegExp, a buffer,
                                                   an iterator and what is weak
cycle, over 256 deep   refused                     the error names the place
=====================  ==========================  =========================================

The other way, a tool's value must be exact in JavaScript or it is refused (:func:`encode`): whole
numbers within 2**53 - 1, finite floats, strings, lists, tuples, dicts with string keys.
"""

from __future__ import annotations

import json
import math
import re

from nocturn.wire.frames import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

__all__ = ["NotSendableError", "decode", "encode", "require_exact"]

MAX_DEPTH: Final = 300
"""Lists and objects within each other: the guest's 256, and the frame around them."""
NAMED_DEPTH: Final = 8
"""How deep a place is named in an error; deeper ones are said to be within it."""
MAX_SAFE_INTEGER: Final = 2**53 - 1
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))
"""Made once: given separators, ``json.dumps`` makes one at each call."""


class NotSendableError(ValueError):
    """A value that JavaScript cannot hold exactly; the message names the place, not the value."""


def decode(payload: bytes) -> dict[str, Any]:
    """Parses one frame from a worker.

    Returns:
        The frame's object.

    Raises:
        WireError: It is not UTF-8, not JSON, not an object, or nested more than ``MAX_DEPTH`` deep.
    """
    # Counting first keeps the parser, and whoever walks the value later, off a bomb's recursion.
    if len(payload) > MAX_DEPTH and payload.count(b"[") + payload.count(b"{") > MAX_DEPTH:
        _refuse_depth(payload)
    try:
        # Decoded here: of bytes the parser takes UTF-16 too, in which the count would be wrong.
        frame: dict[str, Any] = json.loads(payload.decode())
    except (ValueError, RecursionError):
        msg = "a frame is not JSON"
        raise WireError(msg) from None
    if type(frame) is not dict:
        msg = "a frame is not a JSON object"
        raise WireError(msg)
    return frame


def encode(value: Any) -> str:
    """Returns ``value``, which :func:`require_exact` has passed, as JSON text in ASCII."""
    return _COMPACT.encode(value)


def require_exact(value: Any, place: str = "value") -> None:
    """Passes a value that JavaScript can hold exactly.

    Args:
        value: What a tool returned.
        place: What the value is called in an error.

    Raises:
        NotSendableError: Something in it has no exact counterpart; the message names where.
    """
    _require_exact(value, place, 0)


def _require_exact(value: Any, place: str, depth: int) -> None:
    if value is None or isinstance(value, (str, bool)):
        return
    reason = ""
    if isinstance(value, int):
        if not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            reason = "is a whole number beyond 2**53 - 1; return it as a string"
    elif isinstance(value, float):
        if not math.isfinite(value):
            reason = "is not a finite number; return None or a string"
    elif depth > MAX_DEPTH:
        reason = f"is nested more than {MAX_DEPTH} deep, or refers back to itself"
    elif isinstance(value, (dict, list, tuple)):
        _require_exact_items(value, place, depth)
    else:
        reason = f"is of type {type(value).__name__}; return JSON values only"
    if reason:
        msg = f"{place} {reason}"
        raise NotSendableError(msg)


def _require_exact_items(value: Any, place: str, depth: int) -> None:
    named = depth < NAMED_DEPTH
    if isinstance(value, dict):
        pairs: dict[Any, Any] = value  # pyright: ignore[reportUnknownVariableType] - of anything
        for key, item in pairs.items():
            if not isinstance(key, str):
                msg = f"{place} has a key of type {type(key).__name__}; use strings"
                raise NotSendableError(msg)
            _require_exact(item, f"{place}.{key}" if named else place, depth + 1)
    else:
        for index, item in enumerate(value):
            _require_exact(item, f"{place}[{index}]" if named else place, depth + 1)


# A string is taken whole, without a way back into it, so that six megabytes of one cost no memory.
_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


def _refuse_depth(payload: bytes) -> None:
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(payload):
        if found[0] in (b"[", b"{"):
            depth += 1
            if depth > MAX_DEPTH:
                msg = f"a frame is nested more than {MAX_DEPTH} deep"
                raise WireError(msg)
        elif found[0] in (b"]", b"}"):
            depth -= 1

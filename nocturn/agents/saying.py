"""What a tool's value looks like to a model: a text, or JSON that none of it breaks out of."""

from __future__ import annotations

import json
from typing import Any

from nocturn.visible import visible

__all__ = ["as_text"]


def as_text(value: Any) -> str:
    """Returns a value as a model reads it, safe to encode as UTF-8.

    A text stays as it is: a note that is read may be written back. All else is JSON, in which
    characters that show otherwise than they are stand as JSON's own escapes, so that it says the
    same.

    Args:
        value: What JSON can hold.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return visible(json.dumps(value, ensure_ascii=False), keep="", escape=_escaped)


def _escaped(code: int) -> str:
    return json.dumps(chr(code))[1:-1]

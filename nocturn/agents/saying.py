"""What a tool's value looks like to a model: a text, or JSON that none of it breaks out of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["as_text", "plain_schema"]


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


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a tool's JSON schema without what says nothing to a model.

    That is titles, what the tool's description says already, and null where nothing need be given.
    """
    told: dict[str, Any] = _plain(schema)
    told.pop("description", None)
    return told


def _plain(schema: Any) -> Any:
    if isinstance(schema, dict):
        said: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType] - JSON's
        return {
            key: {name: _plain(each) for name, each in value.items()}
            if key == "properties"
            else _plain(value)
            for key, value in said.items()
            if key != "title" and not (key == "default" and value is None)
        }
    return [_plain(each) for each in schema] if isinstance(schema, list) else schema  # pyright: ignore[reportUnknownVariableType] - JSON's


def _escaped(code: int) -> str:
    return json.dumps(chr(code))[1:-1]

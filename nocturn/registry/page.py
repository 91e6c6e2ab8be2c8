"""A tool's page in Markdown, made from the tool itself, so that it cannot drift."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nocturn.registry.tool import Tool

__all__ = ["call_example", "page", "wrapper_example"]

_WIDTH: Final = 80
"""An example that is longer is broken into lines."""


def page(tool: Tool) -> str:
    """Returns a tool's page: gate, input, output, from JavaScript both ways, notes."""
    said = tool.page
    parts = [
        "<!-- Generated from the registry by scripts/generate; do not edit. -->",
        f"# {tool.name}",
        f"Gate: {_gate(tool)} · {tool.axis}",
        tool.description,
        "## Input",
        _input(tool),
        "## Output",
        said.get("returns", ""),
    ]
    if "example" in said:
        parts.append("## From JavaScript")
        if "wrapper" in said:
            parts.append(f"wrapper (idiomatic)\n\n```js\n{wrapper_example(tool)}\n```")
        parts.append(f"`nocturn.call`\n\n```js\n{call_example(tool)}\n```")
    if said.get("notes"):
        parts += ["## Notes", said["notes"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def wrapper_example(tool: Tool) -> str:
    """Returns the example as a call of the wrapper, runnable JavaScript."""
    name, _, parameters = tool.page["wrapper"].partition("(")
    plain, _, options = parameters.partition("{")
    given = tool.page["example"]
    values = [_text(given[word]) for word in re.findall(r"\w+", plain) if word in given]
    # Within {…} a name stays, as the key.
    named = [f"{w}: {_text(given[w])}" for w in re.findall(r"\w+", options) if w in given]
    if named:
        values.append(f"{{ {', '.join(named)} }}")
    return _spread(name, values)


def call_example(tool: Tool) -> str:
    """Returns the example as a ``nocturn.call``, runnable JavaScript."""
    fields = [f"{name}: {_text(value)}" for name, value in tool.page["example"].items()]
    head = f'nocturn.call("{tool.name}", {{'
    if not fields:
        return head + "});"
    line = f"{head} {', '.join(fields)} }});"
    return (
        line if len(line) <= _WIDTH else head + "\n" + "".join(f"  {f},\n" for f in fields) + "});"
    )


def _spread(name: str, values: list[str]) -> str:
    line = f"{name}({', '.join(values)});"
    return (
        line if len(line) <= _WIDTH else f"{name}(\n" + "".join(f"  {v},\n" for v in values) + ");"
    )


def _gate(tool: Tool) -> str:
    if not tool.effects:
        return "ungated"
    return "; ".join(
        f"{each.kind}, verb {each.verb}"
        + (f", target the canonical `{each.target}`" if isinstance(each.target, str) else "")
        for each in tool.effects
    )


def _input(tool: Tool) -> str:
    schema = tool.schema()
    fields = schema.get("properties", {})
    if not fields:
        return "None."
    required = set(schema.get("required", ()))
    rows = ["| Field | Type | Required | Notes |", "| --- | --- | --- | --- |"]
    for name, field in fields.items():
        needed = "yes" if name in required else "no"
        rows.append(f"| `{name}` | {_type(field)} | {needed} | {field.get('description', '')} |")
    return "\n".join(rows)


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    return str(field.get("type", "any"))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

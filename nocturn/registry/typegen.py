"""The tools as TypeScript declarations, made from the registry, so that they cannot drift.

What is there in every script is text in ``globals.d.ts`` beside this file. Names, descriptions and
values of tools may hold anything: they stand as literals, or in comments that they cannot end.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nocturn.registry.tool import Tool

__all__ = ["declarations"]

_GLOBALS: Final = Path(__file__).with_name("globals.d.ts")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_WRAPPER: Final = re.compile(r"nocturn\.((?:[a-z]\w*\.)?[a-z]\w*)\((\{?)([\w, ]*)\}?\)", re.ASCII)
"""A wrapper as a tool's page has it: ``nocturn.memory.list({limit, cursor})``."""
_SIMPLE: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
_RESERVED: Final = frozenset(
    """
    arguments await break case catch class const continue debugger default delete do else enum eval
    export extends false finally for function if implements import in instanceof interface let new
    null package private protected public return static super switch this throw true try typeof var
    void while with yield
    """.split()  # noqa: SIM905 - a list of them would be forty lines
)
_DEEPEST: Final = 32
"""Types within each other that are written out; what is deeper is ``any``."""


def declarations(tools: Iterable[Tool], wrapped: Iterable[str] = ()) -> str:
    """Returns a file of declarations: what every script has, and these tools.

    Args:
        tools: The tools.
        wrapped: The names of those that the prelude has a wrapper for.
    """
    writer, names = _Writer(), frozenset(wrapped)
    calls: list[str] = []
    wrappers: dict[str, list[str]] = {}
    for tool in tools:
        function = writer.function(tool)
        calls.append(_commented(function.about, function.as_call()))
        spelled = _WRAPPER.fullmatch(tool.page.get("wrapper", "")) if tool.name in names else None
        if spelled is not None:
            room, _, name = spelled[1].rpartition(".")
            text = function.as_wrapper(name, re.findall(r"\w+", spelled[3]), spelled[2] == "{")
            wrappers.setdefault(room, []).append(text)
        for room, inside in tool.page.get("members", {}).items() if tool.name in names else ():
            wrappers.setdefault(room, []).extend(inside)
    members = [
        *wrappers.pop("", ()),
        *(f"readonly {room}: {_block(inside)};" for room, inside in wrappers.items()),
    ]
    exports = [
        f"export const {name}: Nocturn[{_literal(name)}];"
        for name in re.findall(r"^readonly (\w+):", "\n".join(members), re.MULTILINE)
    ]
    return "\n".join(
        [
            "// Generated from the registry by scripts/generate or `nocturn types`; do not edit.\n",
            _GLOBALS.read_text(encoding="utf-8"),
            f"interface NocturnCall<Async extends boolean> {_block(calls)}",
            f"interface Nocturn {_block(members)}",
            f'declare module "nocturn" {_block(exports)}',
            *writer.named.values(),
            "",
        ]
    )


@dataclass(frozen=True, slots=True)
class _Function:
    """A tool, its parts as text.

    Attributes:
        name: The tool's name.
        about: What it does, and what comes back.
        fields: The type of each argument, and its description.
        required: The arguments that must be there.
        reply: The type of what comes back.
    """

    name: str
    about: str
    fields: Mapping[str, tuple[str, str]]
    required: frozenset[str]
    reply: str

    def as_call(self) -> str:
        sign = "" if self.required else "?"
        given = self._object(self.fields) if self.fields else "Record<string, never>"
        return (
            f"(tool: {_literal(self.name)}, args{sign}: {given}): "
            f"NocturnReply<{self.reply}, Async>;"
        )

    def as_wrapper(self, name: str, parameters: list[str], by_name: bool) -> str:
        """Returns the wrapper as a member: arguments in order, the others by name behind them."""
        ordered = [] if by_name else [each for each in parameters if each in self.fields]
        rest = [each for each in self.fields if each not in ordered]
        # A name that is a word of the language, such as `new`, is no parameter's.
        given = [f"{each}_" if each in _RESERVED else each for each in ordered]
        notes = [
            f"@param {p} {self.fields[each][1]}" for p, each in zip(given, ordered, strict=True)
        ]
        given = [
            f"{parameter}{'' if each in self.required else '?'}: {self.fields[each][0]}"
            for parameter, each in zip(given, ordered, strict=True)
        ]
        if rest:
            sign = "" if self.required.intersection(rest) else "?"
            given.append(f"options{sign}: {self._object(rest)}")
        about = "\n".join([self.about, *notes])
        return _commented(
            about, f"readonly {name}: NocturnWrapper<({', '.join(given)}) => {self.reply}>;"
        )

    def _object(self, names: Iterable[str]) -> str:
        return _block(
            _member(each, *self.fields[each], required=each in self.required) for each in names
        )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes JSON schemas as types.

    Attributes:
        named: The declarations of those that have a name of their own, by that name.
    """

    named: dict[str, str] = field(default_factory=dict[str, str])

    def function(self, tool: Tool) -> _Function:
        schema = tool.schema()
        defined = self._define(tool.name, schema)
        returns = tool.page.get("returns", "")
        return _Function(
            name=tool.name,
            about=f"{tool.description}\n\n{returns}".strip(),
            fields={
                name: (self._type(each, defined), each.get("description", ""))
                for name, each in schema.get("properties", {}).items()
            },
            required=frozenset(schema.get("required", ())),
            reply=self._reply(tool),
        )

    def _reply(self, tool: Tool) -> str:
        from typing import get_type_hints

        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        annotation = inspect.signature(tool.function).return_annotation
        if annotation is inspect.Signature.empty:
            return "any"
        annotated = types.SimpleNamespace(__annotations__={"return": annotation})
        names = inspect.unwrap(tool.function).__globals__
        try:
            hint = get_type_hints(annotated, globalns=names)["return"]
            schema = TypeAdapter(hint).json_schema(mode="serialization")
        except (NameError, TypeError, PydanticUserError):
            return "any"  # a type that is there for a checker only, or that JSON has not
        return self._type(schema, self._define(f"{tool.name}_reply", schema))

    def _define(self, owner: str, schema: Mapping[str, Any]) -> dict[str, str]:
        """Declares what a schema has named, and returns the names' references."""
        found: Mapping[str, Any] = schema.get("$defs", {})
        defined: dict[str, str] = {}
        for each in found:
            name = "Nocturn_" + re.sub(r"[^A-Za-z0-9_]", "_", f"{owner}_{each}")
            while name in self.named:
                name += "_"
            self.named[name] = ""  # taken: types may name each other
            defined[f"#/$defs/{each}"] = name
        for each, name in zip(found.values(), defined.values(), strict=True):
            self.named[name] = _commented(
                each.get("description", ""), f"type {name} = {self._type(each, defined)};"
            )
        return defined

    def _type(self, schema: Any, defined: Mapping[str, str], depth: int = 0) -> str:
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return "any"
        told: dict[str, Any] = schema  # pyright: ignore[reportUnknownVariableType] - JSON's

        def inner(each: Any) -> str:
            return self._type(each, defined, depth + 1)

        name = told.get("type")
        if "$ref" in told:
            return defined.get(told["$ref"], "any")
        if "const" in told or "enum" in told:
            return _either(_literal(each) for each in told.get("enum", [told.get("const")]))
        if kinds := told.get("anyOf", told.get("oneOf")):
            return _either(inner(each) for each in kinds)
        if name == "array":
            return _list(told, inner)
        if name == "object":
            return _record(told, inner)
        return _SIMPLE.get(str(name), "any")


def _list(schema: Mapping[str, Any], inner: Callable[[Any], str]) -> str:
    if "prefixItems" not in schema:
        return f"Array<{inner(schema.get('items'))}>"
    items = [inner(each) for each in schema["prefixItems"]]
    if isinstance(schema.get("items"), dict):
        items.append(f"...Array<{inner(schema['items'])}>")
    return f"[{', '.join(items)}]"


def _record(schema: Mapping[str, Any], inner: Callable[[Any], str]) -> str:
    required = schema.get("required", ())
    others = schema.get("additionalProperties", "properties" not in schema)
    members = [
        _member(name, inner(each), each.get("description", ""), required=name in required)
        for name, each in schema.get("properties", {}).items()
    ]
    if not members:
        return f"Record<string, {'never' if others is False else inner(others)}>"
    # An index signature must suit the members too, so it says no more than that there are others.
    return _block([*members, *(["[key: string]: any;"] if others else [])])


def _member(name: str, kind: str, about: str, *, required: bool) -> str:
    return _commented(about, f"{_key(name)}{'' if required else '?'}: {kind};")


def _either(kinds: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(kinds)) or "never"


def _literal(value: Any) -> str:
    """Returns a value as a type; JSON's escapes are TypeScript's."""
    if isinstance(value, float) and not math.isfinite(value):
        return "number"
    return json.dumps(value) if isinstance(value, str | int | float | None) else "any"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) else json.dumps(name)


def _block(lines: Iterable[str]) -> str:
    inside = "\n".join(lines)
    if not inside:
        return "{}"
    return "{\n" + re.sub(r"^(?=.)", "  ", inside, flags=re.MULTILINE) + "\n}"


def _commented(text: str, code: str) -> str:
    """Returns code under a comment, which no text can end."""
    lines = visible(text.replace("*/", "*\\/"), keep="\n").split("\n")
    if lines == [""]:
        return code
    if len(lines) == 1:
        return f"/** {lines[0]} */\n{code}"
    inside = "\n".join(f" * {each}".rstrip() for each in lines)
    return f"/**\n{inside}\n */\n{code}"

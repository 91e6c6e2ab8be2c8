"""Steps 2 to 4: arguments as they came in, parsed strictly, put in canonical form, and capped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeGuard

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from nocturn import errors
from nocturn.errors import NocturnError, too_large
from nocturn.guard.scanner import strings_in
from nocturn.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nocturn.registry.call import Call
    from nocturn.registry.tool import Tool

__all__ = ["canonical_of", "quoted"]

_SHOWN: Final = 80
"""How many characters of a name are echoed in an error."""


def canonical_of(
    tool: Tool, call: Call, call_bytes: int, redact: Callable[[str], str]
) -> dict[str, Any]:
    """Returns a call's arguments as the tool is given them.

    Args:
        tool: The tool that was called.
        call: The call.
        call_bytes: The most that its arguments may have, as JSON in UTF-8.
        redact: Strikes secrets out of what an error echoes.

    Raises:
        NocturnError: ``BAD_ARGUMENTS`` or ``TOO_LARGE``, naming the field; and what the tool's own
            canonical step raises.
    """
    parsed = _parse(tool, call, call_bytes, redact)  # 2
    canonical = tool.canonical(dict(parsed)) if tool.canonical else dict(parsed)  # 3
    _cap(tool, call, canonical, call_bytes)  # 4
    return canonical


def quoted(text: str) -> str:
    """Returns a name of the guest's as an error shows it: visible, cut, in quotes."""
    shown = visible(text, keep="")
    return f"“{shown[:_SHOWN]}…”" if len(shown) > _SHOWN else f"“{shown}”"


def _parse(tool: Tool, call: Call, call_bytes: int, redact: Callable[[str], str]) -> dict[str, Any]:
    """Step 2: strict types, no extra keys; the error names the field."""
    if call.problem is not None:
        raise NocturnError(errors.BAD_ARGUMENTS, call.problem)
    if call.size_bytes > call_bytes and call.arguments is None:
        raise too_large("arguments", call_bytes, call.size_bytes, "split it")
    if not _is_object(call.arguments):
        raise NocturnError(
            errors.BAD_ARGUMENTS, "the arguments are not an object: pass {name: value, …}"
        )
    for name, value in call.arguments.items():
        for text in strings_in((name, value)):
            _require_unicode(str(name), text, redact)
    return _validate(tool, call.arguments, redact)


def _validate(
    tool: Tool, arguments: dict[str, Any], redact: Callable[[str], str]
) -> dict[str, Any]:
    try:
        return tool.parse(to_json(arguments))
    except PydanticSerializationError:
        raise _too_deep(tool) from None
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "json_invalid":
            raise _too_deep(tool) from None
        # Redacted before it is cut: half a secret would pass.
        place = redact(".".join(str(part) for part in first["loc"]))
        known = ", ".join(tool.fields) or "none"
        said = {
            "missing": f"argument {place} is missing; {tool.name} takes: {known}",
            "extra_forbidden": f"there is no argument {quoted(place)}; {tool.name} takes: {known}",
        }.get(first["type"], f"argument {quoted(place)}: {first['msg']}")
        raise NocturnError(errors.BAD_ARGUMENTS, said, detail={"field": place[:256]}) from None


def _too_deep(tool: Tool) -> NocturnError:
    known = ", ".join(tool.fields) or "none"
    return NocturnError(
        errors.BAD_ARGUMENTS, f"the arguments are nested too deep; {tool.name} takes: {known}"
    )


def _require_unicode(name: str, text: str, redact: Callable[[str], str]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as problem:
        field = redact(name).encode("utf-8", "replace").decode()
        raise NocturnError(
            errors.BAD_ARGUMENTS,
            f"argument {quoted(field)} has half a surrogate pair at position {problem.start}, "
            "which no text file can hold: remove it (String.prototype.toWellFormed)",
            detail={"field": field[:256]},
        ) from None


def _cap(tool: Tool, call: Call, canonical: Mapping[str, Any], call_bytes: int) -> None:
    """Step 4: no value is over its cap."""
    if call.size_bytes > call_bytes:
        raise too_large("arguments", call_bytes, call.size_bytes, "split it")
    for name, limit in (tool.caps or {}).items():
        value = canonical.get(name)
        if isinstance(value, str) and (size := len(value.encode())) > limit:
            raise too_large(tool.spelled(name), limit, size, "split it")


def _is_object(value: Any) -> TypeGuard[dict[Any, Any]]:
    return isinstance(value, dict)

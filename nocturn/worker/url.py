"""Addresses, taken apart as the URL standard has it, by the library ``ada`` inside the jail.

It is native code that reads what the guest wrote, as the engine is; whoever takes it over is where
the engine's conqueror is. The module is loaded from its own folder: the package's ``__init__``
would load an adapter that is not needed here.
"""

from __future__ import annotations

from _json import scanstring  # json itself costs 7 ms of a cold start

from _ada_wrapper import ffi, lib

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs 3 ms of every cold start
    from typing import Any, Final

__all__ = ["take_apart"]

_READERS: Final = tuple(
    getattr(lib, f"ada_get_{part}")
    for part in (
        *("protocol", "username", "password", "host", "hostname", "port", "pathname"),
        *("search", "hash"),
    )
)


def take_apart(order: str, one: str, other: str) -> str:
    """Parses an address or changes a part of it. Never raises: the engine calls it.

    Args:
        order: ``parse``, or the name of the part to set.
        one: The address, as JSON text of a string without half surrogate pairs.
        other: Likewise the base, or the part's new text; empty for no base.

    Returns:
        The parts, one a line: href, origin, protocol, username, password, host, hostname, port,
        pathname, search, hash; empty where there is no such address.
    """
    try:
        texts = [scanstring(text, 1)[0].encode() for text in (one, other) if text]
        return _take_apart(order, *texts)
    except Exception:  # noqa: BLE001 - the engine would end in SystemError; the guest hears "Invalid URL"
        return ""


def _take_apart(order: str, address: bytes, other: bytes | None = None) -> str:
    if order == "parse" and other is not None:
        parsed = lib.ada_parse_with_base(address, len(address), other, len(other))
    else:
        parsed = lib.ada_parse(address, len(address))
    try:
        if not lib.ada_is_valid(parsed):
            return ""
        if order != "parse" and other is not None:
            changed = getattr(lib, f"ada_set_{order}")(parsed, other, len(other))
            if order == "href" and not changed:
                return ""
        origin = lib.ada_get_origin(parsed)
        try:
            parts = [_text(lib.ada_get_href(parsed)), _text(origin)]
        finally:
            lib.ada_free_owned_string(origin)
        parts += [_text(read(parsed)) for read in _READERS]
        return "\n".join(parts)
    finally:
        lib.ada_free(parsed)


def _text(view: Any) -> str:
    return bytes(ffi.buffer(view.data, view.length)).decode() if view.length else ""

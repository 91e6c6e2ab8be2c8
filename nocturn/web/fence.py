"""What a request must look like before anything reads it, and what each answer says to a browser.

Against other sites that this person's browser visits: a name of theirs that leads here (``Host``),
a request that they have the browser send (``Origin``, ``Sec-Fetch-Site``, a header that no form
can set), a frame around the page, and script that came in by a text (the policy).
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Fence", "address_of"]

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_HTTP_PORT: Final = 80


class Fence:
    """Lets in what the page itself can have sent.

    Args:
        app: What is behind it.
        host: The name or address that the server was told to listen at.
        port: Its port.
    """

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._app = app
        self._port = port
        self._names = {host.lower(), "localhost", "127.0.0.1", "::1"}
        # Reached by any of the machine's addresses, which no site can claim as its own name.
        self._by_address = not _is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or passes it on."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        answer: ASGIApp = self._app
        if refusal is not None:
            status, said = refusal
            answer = JSONResponse({"error": {"code": None, "message": said}}, status)
        await answer(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        given: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name, []).append(value.decode("latin-1"))
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return 421, "this is not the place that the Host header names"
        origins = given.get(b"origin", [])
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return 403, "the request comes from another origin"
        if scope["path"].startswith("/api/"):
            if any(site != "same-origin" for site in given.get(b"sec-fetch-site", [])):
                return 403, "the request comes from another site"
            if scope["method"] == "POST":
                if not origins:
                    return 403, "a change needs an Origin header"
                if given.get(b"content-type", []) != ["application/json"]:
                    return 415, "a change is sent as application/json"
        return None

    def _is_ours(self, host: str) -> bool:
        name, port = _split(host.lower())
        if port != str(self._port):
            return False
        return name in self._names or (self._by_address and _is_address(name))


def address_of(host: str, port: int) -> str:
    """Returns host and port as they stand in an address: ``127.0.0.1:8000``, ``[::1]:8000``."""
    name = f"[{host}]" if ":" in host else host
    return name if port == _HTTP_PORT else f"{name}:{port}"


def _split(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, str(_HTTP_PORT)
    return name.removeprefix("[").removesuffix("]"), port


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host.lower() == "localhost" or (
        _is_address(host) and ipaddress.ip_address(host).is_loopback
    )

"""Serves the page of one workspace until it is told to end."""

from __future__ import annotations

import logging
import os
import socket
import tempfile
import webbrowser
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import uvicorn

from nocturn.errors import ConfigurationError
from nocturn.web.app import make_app
from nocturn.web.door import Door
from nocturn.web.fence import address_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from nocturn.workspace import Workspace

__all__ = ["serve"]

_KEEP_SECONDS: Final = 65
_END_SECONDS: Final = 2
_ANY: Final = ("0.0.0.0", "::")  # noqa: S104 - to know it
_ELSEWHERE: Final = "192.0.2.1"
"""An address that is nobody's (RFC 5737)."""


def serve(
    ws: Workspace, host: str, port: int, *, show: Callable[[str], None], browser: bool = False
) -> None:
    """Serves until Ctrl-C.

    Args:
        ws: The workspace.
        host: The name or address to listen at.
        port: The port; 0 for a free one.
        show: Told each link: the first, and the next whenever one was used.
        browser: Whether to open the first link in the person's browser.

    Raises:
        ConfigurationError: Nothing can listen there.
    """
    with ExitStack() as stack:
        listening = stack.enter_context(_listening(host, port))
        port = listening.getsockname()[1]
        links: list[str] = []

        def tell(token: str) -> None:
            # Behind the #, which no browser sends and no server logs.
            links.append(f"http://{address_of(_reachable(host), port)}/#in={token}")
            show(links[-1])

        def begin() -> None:
            door.open()
            if browser:
                _open(links[0], stack)

        # What it would log is for people who run servers; a fault of ours has a log of its own.
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
        door = Door(tell)
        app = make_app(ws, door, host, port, lambda: server.should_exit)
        server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                http="h11",
                timeout_keep_alive=_KEEP_SECONDS,
                timeout_graceful_shutdown=_END_SECONDS,
            ),
            begin,
        )
        server.run(sockets=[listening])


class _Server(uvicorn.Server):
    """Tells when it answers, and is so far that Ctrl-C ends it in order."""

    def __init__(self, config: uvicorn.Config, begin: Callable[[], None]) -> None:
        super().__init__(config)
        self._begin = begin

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._begin()


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "no such port"
        message = f"the page cannot be served at {host}, port {port}: {why}"
        raise ConfigurationError(message) from None


def _reachable(host: str) -> str:
    """Returns an address that leads here; "any" is one to listen at, not to go to."""
    if host not in _ANY:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE, 9))  # sends nothing: the system says where it would from
        except OSError:
            return "localhost"
        address: str = probe.getsockname()[0]
        return address


def _open(link: str, stack: ExitStack) -> None:
    """Opens a link by way of a private file: what is on a command line, every user can read."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nocturn-"))
    path = os.path.join(folder, "open.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">\n')
    webbrowser.open(f"file://{path}")

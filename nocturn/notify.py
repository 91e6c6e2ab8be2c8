"""Tells a person that a question waits: how to look at it and how many wait, never what is asked.

Where to tell is in the environment, ``NOCTURN_NOTIFY``: addresses with white space between them.
They often hold a token, so they are in no workspace, no log and no error. ``https://`` and
``http://`` are webhooks, which get a JSON object; every other scheme is one of apprise's.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["notify"]

_LOG: Final = logging.getLogger("nocturn")
_SECONDS: Final = 10.0


def notify(identity: str, waiting: int) -> None:
    """Says that a question waits: on the ``nocturn`` logger, and wherever was configured.

    Returns at once. What cannot be told is a warning, and the question waits all the same.

    Args:
        identity: The question's id.
        waiting: How many questions wait now.
    """
    command = f"nocturn approvals show {identity}"
    count = "1 question waits" if waiting == 1 else f"{waiting} questions wait"
    _LOG.warning("%s for an answer: %s", count, command)
    for address in os.environ.get("NOCTURN_NOTIFY", "").split():
        told = {"id": identity, "waiting": waiting, "text": f"nocturn: {count}: {command}"}
        threading.Thread(
            target=_send, args=(address, told), name="nocturn-notify", daemon=True
        ).start()


def _send(address: str, told: dict[str, object]) -> None:
    scheme = address.partition("://")[0].lower()
    try:
        if scheme in ("http", "https"):
            _post(address, told)
        else:
            _by_apprise(address, str(told["text"]))
    except Exception as fault:  # noqa: BLE001 - libraries' and people's, and none may end the question
        # Its words may quote the address, which may hold a token.
        why = str(fault) if type(fault) is _Failed else type(fault).__name__
        known = scheme if scheme.isalnum() and len(scheme) < len(address) else "an address"
        _LOG.warning("a question waits, and %s could not be told: %s", known, why)


class _Failed(Exception):
    """It did not work, in words of ours."""


def _post(address: str, told: dict[str, object]) -> None:
    from urllib import request as web
    from urllib.error import HTTPError

    opener = web.OpenerDirector()
    # No handler of redirections, which could lead into another network: one is an error.
    for handler in (
        web.ProxyHandler,
        web.HTTPHandler,
        web.HTTPSHandler,
        web.HTTPDefaultErrorHandler,
        web.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    headers = {"Content-Type": "application/json", "User-Agent": "nocturn"}
    request = web.Request(address, json.dumps(told).encode(), headers, method="POST")  # noqa: S310 - an http one, as was looked at
    try:
        opener.open(request, timeout=_SECONDS).close()
    except HTTPError as error:
        error.close()
        raise _Failed(f"it answered {error.code}") from None


def _by_apprise(address: str, text: str) -> None:
    try:
        import apprise
    except ImportError:
        raise _Failed("apprise is not installed (pip install 'nocturn[notify]')") from None
    service: Any = apprise.Apprise()  # its types are partly unknown
    with _silence("apprise"):
        if not service.add(address):
            raise _Failed("it is no address that apprise knows")
        if not service.notify(body=text, title="nocturn"):
            raise _Failed("it was not taken")


@contextmanager
def _silence(name: str) -> Generator[None]:
    """Drops what a library logs meanwhile, which quotes addresses, from whatever thread."""
    logger = logging.getLogger(name)

    def drop(_: logging.LogRecord) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)

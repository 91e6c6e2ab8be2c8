"""``nocturn serve``: the page."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from nocturn.cli.options import Folder, SecretEnv, open_workspace

__all__ = ["serve"]

_HERE: Final = "127.0.0.1"
_THIS_MACHINE: Final = (_HERE, "localhost", "::1")


def serve(
    workspace: Folder = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; else here only.")
    ] = _HERE,
    port: Annotated[
        int, typer.Option("--port", metavar="PORT", min=0, max=65_535, help="0: a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open it in your browser.")] = False,
    secret_env: SecretEnv = None,
) -> int:
    """Serve a page to answer questions, read notes, take back grants and see the journal.

    It is for this machine's browser, until Ctrl-C. The link that is shown signs in one browser
    once; when it was used, the next one is shown.
    """
    from nocturn.layout import say, tell
    from nocturn.web.server import serve as serve_page

    if host not in _THIS_MACHINE:
        tell(
            "nocturn: whoever can reach this address can try to use the page, and what it sends "
            "is not encrypted: a tunnel to this machine (ssh -L) is safer"
        )
    with open_workspace(workspace, secret_env=secret_env) as ws:
        try:
            serve_page(ws, host, port, show=lambda link: say(f"sign in: {link}"), browser=browser)
        except KeyboardInterrupt:
            return 0
    return 0

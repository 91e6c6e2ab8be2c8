"""The page's requests: each passes the fence, then the door, and is answered at the desk."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from nocturn import errors
from nocturn.errors import NocturnError
from nocturn.web.desk import Desk
from nocturn.web.fence import Fence

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from nocturn.web.desk import News
    from nocturn.web.door import Door
    from nocturn.workspace import Workspace

__all__ = ["make_app"]

_LOG: Final = logging.getLogger("nocturn")
_BODY_BYTES: Final = 16_384
_DIGITS: Final = 10
_LOOK_SECONDS: Final = 0.4
_SIGN_OF_LIFE_LOOKS: Final = 25
_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8")
        for name in ("main", "server", "elements", "questions", "notes", "grants", "journal")
    },
}
_HTTP_STATUS: Final = {
    errors.BAD_ARGUMENTS: 400,
    errors.PATH_ESCAPE: 400,
    errors.NOT_FOUND: 404,
    errors.NOT_A_NOTE: 404,
    errors.CONFLICT: 409,
    errors.TOO_LARGE: 413,
    errors.STORAGE: 503,
}
"""The one table from an error's code to a status; what is not in it is a 500."""


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Login(_Body):
    token: str


class _Answer(_Body):
    option: str | None
    digest: str


class _Nothing(_Body):
    pass


_B = TypeVar("_B", bound=_Body)


def make_app(
    ws: Workspace, door: Door, host: str, port: int, ending: Callable[[], bool]
) -> ASGIApp:
    """Puts the page together.

    Args:
        ws: The workspace.
        door: Who may come in.
        host: Where the server listens.
        port: Its port.
        ending: Whether the server is about to end, so that what is followed ends too.
    """
    return Fence(_App(Desk(ws), door, ending).starlette, host, port)


class _App:
    def __init__(self, desk: Desk, door: Door, ending: Callable[[], bool]) -> None:
        self._desk = desk
        self._door = door
        self._ending = ending
        get, post = self._get, self._post
        self.starlette = Starlette(
            routes=[
                *(Route(path, _file(*what), methods=["GET"]) for path, what in _FILES.items()),
                Route("/api/login", self._login, methods=["POST"]),
                post("/api/logout", _Nothing, self._logout),
                get("/api/about", lambda _: desk.about()),
                get("/api/questions/{id}", lambda r: desk.question(r.path_params["id"])),
                post(
                    "/api/questions/{id}/answer",
                    _Answer,
                    lambda r, body: desk.answer(r.path_params["id"], body.option, body.digest),
                ),
                get(
                    "/api/notes",
                    lambda r: desk.notes(r.query_params.get("cursor"), _asked(r, "search")),
                ),
                get("/api/note", lambda r: desk.note(_asked(r, "path"))),
                get("/api/grants", lambda _: desk.grants()),
                post(
                    "/api/grants/{id}/revoke",
                    _Nothing,
                    lambda r, _: desk.revoke(r.path_params["id"]),
                ),
                get("/api/journal", lambda r: desk.journal(_number(_asked(r, "lines")))),
                get("/api/journal/verdict", lambda _: desk.verify()),
                Route("/api/events", self._events, methods=["GET"]),
            ],
            exception_handlers={NocturnError: self._told, HTTPException: _told_http},
        )
        self.starlette.router.redirect_slashes = False

    def _get(self, path: str, look: Callable[[Request], Any]) -> Route:
        async def endpoint(request: Request) -> Response:
            self._session(request)
            return await self._done(look, request)

        return Route(path, endpoint, methods=["GET"])

    def _post(self, path: str, form: type[_Body], do: Callable[[Request, Any], Any]) -> Route:
        async def endpoint(request: Request) -> Response:
            self._session(request)
            return await self._done(do, request, await _body(request, form))

        return Route(path, endpoint, methods=["POST"])

    async def _done(self, work: Callable[..., Any], *given: Any) -> Response:
        try:
            return _Json(await run_in_threadpool(work, *given))
        except (NocturnError, HTTPException):
            raise
        except Exception as fault:  # noqa: BLE001 - ours: the log has it, the browser no word of it
            _LOG.error("a request of the page failed\n%s", self._desk.traceback_of(fault))
            raise HTTPException(500, "a fault of nocturn's own, please report it") from None

    def _session(self, request: Request) -> str:
        """Returns the session; it travels in a header, which no other site can have sent."""
        scheme, _, session = request.headers.get("authorization", "").partition(" ")
        if scheme != "Bearer" or not self._door.is_inside(session):
            raise HTTPException(401, "sign in with the link that nocturn serve shows")
        return session

    async def _login(self, request: Request) -> Response:
        body = await _body(request, _Login)
        session = self._door.enter(body.token)
        if session is None:
            raise HTTPException(401, "this link was used before: take the one that is shown now")
        return _Json({"session": session})

    def _logout(self, request: Request, _: _Body) -> dict[str, Any]:
        self._door.leave(self._session(request))
        return {}

    async def _events(self, request: Request) -> Response:
        session = self._session(request)
        return StreamingResponse(self._stream(session), media_type="text/event-stream")

    async def _stream(self, session: str) -> AsyncIterator[bytes]:
        news: News | None = None
        looks = 0
        while not self._ending() and self._door.is_inside(session):
            try:
                news = await run_in_threadpool(self._desk.news, news)
            except NocturnError as error:
                yield _event("trouble", self._desk.said(error))
                return
            if news.waiting is not None:
                yield _event("waiting", news.waiting)
            if news.lines:
                yield _event("lines", news.lines)
            looks += 1
            if looks % _SIGN_OF_LIFE_LOOKS == 0:
                yield b": still here\n\n"
            await asyncio.sleep(_LOOK_SECONDS)

    def _told(self, _: Request, error: Exception) -> Response:
        told = self._desk.said(error)
        return _Json({"error": told}, _HTTP_STATUS.get(told["code"] or "", 500))


class _Json(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


def _file(name: str, kind: str) -> Callable[[Request], Response]:
    with open(os.path.join(os.path.dirname(__file__), "page", name), "rb") as file:
        data = file.read()
    return lambda _: Response(data, media_type=kind)


async def _body(request: Request, form: type[_B]) -> _B:
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > _BODY_BYTES:
            raise HTTPException(413, f"the request is over {_BODY_BYTES} bytes")
    try:
        return form.model_validate_json(bytes(data))
    except ValidationError:
        fields = ", ".join(form.model_fields) or "nothing"
        raise HTTPException(400, f"the request is not an object with {fields}") from None


def _asked(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else 0


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def _told_http(_: Request, error: Exception) -> Response:
    status, message = getattr(error, "status_code", 500), getattr(error, "detail", "")
    return _Json({"error": {"code": None, "message": message}}, status)

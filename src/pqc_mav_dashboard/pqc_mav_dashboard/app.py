# SPDX-License-Identifier: Apache-2.0
"""The web application: the page's files, the WebSocket, the actions; everything behind the guard."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from pqc_mav_common.local_readers import Readers
from pqc_mav_dashboard.actions import act
from pqc_mav_dashboard.day import Day
from pqc_mav_dashboard.errors import RefusalError, Refused
from pqc_mav_dashboard.guard import Guard, refuse
from pqc_mav_dashboard.hub import Hub
from pqc_mav_dashboard.source import Source
from pqc_mav_dashboard.token import Token

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def page_files() -> dict[str, tuple[bytes, str]]:
    """Path below / -> content and type. Read once: no request ever names a file, so none leads out of the folder."""
    files = {
        f"/{path.relative_to(STATIC).as_posix()}": (path.read_bytes(), TYPES[path.suffix])
        for path in sorted(STATIC.rglob("*"))
        if path.suffix in TYPES
    }
    files["/"] = files["/index.html"]
    return files


def make_app(
    source: Source,
    token: Token,
    names: Iterable[str],
    *,
    beside: Mapping[str, Any] | None = None,
    readers: Callable[[str], Readers | None] = lambda _: None,
    day: Day | None = None,
) -> Any:
    """An ASGI application. `names`: the host names it may be opened as; `beside`: further pages (ASGI), by path.

    `readers`: which users of this machine may read a path; see Guard. `day`: where a history is kept, and closed.
    """
    names, refused = list(names), Refused()
    hub = Hub(source, refused, day=day)
    files = page_files()

    async def page(request: Request) -> Response:
        found = files.get(request.url.path)
        if found is None:
            raise RefusalError("not_found", "There is nothing here; the page is at /.")
        return Response(found[0], media_type=found[1])

    async def action(request: Request) -> Response:
        return JSONResponse(await act(request, hub, token))

    async def health(request: Request) -> Response:
        return JSONResponse({"viewers": hub.viewers, "working": hub.working, "refused": dict(refused.counts)})

    async def websocket(socket: WebSocket) -> None:
        try:
            hub.room()
        except RefusalError as error:
            await refuse(socket.scope, socket.receive, socket.send, refused.count(error))
            return
        await hub.serve(socket)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if day is not None:
            hub.begin()
        yield
        await hub.close()

    made = Starlette(
        routes=[
            Route("/api/actions/{action}", action, methods=["POST"]),
            Route("/api/health", health, methods=["GET"]),
            WebSocketRoute("/ws", websocket),
            *(Route(path, _Whole(served), methods=["GET"]) for path, served in (beside or {}).items()),
            Route("/{path:path}", page, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={RefusalError: _refusal(refused), HTTPException: _refusal(refused)},
    )
    return Guard(made, names, refused, readers)


class _Whole:
    """To Starlette an ASGI application is an object; a function would be a view."""

    def __init__(self, served: Any) -> None:
        self._served = served

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._served(scope, receive, send)


def _refusal(refused: Refused) -> Callable[[Request, Exception], Response]:
    def answer(_request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            wrong_method = error.status_code == 405
            error = RefusalError(
                "wrong_method" if wrong_method else "bad_request",
                "This cannot be asked in this way." if wrong_method else "The request is not good.",
            )
        assert isinstance(error, RefusalError)
        return JSONResponse(refused.count(error).as_json(), error.status)

    return answer

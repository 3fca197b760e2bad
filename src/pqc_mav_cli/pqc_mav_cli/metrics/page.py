# SPDX-License-Identifier: Apache-2.0
"""The page for web servers: a WSGI application, and an ASGI one to mount at /metrics of another server's."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from pqc_mav_cli.metrics.exporter import BusyError, Exporter
from pqc_mav_common.host_header import canonical, host_of

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TEXT = "text/plain; charset=utf-8"
_REASONS = {200: "OK", 403: "Forbidden", 405: "Method Not Allowed", 503: "Service Unavailable"}


@dataclass(frozen=True)
class Reply:
    """An answer to one request."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]


class Page:
    """The one page, wherever it is mounted: it does not look at the path."""

    def __init__(self, exporter: Exporter, hosts: Collection[str] | None = LOOPBACK) -> None:
        """`hosts` are the names by which the page may be asked for; None where the server around it has checked."""
        self._exporter = exporter
        self._hosts = None if hosts is None else frozenset(map(canonical, hosts))

    def reply(self, method: str, host: str, accept: str) -> Reply:
        """To a request with this method and these headers. Waits for the engines; call it in a thread."""
        if self._hosts is not None and host_of(host) not in self._hosts:
            # Or a page of the web whose name resolves to loopback could read it in a browser.
            return _said(403, "This name is not one of this server's; --allow-host adds one.")
        if method not in ("GET", "HEAD"):
            return _said(405, "This page can only be read.", ("Allow", "GET, HEAD"))
        try:
            body, kind = self._exporter.page(accept)
        except BusyError as error:
            return _said(503, str(error), ("Retry-After", "5"))
        return _reply(200, body, kind)

    def wsgi(self, environ: MutableMapping[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """For WSGI servers."""
        method = str(environ["REQUEST_METHOD"])
        reply = self.reply(method, environ.get("HTTP_HOST", ""), environ.get("HTTP_ACCEPT", ""))
        start_response(f"{reply.status} {_REASONS[reply.status]}", list(reply.headers))
        return [] if method == "HEAD" else [reply.body]

    async def asgi(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """For ASGI servers and frameworks, as `Mount("/metrics", page.asgi)`. HTTP only."""
        if scope["type"] != "http":
            raise RuntimeError(f"The page of metrics answers HTTP, and this is {scope['type']}.")
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        asked = scope["method"], headers.get("host", ""), headers.get("accept", "")
        reply = await asyncio.to_thread(self.reply, *asked)
        sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in reply.headers]
        await send({"type": "http.response.start", "status": reply.status, "headers": sent})
        body = b"" if scope["method"] == "HEAD" else reply.body
        await send({"type": "http.response.body", "body": body})


def _said(status: int, sentence: str, *more: tuple[str, str]) -> Reply:
    return _reply(status, f"{sentence}\n".encode(), _TEXT, *more)


def _reply(status: int, body: bytes, kind: str, *more: tuple[str, str]) -> Reply:
    fixed = (
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    )
    return Reply(status, body, (*fixed, *more))

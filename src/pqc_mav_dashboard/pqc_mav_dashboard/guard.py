# SPDX-License-Identifier: Apache-2.0
"""Who may talk to the server at all: users of this machine who may read it, by the right name (against DNS rebinding)
and, from browsers, this very page.

Runs before everything else, for HTTP and WebSocket alike, and sets the headers that keep the page to itself.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pqc_mav_common.host_header import canonical, host_of
from pqc_mav_common.local_readers import Readers
from pqc_mav_dashboard.errors import RefusalError, Refused

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware. `names` are the host names under which the page may be opened.

    `readers` gives those who may read a path; None where the server is open to other machines.
    """

    def __init__(
        self,
        app: Any,
        names: Iterable[str],
        refused: Refused,
        readers: Callable[[str], Readers | None] = lambda _: None,
    ) -> None:
        self._app = app
        self._readers = readers
        self._names = {canonical(name): name.lower() for name in names}
        self._refused = refused

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """One request or WebSocket."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            self._check(scope)
        except RefusalError as error:
            await refuse(scope, receive, send, self._refused.count(error))
            return

        async def with_headers(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *((name, value) for name, value in message["headers"] if name.decode().lower() not in HEADERS),
                    *encoded(HEADERS),
                ]
            await send(message)

        await self._app(scope, receive, with_headers)

    def _check(self, scope: Mapping[str, Any]) -> None:
        readers = self._readers(scope.get("path", ""))
        if readers is not None and (why := readers.refusal(tuple(scope["client"]), tuple(scope["server"]))):
            raise RefusalError("wrong_user", why)
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or host_of(hosts[0]) not in self._names:
            names = ", ".join(sorted(self._names.values()))
            raise RefusalError(
                "wrong_host",
                f"This server is not '{(hosts or [''])[0][:64]}'; open it as {names}, or start it with --host-name for "
                "another name.",
            )
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        needs = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (origins or needs) and origins != [f"http://{hosts[0]}"] and origins != [f"https://{hosts[0]}"]:
            raise RefusalError(
                "wrong_origin",
                f"Only this server's own page may ask, not one of '{(origins or ['nowhere'])[0][:64]}'.",
            )
        sites = [value for name, value in scope["headers"] if name == b"sec-fetch-site"]
        if needs and sites and sites != [b"same-origin"]:
            raise RefusalError("wrong_origin", "Only this server's own page may ask, not that of another site.")


def encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """As ASGI has them."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def refuse(scope: Mapping[str, Any], receive: Any, send: Any, error: RefusalError) -> None:
    """Answers with the refusal; a WebSocket before it is accepted gets it as HTTP."""
    websocket = scope["type"] == "websocket"
    start = "websocket.http.response" if websocket else "http.response"
    if websocket:
        await receive()  # websocket.connect
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
    body = json.dumps(error.as_json()).encode()
    headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(body))}
    await send({"type": f"{start}.start", "status": error.status, "headers": encoded(headers)})
    await send({"type": f"{start}.body", "body": body})

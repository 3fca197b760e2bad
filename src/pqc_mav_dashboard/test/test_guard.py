# SPDX-License-Identifier: Apache-2.0
"""Names and origins, without a socket; the whole of it from outside is in test_security.py."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pqc_mav_dashboard.errors import Refused
from pqc_mav_dashboard.guard import LOOPBACK_NAMES, Guard


def ask(headers: list[tuple[bytes, bytes]], kind: str = "http", method: str = "GET") -> tuple[int, Refused]:
    """Status of the answer; 0 where the application was reached."""
    sent: list[dict[str, Any]] = []
    refused = Refused()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        sent.append({"type": "reached", "status": 0})

    async def receive() -> dict[str, Any]:
        return {"type": f"{kind}.connect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    extensions = {"websocket.http.response": {}}
    scope = {"type": kind, "method": method, "headers": headers, "extensions": extensions}
    asyncio.run(Guard(app, [*LOOPBACK_NAMES, "gcs.example.org"], refused)(scope, receive, send))
    return sent[0]["status"], refused


HOST = (b"host", b"localhost:9000")


@pytest.mark.parametrize(
    ("headers", "method", "status"),
    [
        ([HOST], "GET", 0),
        ([(b"host", b"gcs.example.org")], "GET", 0),
        ([(b"host", b"[::1]:9000")], "GET", 0),
        ([(b"host", b"localhost:80x")], "GET", 421),
        ([], "GET", 421),
        ([HOST, HOST], "GET", 421),
        ([HOST, (b"origin", b"http://localhost:9000")], "POST", 0),
        ([HOST, (b"origin", b"https://localhost:9000")], "POST", 0),
        ([HOST, (b"origin", b"http://localhost:9001")], "POST", 403),
        ([HOST, (b"origin", b"http://127.0.0.1:9000")], "POST", 403),
        ([HOST], "POST", 403),
        ([HOST, (b"origin", b"http://evil.example")], "GET", 403),
        ([HOST, (b"origin", b"http://localhost:9000"), (b"sec-fetch-site", b"same-site")], "POST", 403),
    ],
)
def test_requests(headers: list[tuple[bytes, bytes]], method: str, status: int) -> None:
    found, refused = ask(headers, method=method)
    assert found == status and sum(refused.counts.values()) == (status != 0)


def test_a_websocket_needs_its_origin() -> None:
    assert ask([HOST], "websocket")[0] == 403
    assert ask([HOST, (b"origin", b"http://localhost:9000")], "websocket")[0] == 0

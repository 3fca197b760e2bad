# SPDX-License-Identifier: Apache-2.0
"""The server from outside: other origins and names, no token, wrong ones, too much of everything, paths that climb."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from ends import DRONE, Dashboard, Pair, needs_command
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from pqc_mav_common.testing import until

VIEWERS = 16  # hub.VIEWERS, from outside


@pytest.fixture(scope="module")
def dashboard(pair: Pair) -> Iterator[Dashboard]:
    made = Dashboard("--no-ros", environment=pair.environment)
    yield made
    made.kill()


def refusal(answer: tuple[int, Any]) -> tuple[int, str]:
    """Status and code; the sentence must be one."""
    status, body = answer
    found = body if isinstance(body, dict) else json.loads(body)
    assert not found["ok"] and found["error"]["text"].endswith(".") and " " in found["error"]["text"]
    return status, found["error"]["code"]


def raw(dashboard: Dashboard, request: str) -> tuple[int, bytes]:
    """A request as it is written here, to the last byte."""
    host, _, port = dashboard.host.partition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(request.encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]


async def open_page(dashboard: Dashboard, origin: str | None = "", host: str = "") -> ClientConnection:
    """A WebSocket as the page opens it, or one of another origin, or under another name."""
    address, _, port = dashboard.host.partition(":")
    return await connect(
        f"ws://{host or dashboard.host}/ws",
        host=address,
        port=int(port),
        origin=dashboard.url if origin == "" else origin,  # type: ignore[arg-type]
        proxy=None,
        compression=None,
    )


def opened(dashboard: Dashboard, **how: Any) -> tuple[int, Any]:
    """Status and body of a WebSocket that is refused."""

    async def attempt() -> tuple[int, Any]:
        with pytest.raises(InvalidStatus) as raised:
            await open_page(dashboard, **how)
        return raised.value.response.status_code, raised.value.response.body

    return asyncio.run(attempt())


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]", ""])
def test_another_name_is_refused(dashboard: Dashboard, host: str) -> None:
    """What DNS rebinding looks like: our address under the attacker's name."""
    assert refusal(raw(dashboard, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")) == (
        421,
        "wrong_host",
    )
    if host:
        assert refusal(opened(dashboard, host=host, origin=f"http://{host}")) == (421, "wrong_host")


def test_two_names_at_once_are_refused(dashboard: Dashboard) -> None:
    request = f"GET / HTTP/1.1\r\nHost: {dashboard.host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    assert raw(dashboard, request)[0] in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "http://127.0.0.1:1", "http://localhost"])
def test_a_page_of_another_origin_gets_no_websocket(dashboard: Dashboard, origin: str | None) -> None:
    assert refusal(opened(dashboard, origin=origin)) == (403, "wrong_origin")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""])
def test_a_page_of_another_origin_steers_nothing(dashboard: Dashboard, origin: str) -> None:
    assert refusal(dashboard.act("rekey", {"Origin": origin}, drone=DRONE)) == (403, "wrong_origin")
    site = {"Sec-Fetch-Site": "cross-site"}
    assert refusal(dashboard.act("rekey", site, drone=DRONE)) == (403, "wrong_origin")


def test_a_preflight_gets_no_permission(dashboard: Dashboard) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    status, answered, _ = dashboard.request("/api/actions/rekey", "OPTIONS", headers=headers)
    assert status == 403 and not any(name.lower().startswith("access-control") for name in answered)


def test_without_the_token_nothing_is_steered(pair: Pair, keys: Any) -> None:
    """On a dashboard of its own: wrong tokens close the door to everybody for a while."""
    dashboard = Dashboard("--no-ros", environment=pair.environment)
    try:
        before = pair.status("drone")["epoch"]
        assert refusal(dashboard.act("rekey", {"X-PQCMAV-Token": ""}, drone=DRONE)) == (401, "no_token")
        wrong = {"X-PQCMAV-Token": dashboard.token[:-1] + "!"}
        for _ in range(5):
            assert refusal(dashboard.act("rekey", wrong, drone=DRONE)) == (403, "wrong_token")
        assert refusal(dashboard.act("rekey", wrong, drone=DRONE)) == (429, "too_many_attempts")
        assert refusal(dashboard.act("rekey", drone=DRONE)) == (429, "too_many_attempts")
        assert pair.status("drone")["epoch"] == before
        assert dashboard.health()["refused"] == {"no_token": 1, "wrong_token": 5, "too_many_attempts": 2}
    finally:
        dashboard.kill()


@pytest.mark.parametrize(
    ("action", "body", "expected"),
    [
        ("explode", {"drone": DRONE}, (404, "no_such_action")),
        ("rekey", {}, (400, "bad_request")),
        ("rekey", {"drone": "../etc"}, (400, "bad_request")),
        ("rekey", {"drone": DRONE, "suite": "a b"}, (400, "bad_request")),
        ("rekey", {"drone": DRONE, "mode": "auto"}, (400, "bad_request")),
        ("mode", {"drone": DRONE, "mode": "never"}, (400, "bad_request")),
        ("rekey", {"drone": DRONE, "suite": "x" * 5000}, (413, "too_long")),
    ],
)
def test_actions_that_make_no_sense(dashboard: Dashboard, action: str, body: dict[str, str], expected: Any) -> None:
    assert refusal(dashboard.act(action, **body)) == expected


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"drone": 1}', b"[" * 3000])
def test_bodies_that_are_none(dashboard: Dashboard, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "Origin": dashboard.url, "X-PQCMAV-Token": dashboard.token}
    status, _, answer = dashboard.request("/api/actions/rekey", "POST", body, headers)
    assert refusal((status, answer)) == (400, "bad_request")


def test_a_body_of_another_kind_is_refused(dashboard: Dashboard) -> None:
    """A form of another site can send text/plain without asking first."""
    assert refusal(dashboard.act("rekey", {"Content-Type": "text/plain"}, drone=DRONE)) == (400, "bad_request")


@pytest.mark.parametrize(
    "path",
    [
        "/../app.py", "/..%2fapp.py", "/%2e%2e/%2e%2e/setup.py", "/js/../../app.py", "/js/..%5c..%5capp.py",
        "//etc/passwd",
        "/vendor/uplot/LICENSE", "/js/", "/index.html%00.js", "/api/actions/rekey", "/style.css/",
    ],
)  # fmt: skip
def test_paths_lead_nowhere_else(dashboard: Dashboard, path: str) -> None:
    status, body = raw(dashboard, f"GET {path} HTTP/1.1\r\nHost: {dashboard.host}\r\nConnection: close\r\n\r\n")
    assert status in (404, 405) and refusal((status, body))[1] in ("not_found", "wrong_method")


def test_every_answer_keeps_the_page_to_itself(dashboard: Dashboard) -> None:
    for path in ("/", "/js/main.js", "/nowhere", "/api/health"):
        _, headers, _ = dashboard.request(path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"


async def closed_by(page: ClientConnection) -> int:
    """The code with which the server ends it."""
    try:
        while True:
            await asyncio.wait_for(page.recv(), 10)
    except ConnectionClosed as error:
        assert error.rcvd is not None
        return error.rcvd.code


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("x" * 5000, 1009),
        ("[" * 4000, 1008),
        ("{}", 1008),
        ('{"v": 2, "look": ""}', 1008),
        ('{"v": 1, "look": 7}', 1008),
        ('{"v": 1, "replay": "pause"}', 1008),
        (b"\xff\xfe", 1008),
    ],
)
def test_messages_that_make_no_sense_end_the_connection(dashboard: Dashboard, sent: str | bytes, code: int) -> None:
    async def attempt() -> int:
        page = await open_page(dashboard)
        await page.send(sent)
        return await closed_by(page)

    assert asyncio.run(attempt()) == code
    assert dashboard.request("/")[0] == 200


def test_a_huge_message_in_pieces_is_not_kept(dashboard: Dashboard) -> None:
    """It is over after the first pieces, with or without a last word: what was sent meanwhile may reset the line."""
    sent = 0

    async def attempt() -> None:
        page = await open_page(dashboard)

        async def pieces() -> Any:
            nonlocal sent
            for sent in range(100_000):  # noqa: B007 - read outside
                yield "x" * 4000

        with pytest.raises((ConnectionClosed, OSError)):
            await asyncio.wait_for(page.send(pieces()), 30)

    asyncio.run(attempt())
    assert sent < 10_000
    assert dashboard.request("/")[0] == 200


def test_a_flood_of_messages_ends_the_connection(dashboard: Dashboard) -> None:
    async def attempt() -> int:
        page = await open_page(dashboard)
        for _ in range(60):
            await page.send('{"v": 1, "look": ""}')
        return await closed_by(page)

    assert asyncio.run(attempt()) == 1008


def test_a_hundred_clients(dashboard: Dashboard) -> None:
    """So many are served, the others are told why not, and the next one is served again when one has gone."""

    async def attempt() -> None:
        results = await asyncio.gather(*(open_page(dashboard) for _ in range(100)), return_exceptions=True)
        pages = [each for each in results if isinstance(each, ClientConnection)]
        refused = [each for each in results if isinstance(each, InvalidStatus)]
        try:
            assert len(pages) == VIEWERS and len(refused) == 100 - VIEWERS, results
            assert {each.response.status_code for each in refused} == {503}
            for page in pages:
                await page.send('{"v": 1, "look": ""}')
            for page in pages:
                kinds = [json.loads(await asyncio.wait_for(page.recv(), 20))["kind"] for _ in range(2)]
                assert kinds == ["hello", "fleet"]
        finally:
            for page in pages:
                await page.close()

    asyncio.run(attempt())
    until(lambda: dashboard.health()["viewers"] == 0, "no viewer is left")

    async def again() -> None:
        await (await open_page(dashboard)).close()

    asyncio.run(again())


def test_connections_that_ask_for_nothing_keep_nobody_out(dashboard: Dashboard) -> None:
    """More than there are places, some silent, some in the middle of a request that never ends."""
    host, _, port = dashboard.host.partition(":")
    with ExitStack() as stack:
        for number in range(300):
            one = stack.enter_context(socket.create_connection((host, int(port)), 10))
            if number % 2:
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert dashboard.request("/")[0] == 200

        async def page() -> None:
            await (await open_page(dashboard)).close()

        asyncio.run(page())


def test_a_name_that_is_allowed_outright(pair: Pair) -> None:
    allowed = ["--bind", "0.0.0.0", "--beyond-loopback", "--host-name", "dash.example"]
    dashboard = Dashboard("--no-ros", *allowed, environment=pair.environment)
    try:
        port = dashboard.host.rpartition(":")[2]
        dashboard.url, dashboard.host = f"http://127.0.0.1:{port}", f"127.0.0.1:{port}"
        for host, status in (("dash.example", 200), (f"dash.example:{port}", 200), ("other.example", 421)):
            assert raw(dashboard, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")[0] == status
    finally:
        dashboard.kill()


OTHER, MEMBERS = 54321, 54322
# Status and body of a GET, as another user.
GET = """
import json, sys, urllib.error, urllib.request
asked = urllib.request.Request(sys.argv[1], headers=json.loads(sys.argv[2]))
try:
    with urllib.request.urlopen(asked, timeout=60) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def got_by(user: int, url: str, headers: dict[str, str] | None = None, groups: Sequence[int] = ()) -> tuple[int, str]:
    """What another user of this machine is answered."""
    ended = subprocess.run(
        [sys.executable, "-c", GET, url, json.dumps(headers or {})],
        user=user, group=user, extra_groups=list(groups), capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    status, _, body = ended.stdout.partition(" ")
    return int(status), body


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_other_users_of_this_machine_read_nothing(dashboard: Dashboard) -> None:
    forged = {"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"}
    for path in ("/", "/js/main.js", "/api/health", "/metrics"):
        for headers in ({}, forged):
            status, body = got_by(OTHER, f"{dashboard.url}{path}", headers)
            assert (status, json.loads(body)["error"]["code"]) == (403, "wrong_user"), path
            assert f"--allow {OTHER}" in body
    status, body = got_by(OTHER, f"{dashboard.url}/ws", {**UPGRADE, "Origin": dashboard.url})
    assert (status, json.loads(body)["error"]["code"]) == (403, "wrong_user")
    assert dashboard.request("/")[0] == 200 and dashboard.health()["refused"]["wrong_user"] == 9


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_users_who_are_allowed_read(pair: Pair) -> None:
    dashboard = Dashboard("--no-ros", "--allow", str(OTHER), environment=pair.environment)
    try:
        assert got_by(OTHER, f"{dashboard.url}/")[0] == 200
        assert got_by(OTHER, f"{dashboard.url}/metrics")[0] == 200
        assert got_by(MEMBERS, f"{dashboard.url}/")[0] == 403
    finally:
        dashboard.kill()
    # A dashboard of another user is not for this one either, but root may.
    dashboard = Dashboard("--no-ros", environment=pair.environment, user=OTHER)
    try:
        assert got_by(OTHER, f"{dashboard.url}/")[0] == 200 and dashboard.request("/")[0] == 200
        assert got_by(MEMBERS, f"{dashboard.url}/")[0] == 403
    finally:
        dashboard.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_everybody_may_be_allowed(pair: Pair) -> None:
    dashboard = Dashboard("--no-ros", "--allow", "everybody", environment=pair.environment)
    try:
        assert got_by(OTHER, f"{dashboard.url}/")[0] == 200
    finally:
        dashboard.kill()


def test_a_user_whom_there_is_not_is_said(pair: Pair) -> None:
    needs_command()
    command = ["pqcmav", "dashboard", "--no-ros", "--port", "0", "--allow", "no-such-user"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "no user 'no-such-user'" in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_another_address_than_loopback_is_refused(pair: Pair) -> None:
    needs_command()
    command = ["pqcmav", "dashboard", "--bind", "0.0.0.0", "--port", "0", "--no-ros"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "everybody who reaches that address" in ended.stderr
    assert "--beyond-loopback" in ended.stderr and len(ended.stderr.splitlines()) == 1

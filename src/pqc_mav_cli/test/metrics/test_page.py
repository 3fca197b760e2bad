# SPDX-License-Identifier: Apache-2.0
"""The page in its two forms, who may ask for it, and what it says while it is busy."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.validate import validator

import pytest
from answers import good, samples, serving

from pqc_mav_cli.metrics import exporter as exporter_module
from pqc_mav_cli.metrics.engines import Engines
from pqc_mav_cli.metrics.exporter import Exporter
from pqc_mav_cli.metrics.page import Page


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        yield Path(name)


@pytest.fixture
def exporter(folder: Path) -> Exporter:
    return Exporter(Engines({"PQCMAV_RUN_DIR": str(folder)}, answer_s=5.0))


def test_the_page_is_of_now(folder: Path, exporter: Exporter) -> None:
    up = 'pqcmav_up{engine="gcs"}'
    assert up not in samples(exporter.page()[0])
    with serving(folder / "gcs.sock", good):
        found = samples(exporter.page()[0])
        assert found[up] == 1 and 'pqcmav_key_age_seconds{drone="d1",engine="gcs",role="drone"}' in found
    found = samples(exporter.page()[0])
    assert found[up] == 0
    assert found['pqcmav_scrape_failures_total{engine="gcs",reason="gone"}'] == 1
    assert not [name for name in found if "key_age" in name]
    assert found["process_resident_memory_bytes"] > 0
    assert found["pqcmav_exporter_scrape_duration_seconds"] >= 0


def test_both_forms(folder: Path, exporter: Exporter) -> None:
    with serving(folder / "gcs.sock", good):
        text, kind = exporter.page("text/plain;version=0.0.4")
        assert kind.startswith("text/plain") and b"# TYPE pqcmav_up gauge" in text
        openmetrics, kind = exporter.page("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        assert kind.startswith("application/openmetrics-text") and openmetrics.endswith(b"# EOF\n")


def test_a_problem_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed(Engines):
        def ask(self) -> list[Any]:
            self.problem = "closed"
            return []

    said: list[str] = []
    made = Exporter(Closed({}), said.append)
    made.page()
    made.page()
    assert said == ["closed"]


@pytest.mark.parametrize(
    "header", ["evil.example", "evil.example:9464", "", "localhost.evil.example", "127.0.0.1.nip.io"]
)
def test_another_name_is_refused_and_asks_nobody(folder: Path, exporter: Exporter, header: str) -> None:
    with serving(folder / "gcs.sock", good) as asked:
        reply = Page(exporter).reply("GET", header, "")
        assert reply.status == 403 and b"--allow-host" in reply.body
        assert not asked
        assert Page(exporter, ["ground.example"]).reply("GET", "Ground.Example:9464", "").status == 200
        assert Page(exporter, None).reply("GET", header, "").status == 200, "where the server around it checks"


def test_it_can_only_be_read(exporter: Exporter) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "nonsense"):
        reply = Page(exporter).reply(method, "localhost", "")
        assert reply.status == 405 and ("Allow", "GET, HEAD") in reply.headers


def test_wsgi(folder: Path, exporter: Exporter) -> None:
    """By the checker of the standard library."""
    started: list[Any] = []

    def call(method: str) -> bytes:
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method, "PATH_INFO": "/metrics", "SCRIPT_NAME": "", "SERVER_NAME": "localhost",
            "SERVER_PORT": "9464", "HTTP_HOST": "localhost:9464", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.version": (1, 0),
            "QUERY_STRING": "", "wsgi.url_scheme": "http", "wsgi.input": _Empty(), "wsgi.errors": _Empty(),
            "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }  # fmt: skip
        chunks = validator(Page(exporter).wsgi)(environ, lambda *given: started.append(given))
        body = b"".join(chunks)
        chunks.close()  # type: ignore[attr-defined]
        return body

    with serving(folder / "gcs.sock", good):
        assert samples(call("GET"))['pqcmav_up{engine="gcs"}'] == 1
        assert call("HEAD") == b""
    assert [status for status, *_ in started] == ["200 OK"] * 2
    assert dict(started[0][1])["Cache-Control"] == "no-store"


class _Empty:
    def read(self, _size: int) -> bytes:
        return b""

    def readline(self, _size: int = -1) -> bytes:
        return b""

    def readlines(self, _hint: int = -1) -> list[bytes]:
        return []

    def __iter__(self) -> Iterator[bytes]:
        return iter(())

    def flush(self) -> None: ...
    def write(self, _text: str) -> None: ...
    def writelines(self, _lines: list[str]) -> None: ...


def test_asgi_leaves_the_loop_to_others(folder: Path, exporter: Exporter) -> None:
    """Other requests are served while an engine keeps this one waiting."""
    let = threading.Event()

    def late(line: bytes) -> bytes:
        assert let.wait(10)
        return good(line)

    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("nothing of the body is wanted")

    async def send(message: Any) -> None:
        sent.append(message)

    async def both() -> None:
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"Host", b"127.0.0.1:9464")]}
        page = asyncio.create_task(Page(exporter).asgi(scope, receive, send))
        await asyncio.sleep(0)
        assert not page.done()
        let.set()
        await page

    with serving(folder / "gcs.sock", late):
        asyncio.run(both())
    start, body = sent
    assert start["status"] == 200 and samples(body["body"])['pqcmav_up{engine="gcs"}'] == 1
    assert all(isinstance(part, bytes) for pair in start["headers"] for part in pair)
    with pytest.raises(RuntimeError, match="websocket"):
        asyncio.run(Page(exporter).asgi({"type": "websocket"}, receive, send))


def test_two_at_once_take_turns(folder: Path, exporter: Exporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter_module, "WAIT_S", 0.05)
    begun, let = threading.Event(), threading.Event()

    def late(line: bytes) -> bytes:
        begun.set()
        assert let.wait(10)
        return good(line)

    with serving(folder / "gcs.sock", late) as asked:
        replies: list[Any] = []
        first = threading.Thread(target=lambda: replies.append(Page(exporter).reply("GET", "localhost", "")))
        first.start()
        assert begun.wait(10)
        busy = Page(exporter).reply("GET", "localhost", "")
        assert busy.status == 503 and ("Retry-After", "5") in busy.headers
        let.set()
        first.join(10)
        assert replies[0].status == 200 and len(asked) == 4
        assert Page(exporter).reply("GET", "localhost", "").status == 200, "the turn is given back"

# SPDX-License-Identifier: Apache-2.0
"""The server of the page: addresses, paths, and clients who take their time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest
from answers import good, samples, serving

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.metrics import server as server_module
from pqc_mav_cli.metrics.engines import Engines
from pqc_mav_cli.metrics.exporter import Exporter
from pqc_mav_cli.metrics.page import LOOPBACK, Page
from pqc_mav_cli.metrics.server import Server, address_of, hosts_for
from pqc_mav_common.local_readers import Readers
from pqc_mav_common.testing import until


@contextmanager
def running(host: str = "127.0.0.1", readers: Readers | None = None) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as folder, serving(Path(folder) / "gcs.sock", good):
        page = Page(Exporter(Engines({"PQCMAV_RUN_DIR": folder})), hosts_for(host, ()))
        with Server(host, 0, page, readers) as made:
            thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            try:
                yield made
            finally:
                made.shutdown()
                thread.join()


def got(server: Server, path: str = "/metrics", **headers: str) -> tuple[int, bytes]:
    connection = HTTPConnection(server.server_name, server.server_port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_other_users_of_this_machine_are_refused_unless_allowed() -> None:
    script = (
        "import sys, urllib.request, urllib.error\n"
        "try: print(urllib.request.urlopen(sys.argv[1], timeout=60).status)\n"
        "except urllib.error.HTTPError as error: print(error.code, error.read().decode())"
    )

    def got_by(user: int, server: Server) -> str:
        command = [sys.executable, "-c", script, server.url]
        ids = {"user": user, "group": user, "extra_groups": []}
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True, **ids).stdout  # type: ignore[call-overload]

    other = 54321
    with running(readers=Readers()) as server:
        said = got_by(other, server)
        assert said.startswith("403") and f"--allow {other}" in said and "pqcmav_up" not in said
        assert got(server)[0] == 200 and got_by(0, server).startswith("200")
    with running(readers=Readers([str(other)])) as server:
        assert got_by(other, server).startswith("200") and got_by(other + 1, server).startswith("403")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_who_may_not_read_takes_nobodys_place() -> None:
    """He holds as many connections as there are places, and says nothing."""
    script = (
        "import socket, sys\n"
        "held = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(32)]\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    with running(readers=Readers()) as server:
        command = [sys.executable, "-c", script, str(server.server_port)]
        ids = {"user": 54321, "group": 54321, "extra_groups": []}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **ids) as stranger:  # type: ignore[call-overload]
            assert stranger.stdout.readline() == b"held\n"
            assert [got(server)[0] for _ in range(10)] == [200] * 10
            stranger.stdin.close()


def test_it_serves_the_page_and_nothing_else() -> None:
    with running() as server:
        status, body = got(server)
        assert status == 200 and samples(body)['pqcmav_up{engine="gcs"}'] == 1
        assert got(server, "/") == (404, b"The metrics are at /metrics.\n")
        assert got(server, "/metrics/../etc/passwd")[0] == 404
        assert got(server, Host="evil.example")[0] == 403


def test_ipv6() -> None:
    try:
        with running("::1") as server:
            assert got(server)[0] == 200
            assert server.url == f"http://[::1]:{server.server_port}/metrics"
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


def test_slow_clients_neither_block_nor_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there may be send half a request and a byte now and then; the time limit ends them all."""
    monkeypatch.setattr(server_module, "REQUEST_S", 1.0)
    with running() as server:
        slow = [socket.create_connection(("127.0.0.1", server.server_port)) for _ in range(server_module.REQUESTS_MOST)]
        for each in slow[:-1]:
            each.sendall(b"GET /metrics HTTP/1.1\r\n")
        until(lambda: server._slots._value == 0, "all places taken")
        with pytest.raises((ConnectionError, OSError)):
            got(server)
        ended: set[socket.socket] = set()

        def all_ended() -> bool:
            for each in set(slow) - ended:
                try:
                    each.sendall(b"a")
                except OSError:
                    ended.add(each)
            time.sleep(0.1)
            return len(ended) == len(slow)

        until(all_ended, "all ended")
        until(lambda: server._slots._value == server_module.REQUESTS_MOST, "all places free")
        assert got(server)[0] == 200
        for each in slow:
            each.close()


def test_a_client_that_goes_away_is_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with running() as server:
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        assert got(server)[0] == 200
        until(lambda: server._slots._value == server_module.REQUESTS_MOST, "all places free")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        ("localhost:0", ("127.0.0.1", 0)),
        ("[::1]:9464", ("::1", 9464)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    "text", ["", "9464", "127.0.0.1", "127.0.0.1:", ":9464", "ground:9464", "127.0.0.1:65536", "127.0.0.1:-1"]
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(CliError, match=r"such as 127\.0\.0\.1:9464"):
        address_of(text)


def test_names_by_which_it_may_be_asked() -> None:
    assert set(hosts_for("127.0.0.1", ())) == set(LOOPBACK)
    assert hosts_for("192.0.2.7", ["ground.example"]) == ["192.0.2.7", "ground.example"]
    assert hosts_for("0.0.0.0", ["ground.example"]) == ["ground.example"]
    with pytest.raises(CliError, match="--allow-host"):
        hosts_for("::", ())

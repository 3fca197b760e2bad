# SPDX-License-Identifier: Apache-2.0
"""A node whose engine is a pqcmav-tunneld: it asks, loses and finds it, and never opens or closes it by itself."""

from __future__ import annotations

import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from daemons import PROXY, Far
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import HandshakeReport, TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, Rekey

from pqc_mav_common import qos
from pqc_mav_common.errors import ExitCode
from pqc_mav_common.local_socket import ATTACH, DAEMON, ControlError
from pqc_mav_common.siblings import MARK
from pqc_mav_common.testing import until
from pqc_mav_common.testing_daemons import Daemon, drone_of, needs_tunneld
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed
from pqc_mav_common.testing_proxies import ros_arguments
from pqc_mav_proxy import daemon_host
from pqc_mav_proxy.daemon_host import DaemonHost

pytestmark = needs_tunneld


_open: list[DaemonHost] = []


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """A test that fails leaves no thread behind, which would keep pytest from its end."""
    yield
    while _open:
        _open.pop().stop()


def heard(daemon: Daemon, config: Mapping[str, Any] | None = None) -> tuple[DaemonHost, queue.SimpleQueue[Any]]:
    seen: queue.SimpleQueue[Any] = queue.SimpleQueue()
    host = DaemonHost(config or daemon.config, ATTACH, {}, lambda events: [seen.put(each) for each in events])  # type: ignore[func-returns-value]
    _open.append(host)
    return host, seen


def test_events_of_before_are_told_as_far_as_they_are_latched(daemon: Daemon, keys: Path) -> None:
    daemon.start()
    air = drone_of(daemon, keys)
    try:
        until(lambda: daemon.ask("handshakes")["handshakes"], "a handshake")
        host, seen = heard(daemon)
        host.settle()
        host.start()
        first, second = seen.get(timeout=20), seen.get(timeout=20)
        assert (first["event"], first["there"]) == ("door", True)
        assert second["event"] == "handshake" and second["picture"]["drone_id"] == "d1", "but no log and no states"
        host.ask("log_level", level="debug")
        while seen.get(timeout=20)["event"] != "log":  # what is new comes whole: states, too, on a slow machine
            pass
        assert host.stop() == []
        assert daemon.ask("hello")["state"] == "active", "and goes on"
    finally:
        air.kill()


def test_a_daemon_that_is_not_there_or_another_one_is_a_sentence(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon_host, "START_S", 0.5)
    for config, words in (
        (daemon.config, "nobody listens there"),
        ({**daemon.config, "gcs_id": "north"}, "not of gcs 'north'"),
    ):
        host, _ = heard(daemon, config)
        with pytest.raises(ControlError, match=words) as refusal:
            host.settle(0.5)
        assert refusal.value.exit_code == ExitCode.START
        host.stop()
        daemon.kill()
        daemon.start()


def test_who_is_to_end_waits_for_no_daemon(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon.kill()
    monkeypatch.setattr(daemon_host, "asked_to_end", lambda: True)
    host, _ = heard(daemon, daemon.config)
    began_s = time.monotonic()
    with pytest.raises(ControlError, match=r"^$") as refusal:
        host.settle()
    assert refusal.value.exit_code == ExitCode.OK and time.monotonic() - began_s < daemon_host.START_S / 2
    host.stop()
    daemon.start()


def test_a_daemon_of_another_system_is_never_adopted(daemon: Daemon) -> None:
    daemon.start(environment={MARK: "another"})
    host = DaemonHost(daemon.config, DAEMON, {MARK: "mine"}, lambda _: None)
    with pytest.raises(ControlError, match="not started together"):
        host.settle(1.0)
    host.stop()


def test_the_node_says_down_and_up_and_restores_what_is_latched(daemon: Daemon, keys: Path, client: Onlooker) -> None:
    daemon.start()
    air = drone_of(daemon, keys)
    far = Far(daemon)
    try:
        with far:
            seen = client.collect(TunnelStatus, f"{PROXY}/status", qos.latched(1))
            found = client.collect(DiagnosticArray, "/diagnostics", qos.diagnostics())
            until(lambda: seen and seen[-1].state == TunnelStatus.UP, "UP")
            daemon.kill()
            until(lambda: seen[-1].state == TunnelStatus.DOWN, "DOWN")
            assert str(daemon.door) in seen[-1].last_error
            until(lambda: diagnosed(found, "far/pqc_proxy: tunnel d1")[0] == 2, "an ERROR")
            answer = client.call(Rekey, f"{PROXY}/rekey")
            assert not answer.ok and str(daemon.door) in answer.message
            assert client.call(GetInfo, f"{PROXY}/get_info").role == "gcs"
            daemon.start()
            until(lambda: seen[-1].state == TunnelStatus.UP, "UP again")
            assert client.call(Rekey, f"{PROXY}/rekey").ok
            until(lambda: diagnosed(found, "far/pqc_proxy: tunnel d1")[0] == 0, "OK")
            session = seen[-1].session_id
        with far:  # another node of the same daemon: as after a crash
            status = client.collect(TunnelStatus, f"{PROXY}/status", qos.latched(1))
            reports = client.collect(HandshakeReport, f"{PROXY}/handshake", qos.event())
            until(lambda: status and status[-1].session_id == session, "the same session")
            until(lambda: len({each.epoch for each in reports if each.ok}) == 2, "the reports of before")
    finally:
        air.kill()


def test_a_daemon_that_stands_still_is_away(daemon: Daemon, client: Onlooker) -> None:
    daemon.start()
    with Far(daemon):
        seen = client.collect(TunnelStatus, f"{PROXY}/status", qos.latched(1))
        until(lambda: seen, "a status")
        daemon.send(signal.SIGSTOP)
        until(lambda: "does not answer" in seen[-1].last_error, "that it does not answer")
        daemon.send(signal.SIGCONT)
        until(lambda: "does not answer" not in seen[-1].last_error, "that it does")


def test_lifecycle_is_configure_resume_and_pause(daemon: Daemon, client: Onlooker) -> None:
    daemon.start("--paused")
    far = Far(daemon, autostart=False)
    far.start(up=False)
    try:

        def state() -> str:
            return str(daemon.ask("hello")["state"])

        assert client.put(PROXY, "dscp", 10).successful
        assert client.change(PROXY, "configure") and state() == "inactive"
        assert client.change(PROXY, "activate") and state() == "active"
        assert daemon.ask("config")["config"]["dscp"] == 10, "what was set counts"
        assert client.put(PROXY, "shape_kbit", 64).successful
        until(lambda: daemon.ask("status")["tunnels"][0]["shape_kbit"] == 64, "at once")
        assert client.change(PROXY, "deactivate") and state() == "inactive"
        assert client.change(PROXY, "activate") and state() == "active"
        far.stop()
        assert state() == "active", "the end of a node closes nothing"
        far.start(up=False)
        assert client.change(PROXY, "configure", "activate") and state() == "active"
        daemon.kill()
        daemon.start()
        until(lambda: daemon.ask("status")["tunnels"][0]["shape_kbit"] == 0, "the set value went with the node")
        assert client.put(PROXY, "shape_kbit", 32).successful
        daemon.kill()
        daemon.start()
        until(lambda: daemon.ask("status")["tunnels"][0]["shape_kbit"] == 32, "sent again")
    finally:
        far.stop()


def test_a_paused_tunnel_stays_paused_whatever_crashes(daemon: Daemon, client: Onlooker) -> None:
    daemon.start()
    with Far(daemon) as far:
        daemon.ask("pause")
        daemon.kill()
        daemon.start()
        far.stop()
        far.start()
        seen = client.collect(TunnelStatus, f"{PROXY}/status", qos.latched(1))
        until(lambda: seen and "paused" in seen[-1].last_error, "that it is paused")
        assert daemon.ask("hello")["state"] == "inactive"
        assert client.change(PROXY, "deactivate", "activate"), "somebody asks for it"
        assert daemon.ask("hello")["state"] == "active"


def test_a_refused_configuration_ends_the_node_with_2_and_the_daemons_sentence(daemon: Daemon) -> None:
    daemon.start(dscp=64)
    line = [sys.executable, "-m", "pqc_mav_proxy.main", *ros_arguments({**daemon.config, "tunnel": ATTACH}, "far")]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=90, check=False)
    assert ended.returncode == ExitCode.CONFIG, ended.stderr
    assert ended.stderr.startswith("pqc_proxy: error: ") and "'dscp' is 64" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    wrong = subprocess.run([*line, "-p", "tunnel:=nowhere"], capture_output=True, text=True, timeout=90, check=False)
    assert wrong.returncode == ExitCode.CONFIG and "inside, daemon, attach" in wrong.stderr


def test_a_tunnel_whose_port_was_taken_opens_when_it_is_free(daemon: Daemon, keys: Path) -> None:
    daemon.start()
    with Far(daemon):
        daemon.kill()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
            holder.bind(("127.0.0.1", daemon.config["data_port"]))
            daemon.start()
            assert "in use" in daemon.ask("hello")["problem"]
        until(lambda: daemon.ask("hello")["state"] == "active", "an open tunnel")


def doors_watched() -> int:
    """Threads of this process that hold a connection to a daemon."""
    names = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # it has just ended
            names.append((task / "comm").read_text().strip())
    return names.count("pqc-door")


def test_nothing_of_it_is_left(daemon: Daemon) -> None:
    daemon.start()
    before = doors_watched()
    host, _ = heard(daemon)
    host.settle()
    host.start()
    assert doors_watched() == before + 1
    host.stop()
    host.stop()
    assert doors_watched() == before and not any(each.name == "daemon-events" for each in threading.enumerate())

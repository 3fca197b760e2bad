# SPDX-License-Identifier: Apache-2.0
"""A proxy whose engine is a pqcmav-tunneld, from outside: it asks, loses and finds it, and closes nothing itself."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import HandshakeReport, ServerStats, TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, Rekey
from proxies import KINDS, NODE, outcome, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.local_socket import ATTACH, DAEMON
from pqc_mav_common.siblings import MARK
from pqc_mav_common.socket_table import own_network
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_daemons import Daemon, drone_of, needs_tunneld
from pqc_mav_common.testing_onlooker import diagnosed
from pqc_mav_common.testing_proxies import gcs_parameters, ros_arguments

pytestmark = [needs_tunneld, pytest.mark.parametrize("kind", KINDS)]
CONFIG, START = 2, 3


@pytest.fixture
def daemon(keys: Path, tmp_path: Path) -> Iterator[Daemon]:
    """A gcs' pqcmav-tunneld, not started."""
    made = Daemon(tmp_path, gcs_parameters(keys))
    yield made
    made.kill()


class Far:
    """Nodes of one kind that ask a daemon, one after the other. Use it in a `with` block."""

    def __init__(self, kind: str, daemon: Daemon, watcher: Watcher, case: str) -> None:
        self._kind, self._daemon, self._watcher = kind, daemon, watcher
        self.space = f"{kind}_{case}"
        self.name = f"/{self.space}/{NODE}"
        self.process: Running | None = None

    def start(self, **parameters: Any) -> Running:
        self.stop(signal.SIGKILL)
        given = {**self._daemon.config, "tunnel": ATTACH, **parameters}
        self.process = start(self._kind, given, self.space)
        if parameters.get("autostart", True):
            self.process.wait_for("Asks pqcmav-tunneld")
        return self.process

    def stop(self, number: signal.Signals) -> int | None:
        process, self.process = self.process, None
        if process is None:
            return None
        ended = process.end(number)
        process.kill()
        return ended

    def statuses(self) -> list[Any]:
        return self._watcher.collect(TunnelStatus, f"{self.name}/status", qos.latched(1))

    def __enter__(self) -> Far:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()


def test_it_says_down_and_up_and_restores_what_is_latched(
    kind: str, daemon: Daemon, keys: Path, watcher: Watcher
) -> None:
    daemon.start()
    air = drone_of(daemon, keys)
    try:
        with Far(kind, daemon, watcher, "found") as far:
            node = far.start()
            seen = far.statuses()
            found = watcher.collect(DiagnosticArray, "/diagnostics", qos.diagnostics())
            until(lambda: seen and seen[-1].state == TunnelStatus.UP, "UP")
            daemon.kill()
            until(lambda: seen[-1].state == TunnelStatus.DOWN, "DOWN")
            assert str(daemon.door) in seen[-1].last_error
            until(lambda: diagnosed(found, f"{far.space}/{NODE}: tunnel d1")[0] == 2, "an ERROR")
            answer = watcher.call(Rekey, f"{far.name}/rekey")
            assert not answer.ok and str(daemon.door) in answer.message
            assert watcher.call(GetInfo, f"{far.name}/get_info").role == "gcs"
            node.wait_for(f"ERROR There is no pqcmav-tunneld at {daemon.door}")
            daemon.start()
            node.wait_for("pqcmav-tunneld is there again.")
            until(lambda: seen[-1].state == TunnelStatus.UP, "UP again")
            assert watcher.call(Rekey, f"{far.name}/rekey").ok
            until(lambda: diagnosed(found, f"{far.space}/{NODE}: tunnel d1")[0] == 0, "OK")
            session = seen[-1].session_id
            assert far.stop(signal.SIGTERM) == 0, "the end of a node closes nothing"
            far.start()
            status = far.statuses()
            reports = watcher.collect(HandshakeReport, f"{far.name}/handshake", qos.event())
            until(lambda: status and status[-1].session_id == session, "the same session")
            until(lambda: len({each.epoch for each in reports if each.ok}) == 2, "the reports of before")
    finally:
        air.kill()


def test_a_daemon_that_stands_still_is_away(kind: str, daemon: Daemon, watcher: Watcher) -> None:
    daemon.start()
    with Far(kind, daemon, watcher, "still") as far:
        far.start()
        seen = far.statuses()
        counted = watcher.collect(ServerStats, f"{far.name}/server_stats", qos.sensor())
        until(lambda: seen and counted, "a status and counters")
        assert counted[-1].header.frame_id == own_network(), "where the daemon counts"
        daemon.send(signal.SIGSTOP)
        until(lambda: "does not answer" in seen[-1].last_error, "that it does not answer")
        before = len(counted)
        daemon.send(signal.SIGCONT)
        until(lambda: "does not answer" not in seen[-1].last_error, "that it does")
        until(lambda: len(counted) > before, "counters again")


def test_lifecycle_is_configure_resume_and_pause(kind: str, daemon: Daemon, watcher: Watcher) -> None:
    def state() -> str:
        return str(daemon.ask("hello")["state"])

    def shape() -> Any:
        return daemon.ask("status")["tunnels"][0]["shape_kbit"]

    daemon.start("--paused")
    with Far(kind, daemon, watcher, "steered") as far:
        far.start(autostart=False)
        assert watcher.put(far.name, "dscp", 10).successful
        assert not watcher.put(far.name, "tunnel", "inside").successful
        assert watcher.change(far.name, "configure") and state() == "inactive"
        assert watcher.change(far.name, "activate") and state() == "active"
        assert daemon.ask("config")["config"]["dscp"] == 10, "what was set counts"
        assert watcher.put(far.name, "shape_kbit", 64).successful
        until(lambda: shape() == 64, "at once")
        assert watcher.change(far.name, "deactivate") and state() == "inactive"
        assert watcher.change(far.name, "activate") and state() == "active"
        daemon.kill()
        daemon.start()
        until(lambda: shape() == 64, "sent again")
        assert far.process is not None
        far.process.wait_for("counts again from the next configure: 'dscp'.")


def test_a_paused_tunnel_stays_paused_whatever_crashes(kind: str, daemon: Daemon, watcher: Watcher) -> None:
    daemon.start()
    with Far(kind, daemon, watcher, "paused") as far:
        far.start()
        daemon.ask("pause")
        daemon.kill()
        daemon.start()
        far.start().wait_for("The tunnel stays closed")
        seen = far.statuses()
        until(lambda: seen and "paused" in seen[-1].last_error, "that it is paused")
        assert daemon.ask("hello")["state"] == "inactive"
        assert watcher.change(far.name, "deactivate", "activate"), "somebody asks for it"
        assert daemon.ask("hello")["state"] == "active"


def test_a_start_that_is_refused_ends_with_the_daemons_sentence(kind: str, daemon: Daemon) -> None:
    def refused(*words: str, **parameters: Any) -> int:
        code, out, errors = outcome(kind, ros_arguments({**daemon.config, "tunnel": ATTACH, **parameters}, "refused"))
        assert out == "" and len(errors.splitlines()) == 1 and errors.startswith("pqc_proxy: error: "), errors
        assert all(word in errors for word in words), errors
        return code

    daemon.start(dscp=64, environment={MARK: "another"})
    assert refused("'dscp' is 64") == CONFIG
    refused("must not be 'off'", control_socket="off")
    assert refused("nobody listens there", control_socket=str(daemon.door.parent / "none.sock")) == START


@pytest.mark.parametrize(("mark", "words"), [("another", "not started together"), ("mine", "not of gcs 'north'")])
def test_a_foreign_daemon_is_never_adopted(
    kind: str, daemon: Daemon, mark: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.start(environment={MARK: mark})
    monkeypatch.setenv(MARK, "mine")
    given = {**daemon.config, "tunnel": DAEMON, **({"gcs_id": "north"} if mark == "mine" else {})}
    code, _, errors = outcome(kind, ros_arguments(given, "foreign"))
    assert code == START and words in errors, errors
    assert daemon.ask("hello")["state"] == "active", "left alone"

# SPDX-License-Identifier: Apache-2.0
"""The two ways to ask for a rekey, with an engine that does what the test says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from pqc_mav_interfaces import action, srv
from rclpy.executors import MultiThreadedExecutor

from pqc_mav_common.action_call import ActionCall, PendingCall
from pqc_mav_common.executors import Spun
from pqc_mav_common.local_socket import ControlError
from pqc_mav_common.testing import until
from pqc_mav_proxy.rekey_server import REKEYS_AT_ONCE, RekeyServer

DEADLINE_S = 20.0
SUITE = "cs-mlkem768-aesgcm-mldsa65"
DONE = {"ok": True, "suite": SUITE, "epoch": 7, "rekey_ms": 12.5, "pin_for_s": 0.0, "message": "Done."}


class FakeHost:
    """A rekey waits until `free` is set and then ends as `outcome` says."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.asked: list[dict[str, Any]] = []
        self.outcome: dict[str, Any] | Exception = DONE

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        assert command == "request_rekey"
        self.asked.append(fields)
        assert self.free.wait(DEADLINE_S)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Bench:
    """A node with the server, another with the clients, both spinning."""

    def __init__(self) -> None:
        self.host: FakeHost | None = FakeHost()
        self.node = rclpy.create_node("pqc_proxy", namespace="rekeys")
        self.server = RekeyServer(self.node, lambda: self.host)
        self.client = rclpy.create_node("client")
        self.call = ActionCall(self.client, action.Rekey, "/rekeys/pqc_proxy/rekey_action")
        self.phases: list[str] = []
        self._executor = Spun(MultiThreadedExecutor(REKEYS_AT_ONCE + 2))
        for node in (self.node, self.client):
            self._executor.add_node(node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        assert self.call.wait_ready(DEADLINE_S)

    def ask(self, **goal: str) -> PendingCall:
        return self.call.begin(action.Rekey.Goal(**goal), lambda heard: self.phases.append(heard.phase))

    def close(self) -> None:
        if self.host is not None:
            self.host.free.set()
        self._executor.shutdown()
        self._thread.join()
        self.server.close()
        self.node.destroy_node()
        self.client.destroy_node()


@pytest.fixture
def bench() -> Iterator[Bench]:
    rclpy.init()
    made = Bench()
    yield made
    made.close()
    rclpy.try_shutdown()


def finished(pending: PendingCall) -> Any:
    assert pending.wait(DEADLINE_S), "no result"
    assert not pending.failure
    return pending.result


def test_phases_follow_the_engine_and_other_drones_do_not_count(bench: Bench) -> None:
    assert bench.host is not None
    bench.host.free.clear()
    pending = bench.ask(drone_id="d1", suite="x", reason="why")
    until(lambda: bench.host and bench.host.asked, "the request at the engine")
    bench.server.on_event({"event": "state", "drone_id": "d2", "old": "UP", "new": "REKEYING"})
    until(lambda: "requested" in bench.phases, "the first phase")
    assert "handshake" not in bench.phases
    bench.server.on_event({"event": "state", "drone_id": "d1", "old": "UP", "new": "REKEYING"})
    until(lambda: bench.phases[-1] == "handshake", "the second phase")
    bench.server.on_event({"event": "handshake", "drone_id": "d1", "ok": True})
    until(lambda: bench.phases[-1] == "installed", "the third phase")
    bench.server.on_event({"event": "state", "drone_id": "d1", "old": "REKEYING", "new": "HANDSHAKING"})
    bench.host.free.set()
    result = finished(pending)
    assert (result.ok, result.suite, result.epoch, result.rekey_ms) == (True, SUITE, 7, 12.5)
    assert bench.phases[-1] == "installed"  # it never goes back
    assert bench.host.asked == [{"drone_id": "d1", "suite": "x", "reason": "why", "kind": "", "pin_for_s": 0.0}]


def test_the_kind_reaches_the_engine_as_it_was_asked_for(bench: Bench) -> None:
    assert bench.host is not None
    for kind in ("", "rekey", "ratchet", "else"):  # what there is the engine knows
        assert finished(bench.ask(drone_id="d1", kind=kind)).ok
    answer = bench.server.serve(srv.Rekey.Request(drone_id="d1", kind="ratchet"), srv.Rekey.Response())
    assert answer.ok
    assert [each["kind"] for each in bench.host.asked] == ["", "rekey", "ratchet", "else", "ratchet"]


def test_a_long_handshake_is_reported_again_and_again(bench: Bench) -> None:
    assert bench.host is not None
    bench.host.free.clear()
    pending = bench.ask(drone_id="d1")
    until(lambda: bench.phases.count("requested") >= 3, "a reminder each second")
    bench.host.free.set()
    assert finished(pending).ok


def test_a_quick_rekey_ends_with_the_last_phase(bench: Bench) -> None:
    assert finished(bench.ask(drone_id="d1")).ok
    until(lambda: bench.phases[-1:] == ["installed"], "the last phase")
    assert bench.phases[0] == "requested"


def test_refusals_end_the_action_with_their_sentence(bench: Bench) -> None:
    assert bench.host is not None
    bench.host.outcome = {**DONE, "ok": False, "epoch": 6, "message": "No key for it."}
    result = finished(bench.ask(drone_id="d2"))
    assert not result.ok and (result.message, result.suite, result.epoch) == ("No key for it.", SUITE, 6)
    bench.host.outcome = ControlError("Not now.")
    assert finished(bench.ask()).message == "Not now."


def test_an_unexpected_error_ends_the_action_not_the_node(bench: Bench) -> None:
    assert bench.host is not None
    bench.host.outcome = RuntimeError("a\nbug")
    assert finished(bench.ask(drone_id="d1")).message == "Unexpected: RuntimeError: a bug"
    bench.host.outcome = DONE
    assert finished(bench.ask(drone_id="d1")).ok


def test_without_an_active_engine(bench: Bench) -> None:
    bench.host = None
    assert "not active" in finished(bench.ask()).message


def test_only_so_many_rekeys_wait_at_once(bench: Bench) -> None:
    """The threads that wait are the executor's: the last one is left to the topics."""
    assert bench.host is not None
    bench.host.free.clear()
    waiting = [bench.ask(drone_id="d1") for _ in range(REKEYS_AT_ONCE)]
    until(lambda: bench.host and len(bench.host.asked) == REKEYS_AT_ONCE, "all places taken")
    answer = bench.server.serve(srv.Rekey.Request(drone_id="d1"), srv.Rekey.Response())
    assert not answer.ok and answer.message.startswith("Busy: 4 rekeys are waiting at this proxy already")
    assert finished(bench.ask(drone_id="d1")).message.startswith("Busy")
    bench.host.free.set()
    assert all(finished(each).ok for each in waiting)
    assert bench.server.serve(srv.Rekey.Request(drone_id="d1"), srv.Rekey.Response()).ok

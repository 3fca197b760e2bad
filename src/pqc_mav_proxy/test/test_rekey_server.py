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
from pqc_mav_common.testing import until
from pqc_mav_proxy.rekey_server import REKEYS_AT_ONCE, RekeyServer

DEADLINE_S = 20.0
SUITE = "cs-mlkem768-aesgcm-mldsa65"


class FakeEngine:
    """Serves drones d1 and d2; a rekey waits until `free` is set and then ends as `outcome` says."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.asked: list[tuple[str, str, str]] = []
        self.kinds: list[str] = []
        self.outcome: dict[str, Any] | Exception = {
            "ok": True, "suite": SUITE, "epoch": 7, "rekey_ms": 12.5, "message": "Done.",
        }  # fmt: skip

    def status(self) -> list[dict[str, Any]]:
        return [{"drone_id": drone, "suite": SUITE, "epoch": 6} for drone in ("d1", "d2")]

    def request_rekey(
        self, drone: str, suite: str = "", reason: str = "", kind: str = "", pin_for_s: float = 0
    ) -> dict[str, Any]:
        self.asked.append((drone, suite, reason))
        self.kinds.append(kind)
        assert self.free.wait(DEADLINE_S)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return {"pin_for_s": pin_for_s, **self.outcome}


class Bench:
    """A node with the server, another with the clients, both spinning."""

    def __init__(self) -> None:
        self.engine: FakeEngine | None = FakeEngine()
        self.node = rclpy.create_node("pqc_proxy", namespace="rekeys")
        self.server = RekeyServer(self.node, lambda: self.engine)
        self.client = rclpy.create_node("client")
        self.call = ActionCall(self.client, action.Rekey, "/rekeys/pqc_proxy/rekey_action")
        self.phases: list[str] = []
        self._executor = MultiThreadedExecutor(REKEYS_AT_ONCE + 2)
        for node in (self.node, self.client):
            self._executor.add_node(node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()
        assert self.call.wait_ready(DEADLINE_S)

    def ask(self, **goal: str) -> PendingCall:
        return self.call.begin(action.Rekey.Goal(**goal), lambda heard: self.phases.append(heard.phase))

    def close(self) -> None:
        if self.engine is not None:
            self.engine.free.set()
        self._executor.shutdown()
        self._thread.join()
        self.call.close()
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
    assert bench.engine is not None
    bench.engine.free.clear()
    pending = bench.ask(drone_id="d1", suite="x", reason="why")
    until(lambda: bench.engine and bench.engine.asked, "the request at the engine")
    bench.server.on_event({"type": "state", "drone_id": "d2", "old": "UP", "new": "REKEYING"})
    until(lambda: "requested" in bench.phases, "the first phase")
    assert "handshake" not in bench.phases
    bench.server.on_event({"type": "state", "drone_id": "d1", "old": "UP", "new": "REKEYING"})
    until(lambda: bench.phases[-1] == "handshake", "the second phase")
    bench.server.on_event({"type": "handshake", "drone_id": "d1", "ok": True})
    until(lambda: bench.phases[-1] == "installed", "the third phase")
    bench.server.on_event({"type": "state", "drone_id": "d1", "old": "REKEYING", "new": "HANDSHAKING"})
    bench.engine.free.set()
    result = finished(pending)
    assert (result.ok, result.suite, result.epoch, result.rekey_ms) == (True, SUITE, 7, 12.5)
    assert bench.phases[-1] == "installed"  # it never goes back
    assert bench.engine.asked == [("d1", "x", "why")]


def test_the_kind_reaches_the_engine_as_it_was_asked_for(bench: Bench) -> None:
    assert bench.engine is not None
    for kind in ("", "rekey", "ratchet", "else"):  # what there is the engine knows
        assert finished(bench.ask(drone_id="d1", kind=kind)).ok
    answer = bench.server.serve(srv.Rekey.Request(drone_id="d1", kind="ratchet"), srv.Rekey.Response())
    assert answer.ok
    assert bench.engine.kinds == ["", "rekey", "ratchet", "else", "ratchet"]


def test_a_long_handshake_is_reported_again_and_again(bench: Bench) -> None:
    assert bench.engine is not None
    bench.engine.free.clear()
    pending = bench.ask(drone_id="d1")
    until(lambda: bench.phases.count("requested") >= 3, "a reminder each second")
    bench.engine.free.set()
    assert finished(pending).ok


def test_a_quick_rekey_ends_with_the_last_phase(bench: Bench) -> None:
    assert finished(bench.ask(drone_id="d1")).ok
    until(lambda: bench.phases[-1:] == ["installed"], "the last phase")
    assert bench.phases[0] == "requested"


def test_refusals_end_the_action_with_their_sentence(bench: Bench) -> None:
    assert bench.engine is not None
    assert "2 drones" in finished(bench.ask()).message
    bench.engine.outcome = {"ok": False, "suite": "", "epoch": 0, "rekey_ms": 1.0, "message": "No key for it."}
    result = finished(bench.ask(drone_id="d2"))
    assert not result.ok and result.message == "No key for it."
    assert (result.suite, result.epoch) == (SUITE, 6)  # what is in use, not what was asked for


def test_an_unexpected_error_ends_the_action_not_the_node(bench: Bench) -> None:
    assert bench.engine is not None
    bench.engine.outcome = RuntimeError("a\nbug")
    assert finished(bench.ask(drone_id="d1")).message == "Unexpected: RuntimeError: a bug"
    bench.engine.outcome = {"ok": True, "suite": SUITE, "epoch": 8, "rekey_ms": 1.0, "message": "Done."}
    assert finished(bench.ask(drone_id="d1")).ok


def test_without_an_active_engine(bench: Bench) -> None:
    bench.engine = None
    assert "not active" in finished(bench.ask()).message


def test_only_so_many_rekeys_wait_at_once(bench: Bench) -> None:
    """The threads that wait are the executor's: the last one is left to the topics."""
    assert bench.engine is not None
    bench.engine.free.clear()
    waiting = [bench.ask(drone_id="d1") for _ in range(REKEYS_AT_ONCE)]
    until(lambda: bench.engine and len(bench.engine.asked) == REKEYS_AT_ONCE, "all places taken")
    answer = bench.server.serve(srv.Rekey.Request(drone_id="d1"), srv.Rekey.Response())
    assert not answer.ok and answer.message.startswith("Busy: 4 rekeys are waiting at this proxy already")
    assert finished(bench.ask(drone_id="d1")).message.startswith("Busy")
    bench.engine.free.set()
    assert all(finished(each).ok for each in waiting)
    assert bench.server.serve(srv.Rekey.Request(drone_id="d1"), srv.Rekey.Response()).ok

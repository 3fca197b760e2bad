# SPDX-License-Identifier: Apache-2.0
"""The node from inside ROS: telemetry in, decisions and rekeys out, modes, pins, faults."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from fake_drone import DEFAULT, FakeDrone
from rclpy.parameter import Parameter

from pqc_mav_common.errors import ProcessError
from pqc_mav_common.executors import one_thread
from pqc_mav_common.key_values import nested
from pqc_mav_common.lifecycle import bring_up
from pqc_mav_common.testing import until
from pqc_mav_policy.node import PqcPolicyNode
from pqc_mav_policy.strategies.expert.performance import DEFAULT_FILE, load, save
from pqc_mav_policy.telemetry import snapshot

LIGHT = "cs-mlkem512-aesgcm-falcon512"
NUMBERS = count()
TICK_S = 0.25  # the node decides four times a second here, to be done sooner


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drone's folder with all of the gcs' public keys but ML-DSA-44's."""
    root = tmp_path_factory.mktemp("keys") / "root"
    tokens = sorted({suite.sig_token for suite in pqc_mav_tunnel.suites(view="core")} - {"mldsa44"})
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=tokens)
    return root / "drones" / "d1"


class Flight:
    """A drone and its policy, in a namespace of their own."""

    def __init__(self, keys: Path, *parameters: str, configured: str = LIGHT) -> None:
        namespace = f"/drone{next(NUMBERS)}"
        self.drone = FakeDrone(namespace, keys, configured)
        arguments = ["--ros-args", "-r", f"__ns:={namespace}"]
        # The cascade waits for a minute's calm before it renews keys, and so does not get in a test's way.
        named = any(parameter.startswith("strategy:=") for parameter in parameters)
        for parameter in parameters if named else ("strategy:=cascade", *parameters):
            arguments += ["-p", parameter]
        self.policy = PqcPolicyNode(tick_s=TICK_S, cli_args=arguments, use_global_arguments=False)
        bring_up(self.policy)
        self._executor = one_thread()
        self._executor.add_node(self.policy)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()

    def ready(self) -> FakeDrone:
        """The drone, once the policy knows everything it needs."""
        controller = self.policy.controller
        until(lambda: controller.available, "the list of suites")
        self.drone.decided(lambda d: d.guard not in ("safety", "session"), "a decision with all telemetry")
        return self.drone

    def close(self) -> None:
        self.drone.free.set()
        self._executor.shutdown()
        self._thread.join()
        self.policy.destroy_node()
        self.drone.close()


@pytest.fixture
def fly(ros: None, keys: Path) -> Iterator[Any]:
    flights: list[Flight] = []

    def start(*parameters: str, configured: str = LIGHT) -> Flight:
        flights.append(Flight(keys, *parameters, configured=configured))
        return flights[-1]

    yield start
    for flight in flights:
        flight.close()


def test_an_emergency_changes_the_suite_and_every_decision_carries_its_inputs(fly: Any) -> None:
    flight = fly()
    drone = flight.ready()
    drone.changes["thermal"] = {"temperature_c": 85.0}
    acted = drone.decided(lambda d: d.requested, "a request")
    assert (acted.action, acted.guard, acted.strategy, acted.mode) == ("DOWN_0", "emergency", "cascade", "auto")
    assert (acted.from_suite, acted.to_suite) == (DEFAULT, LIGHT)
    assert (acted.to_rank, acted.from_rank > 0) == (0, True)
    assert "85.0 C" in acted.reason
    assert acted.phase == 3
    after = drone.decided(lambda d: d.from_suite == LIGHT and d.outcome_ok, "a decision on the new suite")
    assert after.outcome == "Rekeyed to ML-512-AG-FA-512."
    assert [suite for suite, _ in drone.asked] == [LIGHT]
    assert drone.asked[0][1].startswith("policy: emergency: ")
    inputs, _ = snapshot.of_decision(acted)
    assert inputs.thermal.temperature_c == 85.0
    assert nested(acted.inputs)["session"]["suite"] == DEFAULT
    assert any(status.level == b"\x02" and "emergency" in status.message for status in drone.diagnostics)
    # Only suites whose key is on the drone may be chosen.
    assert all("mldsa44" not in name for name in inputs.available)
    assert len(inputs.available) == 72 - 9


def test_a_decision_says_by_which_parameters_it_was_made_and_one_that_is_set_waits(fly: Any) -> None:
    flight = fly("stale_s:=3.0")
    drone = flight.ready()
    assert flight.policy.set_parameters([Parameter("stale_s", value=5.0)])[0].successful
    decision = drone.decided(lambda d: True, "a decision")
    assert snapshot.own_parameters(decision) == {"strategy": "cascade", "stale_s": 3.0}
    assert snapshot.limits(decision).stale_s == 3.0


def test_measured_renews_keys_that_are_due_and_knows_how_long_it_took(fly: Any) -> None:
    flight = fly("strategy:=measured")
    drone = flight.ready()
    asked = until(lambda: next((d for d in drone.decisions if d.requested), None), "a request")
    assert (asked.action, asked.guard, asked.strategy) == ("REKEY", "renew", "measured")

    def outcomes() -> list[Any]:
        return [each for d in drone.decisions for each in nested(d.inputs)["outcomes"]]

    assert until(outcomes, "the answer")[0]["took_s"] == pytest.approx(0.025)


def test_keys_that_no_handshake_can_renew_now_are_ratcheted(fly: Any) -> None:
    """A loss of 95 % leaves no room for a full handshake of any suite; what the ratchet took is learned of none."""
    flight = fly("strategy:=measured")
    flight.drone.ratchet_for_s = 3000.0
    flight.drone.publish_status()
    flight.drone.changes["link"] = {"loss": 0.95}
    drone = flight.ready()
    asked = until(lambda: next((d for d in drone.decisions if d.requested), None), "a request")
    assert (asked.action, asked.guard, asked.kind) == ("REKEY", "renew", "ratchet"), asked.reason
    assert "; by a ratchet: " in asked.reason
    assert until(lambda: drone.kinds, "the proxy's side of it")[0] == "ratchet"
    assert drone.asked[0][0] == ""
    assert all(d.kind == "" for d in drone.decisions if d.action == "HOLD")

    def outcomes() -> list[Any]:
        return [each for d in drone.decisions for each in nested(d.inputs)["outcomes"]]

    answer = until(outcomes, "the answer")[0]
    assert (answer["kind"], answer["ok"], answer["took_s"]) == ("ratchet", True, None)


def test_a_proxy_without_ratchets_is_asked_for_full_handshakes_and_for_none_that_cannot_be_made(fly: Any) -> None:
    flight = fly("strategy:=measured", "ratchet_above_bytes:=0")
    drone = flight.ready()
    asked = until(lambda: next((d for d in drone.decisions if d.requested), None), "a request")
    assert (asked.guard, asked.kind) == ("renew", "rekey")
    assert until(lambda: drone.kinds, "the proxy's side of it") == ["rekey"]


def test_a_detector_s_response_renews_the_keys_once_and_the_reason_says_so(fly: Any) -> None:
    """Nothing is due: the suite's keys are renewed every 300 s."""
    flight = fly("strategy:=measured", "rekey_mlkem_s:=300.0", "tau_up_s:=600.0")
    drone = flight.ready()
    assert drone.asked == []
    drone.changes["threat"] = {"level": 2, "kind": "forgery", "response": "renew_keys"}
    asked = drone.decided(lambda d: d.requested, "a request")
    assert (asked.action, asked.guard) == ("REKEY", "alarm")
    assert "a detector reports forgery" in asked.reason
    assert nested(asked.inputs)["threat_response"] == "renew_keys"
    after = drone.decided(lambda d: d.guard == "alarm" and not d.requested, "the alarm's end of work")
    assert "the keys have been renewed since" in after.reason
    drone.changes["threat"] = {"level": 2, "kind": "handshake_flood", "response": "defer_renewals"}
    drone.decided(lambda d: "only renewals that are due" in d.reason, "the other class")
    assert len(drone.asked) == 1


def test_a_saturated_link_makes_the_proxy_shape_and_calm_lets_it_go(fly: Any) -> None:
    flight = fly("shed_kbit:=64", "tau_down_s:=0.5", "tau_up_s:=2.0")
    drone = flight.ready()
    drone.node.declare_parameter("shape_kbit", 0)
    drone.changes["link"] = {"loss": 0.3}
    drone.round_trip_ms = 900.0
    shed = drone.decided(lambda d: "Shedding load" in d.reason, "the shedding")
    assert "MAVLink is shaped to 64 kbit/s: the link is saturated: 30.0 % of the packets are lost" in shed.reason
    until(lambda: drone.node.get_parameter("shape_kbit").value == 64, "the proxy's parameter")
    until(lambda: flight.policy.controller.shaped, "the proxy's answer")
    warned = until(lambda: next((s for s in drone.diagnostics if dict(pairs(s)).get("shed") == "1"), None), "a count")
    assert warned.level == b"\x01"
    del drone.changes["link"]
    drone.round_trip_ms = 20.0
    until(lambda: drone.node.get_parameter("shape_kbit").value == -1, "the end of shaping: the schema's default")


def test_a_proxy_that_was_started_again_is_told_again(fly: Any) -> None:
    flight = fly("shed_kbit:=64", "tau_down_s:=0.5")
    drone = flight.ready()
    drone.node.declare_parameter("shape_kbit", -1)
    drone.changes["link"] = {"loss": 0.3}
    drone.round_trip_ms = 900.0
    until(lambda: flight.policy.controller.shaped, "the proxy's answer")
    drone.node.set_parameters([Parameter("shape_kbit", value=-1)])
    drone.publish_status()
    until(lambda: drone.node.get_parameter("shape_kbit").value == 64, "shaping once more")


def test_a_policy_that_was_started_again_takes_back_what_the_one_before_began(fly: Any) -> None:
    flight = fly("shed_kbit:=64")
    drone = flight.ready()
    drone.node.declare_parameter("shape_kbit", 64)
    drone.shape_kbit = 64
    drone.publish_status()
    until(lambda: drone.node.get_parameter("shape_kbit").value == -1, "the end of shaping")


def test_a_proxy_that_does_not_shape_is_named(fly: Any) -> None:
    """It has no such parameter."""
    flight = fly("shed_kbit:=64", "tau_down_s:=0.5")
    drone = flight.ready()
    drone.changes["link"] = {"loss": 0.3}
    drone.round_trip_ms = 900.0
    said = until(lambda: next((s for s in drone.diagnostics if "load cannot be shed" in s.message), None), "a warning")
    assert "the proxy refused: " in said.message
    assert not flight.policy.controller.shaped


def pairs(status: Any) -> list[tuple[str, str]]:
    return [(each.key, each.value) for each in status.values]


def test_a_missing_sense_is_named_and_the_remaining_rules_act(fly: Any) -> None:
    flight = fly()
    drone = flight.ready()
    drone.silent.add("battery")
    assert "limit 2 s" in drone.decided(lambda d: "battery: " in d.reason, "the silence").reason
    drone.changes["battery"] = {"valid": False, "reason": "The pack is unplugged."}
    drone.silent.clear()
    assert "unplugged" in drone.decided(lambda d: "battery: The pack" in d.reason, "the reason").reason
    until(lambda: drone.diagnostics and drone.diagnostics[-1].level == b"\x01", "a warning")
    drone.changes["thermal"] = {"temperature_c": 85.0}
    assert drone.decided(lambda d: d.requested, "a request").guard == "emergency"
    for sense in ("thermal", "vehicle"):
        drone.changes[sense] = {"valid": False, "reason": "It is gone."}
    drone.silent.add("link")
    held = drone.decided(lambda d: d.guard == "safety", "a hold without any sense")
    assert held.action == "HOLD"


def test_the_node_goes_on_while_the_proxy_takes_its_time_and_learns_of_failures(fly: Any) -> None:
    flight = fly()
    drone = flight.ready()
    drone.free.clear()
    drone.failing = True
    drone.changes["thermal"] = {"temperature_c": 85.0}
    waiting = drone.decided(lambda d: d.guard == "pending", "a decision while the request is under way")
    assert waiting.action == "HOLD"
    assert nested(waiting.inputs)["session"]["pending_suite"] == LIGHT
    drone.free.set()
    failed = drone.decided(lambda d: d.outcome == "The gcs did not answer.", "the failure")
    assert not failed.outcome_ok
    outcome = nested(failed.inputs)["outcomes"][0]
    assert (outcome["suite"], outcome["ok"], outcome["error"]) == (LIGHT, False, "timeout")
    # Anybody in the path can let a handshake time out: it speaks against no suite.
    assert drone.decided(lambda d: d.requested, "the next request").to_suite == LIGHT


def test_modes_and_pins(fly: Any) -> None:
    flight = fly("mode:=hold", "strategy:=expert")
    drone = flight.ready()
    drone.changes["thermal"] = {"temperature_c": 85.0}
    held = drone.decided(lambda d: d.action == "DOWN_0", "a decision in mode hold")
    assert (held.requested, held.mode, held.strategy) == (False, "hold", "expert")
    assert drone.asked == []
    del drone.changes["thermal"]
    assert "'fast' is not a mode" in drone.set_mode("fast").message
    refused = drone.pin("ML-9-XX")
    assert not refused.ok
    assert refused.message
    without_key = drone.pin("ML-512-AG-MD-44")
    assert not without_key.ok
    assert "public key for mldsa44" in without_key.message
    pinned = drone.pin("HQC-192-AG-MD-65")
    assert pinned.ok
    changed = drone.decided(lambda d: d.requested and d.mode == "manual", "the change to the pinned suite")
    assert changed.guard == "pinned"
    drone.decided(lambda d: d.from_suite == "cs-hqc192-aesgcm-mldsa65", "the pinned suite in use")
    released = drone.pin("")
    assert (released.ok, flight.policy.controller.mode) == (True, "auto")
    manual = drone.set_mode("manual")
    assert (manual.ok, manual.mode) == (True, "manual")
    assert "keeping HQC-192-AG-MD-65" in manual.message


def test_the_configured_suites_level_is_the_floor_of_choices_and_pins(fly: Any) -> None:
    flight = fly(configured=DEFAULT)
    drone = flight.ready()
    drone.changes["thermal"] = {"temperature_c": 85.0}
    held = drone.decided(lambda d: d.guard == "emergency", "a decision in the emergency")
    assert (held.action, held.requested) == ("HOLD", False)
    assert nested(held.inputs)["configured_suite"] == DEFAULT
    refused = drone.pin(LIGHT)
    assert not refused.ok
    assert refused.message.startswith("ML-512-AG-FA-512 cannot be pinned: it is of level 1, below level 3")


def test_without_a_session_it_waits_and_without_a_proxy_it_says_so(fly: Any) -> None:
    flight = fly()
    drone = flight.ready()
    drone.state, drone.suite = 1, ""
    drone.publish_status()
    held = drone.decided(lambda d: d.guard == "session", "a hold without session")
    assert held.from_suite == ""


def test_a_request_nobody_answers_is_given_up(fly: Any) -> None:
    flight = fly("request_timeout_s:=1.0")
    drone = flight.ready()
    drone.free.clear()
    drone.changes["thermal"] = {"temperature_c": 85.0}
    given_up = drone.decided(lambda d: "did not answer in time" in d.outcome, "the end of patience")
    assert not given_up.outcome_ok


def test_files_and_suites_are_looked_at_when_they_are_set(ros: None, tmp_path: Path) -> None:
    """The next configure would refuse them, maybe days later and in flight."""
    save(tmp_path / "table.csv", load(DEFAULT_FILE).values())
    node = PqcPolicyNode(cli_args=[], use_global_arguments=False)

    def put(name: str, value: Any) -> Any:
        return node.set_parameters([Parameter(name, value=value)])[0]

    try:
        for name, value, said in (
            ("performance_file", "/nowhere.csv", "Cannot read the performance table /nowhere.csv"),
            ("performance_file", "~no-such-user/table.csv", "'~no-such-user/table.csv' is no path"),
            ("rl_policy_file", "/nowhere.json", "Cannot read /nowhere.json"),
            ("suites", ["ML-768-AG-MD-65", "ML-9"], "ML-9"),
            ("pinned_suite", "ML-9", "ML-9"),
        ):
            refused = put(name, value)
            assert not refused.successful and said in refused.reason, refused.reason
            assert "\n" not in refused.reason
        for name, value in (
            ("performance_file", str(tmp_path / "table.csv")),
            ("performance_file", ""),
            ("suites", ["ML-768-AG-MD-65"]),
            ("suites", [""]),
            ("pinned_suite", "ML-768-AG-MD-65"),
            ("pinned_suite", ""),
        ):
            assert put(name, value).successful, (name, value)
    finally:
        node.destroy_node()


@pytest.mark.parametrize(
    ("parameter", "sentence"),
    [
        ("stale_s:=0.1", "Parameter 'stale_s' of pqc_policy is 0.1"),
        ("nonsense:=1", "pqc_policy has no parameter 'nonsense'"),
        ("pinned_suite:=ML-9", "ML-9"),
        ("performance_file:=/nowhere.csv", "/nowhere.csv"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(ros: None, parameter: str, sentence: str) -> None:
    strategy = ["-p", "strategy:=expert"] if parameter.startswith("performance") else []
    arguments = ["--ros-args", "-p", parameter, *strategy]
    with pytest.raises(ProcessError, match=sentence):
        bring_up(PqcPolicyNode(cli_args=arguments, use_global_arguments=False))

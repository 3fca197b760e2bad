# SPDX-License-Identifier: Apache-2.0
"""Attacks that the fault laboratory recorded, through the real detector, into a recording, flown by the strategies.

The windows are those of the detector's own test (`chaos/run record --rates 20`); battery, processor and link are well.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from pqc_mav_interfaces.msg import BatteryHealth, LinkQuality, ThermalState, ThreatReport, TunnelStatus, VehicleState
from rclpy.serialization import serialize_message
from scenes import CATALOGUE, CORE, suite
from std_msgs.msg import Header

from pqc_mav_detect.classes import CLASSES, VOLUMETRIC
from pqc_mav_detect.conversions import report
from pqc_mav_detect.dataset import Row, read_rows
from pqc_mav_detect.detectors import RULES, XGBOOST
from pqc_mav_detect.detectors import make as make_detector
from pqc_mav_detect.episodes import Episodes
from pqc_mav_policy import shedding
from pqc_mav_policy.alarms import RENEW_KEYS, RESPONSES
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.fly import Second, Simulation, fly
from pqc_mav_policy_lab.missions.recorded import RecordedMission
from pqc_mav_policy_lab.recordings.assemble import assemble
from pqc_mav_recorder.file import RecordingFile
from pqc_mav_recorder.schema import installed_topic

WINDOWS = Path(__file__).parents[3] / "pqc_mav_detect" / "test" / "recorded.csv.gz"
BEGIN_NS = 1_700_000_000_000_000_000
BEFORE_S = 40  # of calm
HQC = suite("HQC-256-AG-MD-87")
BEST = suite("ML-1024-AG-FA-1024")
FAST = suite("ML-1024-CP-MD-87")


@cache
def runs() -> dict[str, list[Row]]:
    """Class -> windows of one attack, as the gcs' end saw them."""
    found = {}
    for (_, end), rows in read_rows(WINDOWS).items():
        kind = next((row.episode for row in rows if row.episode), "")
        if end == "gcs":
            found.setdefault(kind, rows)
    return found


def write(recording: RecordingFile, topic: str, message: Any, at_s: float) -> None:
    at = BEGIN_NS + int(at_s * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(at, 1_000_000_000)
    kind = f"pqc_mav_interfaces/msg/{type(message).__name__}"
    recording.write(installed_topic(f"/drone/{topic}", kind), serialize_message(message), at, at)


def reports(kind: str, name: str = RULES) -> list[tuple[float, ThreatReport]]:
    """What a detector publishes: at every change, and once a second."""
    detector, episodes, found, said = make_detector(name), Episodes(), [], None
    rows = runs()[kind]
    for number, row in enumerate(rows):
        verdict = episodes.update(detector.update(row.window), row.window.time_s)
        if (verdict.level, verdict.kind) != said or number % 10 == 0:
            said = (verdict.level, verdict.kind)
            at = BEFORE_S + row.window.time_s - rows[0].window.time_s
            found.append((at, report(verdict, detector.source, Header(), lambda _: Time())))
    return found


def recorded(path: Path, kind: str, start: str, detector: str = RULES) -> Path:
    """A hovering drone that is well, and the reports of one attack."""
    recording = RecordingFile(path, {})
    up = TunnelStatus(state=TunnelStatus.UP, role="drone", suite=start, epoch=0)
    write(recording, "pqc_proxy/status", up, 0.0)
    threats = reports(kind, detector)
    for second in range(1 + int(threats[-1][0])):
        at = second + 0.01
        battery = BatteryHealth(valid=True, cells=4, voltage_v=16.0, voltage_rate_mv_per_min=-20.0, state_of_charge=0.8)
        write(recording, "battery", battery, at)
        write(recording, "thermal", ThermalState(valid=True, temperature_c=55.0, rate_c_per_min=0.0), at)
        write(recording, "vehicle", VehicleState(valid=True, armed=True, phase=VehicleState.HOVER), at)
        link = LinkQuality(side="peer", age_s=0.1, packets_per_s=320.0, gap_p95_ms=10.0, loss=0.0)
        if kind != "blackout" or second < BEFORE_S:
            write(recording, "pqc_proxy/link", link, at)
    for at, threat in threats:
        write(recording, "threat", threat, at)
    return recording.finish()


def flown(
    tmp_path: Path, kind: str, strategy: str = "measured", start: str = BEST, detector: str = RULES
) -> list[Second]:
    """The recording as a mission under a strategy, which may use every level and waits for 2 s of stress only: of each
    attack the file has a few seconds."""
    path = recorded(tmp_path / f"{kind}-{strategy}-{CATALOGUE[start].short_code}.mcap", kind, start, detector)
    source = assemble(path, "drone", CORE, PolicyParameters())
    simulation = Simulation(RecordedMission(source).world(), start, CORE, CATALOGUE, published_costs(CATALOGUE))
    return fly(simulation, make(strategy, CATALOGUE, Settings(policy=PolicyParameters(tau_down_s=2.0))))


def acts(flight: list[Second], since: int = BEFORE_S) -> list[tuple[str, str, str]]:
    """Action, guard and suite of each request."""
    found = [second.decision for second in flight if second.index >= since and second.decision.acts]
    return [(str(decision.action), decision.guard, decision.to_suite) for decision in found]


def test_the_policy_knows_every_response_of_the_detectors() -> None:
    assert {each.response for each in CLASSES.values()} == RESPONSES
    assert shedding.VOLUMETRIC == VOLUMETRIC


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("detector", [RULES, XGBOOST])
def test_whatever_a_detector_names_no_more_is_done_than_its_response_asks_for(
    tmp_path: Path, detector: str, kind: str
) -> None:
    """Trees may name another class than what was done; the one answer that costs a handshake is fresh keys, once."""
    sure = {said.response for _, said in reports(kind, detector) if said.level == ThreatReport.ATTACK}
    flight = flown(tmp_path, kind, detector=detector)
    assert acts(flight) == ([("REKEY", "alarm", BEST)] if RENEW_KEYS in sure else [])
    assert {second.decision.to_suite for second in flight} == {BEST}
    heard = {second.inputs.threat_response for second in flight} - {""}
    assert heard and heard <= RESPONSES
    if kind in ("forgery", "flood", "handshake_flood"):
        assert sure, "what the trees have to be sure of"


@pytest.mark.parametrize("kind", ["forgery", "replay"])
def test_forgeries_and_replays_renew_the_keys_once(tmp_path: Path, kind: str) -> None:
    flight = flown(tmp_path, kind)
    assert acts(flight) == [("REKEY", "alarm", BEST)]
    asked = next(second for second in flight if second.decision.acts)
    assert asked.inputs.threat_response == "renew_keys"
    assert f"a detector reports {kind}" in asked.decision.reason


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("handshake_flood", "reports handshake_flood, so only renewals that are due are made"),
        ("flood", "reports flood, so the next renewal takes the smallest handshake of the level"),
        ("volumetric", "reports volumetric, so the next renewal takes the smallest handshake of the level"),
        ("on_path", "suspects on_path, so nothing is changed for it"),
        ("blackout", "suspects blackout, and the ground station is not heard"),
    ],
)
def test_all_other_attacks_cause_no_handshake_and_are_named(tmp_path: Path, kind: str, said: str) -> None:
    flight = flown(tmp_path, kind)
    assert acts(flight) == []
    assert any(second.decision.guard == "alarm" and said in second.decision.reason for second in flight)


@pytest.mark.parametrize("kind", ["forgery", "handshake_flood", "flood", "volumetric"])
def test_the_expert_goes_to_the_fast_suite_and_from_there_renews_the_keys_once(tmp_path: Path, kind: str) -> None:
    assert acts(flown(tmp_path, kind, "expert", HQC))[0] == ("DOWN", "heartbeat", FAST)
    assert acts(flown(tmp_path, kind, "expert", FAST)) == [("REKEY", "heartbeat", FAST)]


def test_the_cascade_takes_an_attack_as_stress_whatever_its_class(tmp_path: Path) -> None:
    for kind in ("forgery", "handshake_flood", "flood"):
        assert [guard for _, guard, _ in acts(flown(tmp_path, kind, "cascade", HQC))][:1] == ["stress"]

# SPDX-License-Identifier: Apache-2.0
"""Snapshots out of plain telemetry, where no policy was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenes import CATALOGUE, CORE, DEFAULT

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy_lab.recordings.assemble import assemble
from pqc_mav_policy_lab.recordings.replay import replay
from pqc_mav_recorder.file import RecordingError, RecordingFile
from pqc_mav_recorder.schema import installed_topic

BEGIN_NS = 1_700_000_000_000_000_000
SECONDS = 40


def write(recording: RecordingFile, name: str, message: Any, at_s: float) -> None:
    from rclpy.serialization import serialize_message

    at = BEGIN_NS + int(at_s * 1e9)
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(at, 1_000_000_000)
    kind = f"pqc_mav_interfaces/msg/{type(message).__name__}"
    recording.write(installed_topic(name, kind), serialize_message(message), at, at)


def flight(path: Path, *, hot_from: int = 20, set_by_s: float = 0.0) -> Path:
    """A drone that hovers, and whose processor gets too hot; then its clock may be set."""
    from pqc_mav_interfaces.msg import BatteryHealth, HandshakeReport, LinkQuality, ThermalState
    from pqc_mav_interfaces.msg import TunnelStatus as Status
    from pqc_mav_interfaces.msg import VehicleState as Vehicle

    recording = RecordingFile(path, {})
    write(recording, "/drone/pqc_proxy/status", Status(state=Status.UP, role="drone", suite=DEFAULT, epoch=0), 0.0)
    for second in range(SECONDS):
        at = second + 0.01 + (set_by_s if second >= hot_from else 0.0)
        battery = BatteryHealth(valid=True, cells=4, voltage_v=16.0, voltage_rate_mv_per_min=-20.0, state_of_charge=0.8)
        write(recording, "/drone/battery", battery, at)
        heat = 85.0 if second >= hot_from else 55.0
        write(recording, "/drone/thermal", ThermalState(valid=True, temperature_c=heat, rate_c_per_min=0.0), at)
        write(recording, "/drone/vehicle", Vehicle(valid=True, armed=True, phase=Vehicle.HOVER), at)
        for side, loss in (("peer", 0.01), ("local", 0.5)):
            link = LinkQuality(side=side, age_s=0.1, packets_per_s=320.0, gap_p95_ms=10.0, loss=loss)
            write(recording, "/drone/pqc_proxy/link", link, at)
        write(recording, "/other/thermal", ThermalState(valid=True, temperature_c=99.0), at)
    failed = HandshakeReport(rekey=True, ok=False, suite=DEFAULT, error="timeout", reason="it timed out")
    write(recording, "/drone/pqc_proxy/handshake", failed, 30.5 + set_by_s)
    return recording.finish()


def test_the_flight_is_seen_as_the_node_would(tmp_path: Path) -> None:
    source = assemble(flight(tmp_path / "flight.mcap"), "drone", CORE, PolicyParameters())
    assert len(source.snapshots) == SECONDS + 1
    seen = source.snapshots[10]
    assert seen.now == 10.0 and seen.inputs.missing == () and seen.inputs.available == CORE
    assert seen.inputs.battery.voltage_v == 16.0 and seen.inputs.thermal.temperature_c == 55.0
    assert seen.inputs.link.loss == pytest.approx(0.01) and seen.inputs.session.suite == DEFAULT
    assert seen.inputs.link.age_s == pytest.approx(1.09, abs=0.02)
    assert [outcome.error for outcome in source.snapshots[31].inputs.outcomes] == ["timeout"]
    assert not source.snapshots[32].inputs.outcomes


def test_the_cascade_answers_the_heat(tmp_path: Path) -> None:
    source = assemble(flight(tmp_path / "flight.mcap"), "/drone/", CORE, PolicyParameters())
    cascade = make("cascade", CATALOGUE, Settings(policy=PolicyParameters(minimum_level=1)))
    decided = [str(decision.action) for _, decision in replay(cascade, source.snapshots)]
    assert decided[:21] == ["HOLD"] * 21 and decided[21] == "DOWN_0"


def test_a_clock_that_was_set_makes_no_time_go_by(tmp_path: Path) -> None:
    """A drone without a clock of its own starts somewhere, and hears the time later."""
    plain, stepped = (
        assemble(flight(tmp_path / f"{days}.mcap", set_by_s=86_400.0 * days), "drone", CORE, PolicyParameters())
        for days in (0, 3)
    )
    assert abs(len(stepped.snapshots) - len(plain.snapshots)) <= 1
    assert [snapshot.now for snapshot in stepped.snapshots] == list(map(float, range(len(stepped.snapshots))))
    assert [seen.snapshots[-1].inputs.thermal.temperature_c for seen in (plain, stepped)] == [85.0, 85.0]


def test_without_the_vehicles_telemetry_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(
        RecordingError,
        match=r"no telemetry in namespace /absent, .* It has some in /drone, /other \(--namespace\)\.",
    ):
        assemble(flight(tmp_path / "flight.mcap"), "absent", CORE, PolicyParameters())

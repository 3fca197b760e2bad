# SPDX-License-Identifier: Apache-2.0
"""An autopilot that sends only heartbeats until it is asked, a drone's tunnel, and sensing that asks through it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pqc_mav_tunnel as tunnel
import pytest
from nodes import Bench, bench
from pqc_mav_interfaces.msg import BatteryHealth, VehicleState

from pqc_mav_sensing import stream_requests
from pqc_mav_sensing.battery_node import BatteryNode
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.vehicle import Vehicle

LIGHT = "cs-mlkem512-aesgcm-mldsa44"


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def nodes_bench() -> Iterator[Bench]:
    with bench() as made:
        yield made


class Drone:
    """The tunnel's drone end with an autopilot; no ground station is there."""

    def __init__(self, folder: Path, tap: str, allowed: bool) -> None:
        tunnel.init_keys(str(folder), ["uav1"], ["mldsa44"])
        ports = {"data_port": free_port(), "local_data_port": 0, "plain_bind": "127.0.0.1:0", "bind": "127.0.0.1"}
        names = {"role": "drone", "keys": str(folder / "drones" / "uav1"), "drone_id": "uav1", "peer": "127.0.0.1"}
        taps = {"plain_tap": tap, "plain_tap_requests": allowed, "suite": LIGHT}
        self.engine = tunnel.Engine({**names, **ports, **taps})
        self.engine.start()
        peer = resolve(f"127.0.0.1:{self.engine.ports()['plain']['uav1']}")
        self.vehicle = Vehicle(AutopilotConfig(on_request=True, profile="client"), any_port_towards(peer), peer)
        self.vehicle.start()

    def sent(self) -> dict[str, int]:
        found: dict[str, int] = self.vehicle.snapshot()["sent_by_type"]
        return found

    def close(self) -> None:
        self.vehicle.stop()
        self.engine.stop()


@pytest.fixture
def flown(tmp_path: Path, nodes_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made: list[Drone] = []
    # Patience of 2 s instead of 10.
    monkeypatch.setattr(
        "pqc_mav_sensing.battery_node.StreamRequests",
        lambda **values: stream_requests.StreamRequests(after_s=2.0, **values),
    )

    def fly(allowed: bool = True, **values: Any) -> tuple[Drone, BatteryNode]:
        tap = f"127.0.0.1:{free_port()}"
        node = nodes_bench.start(BatteryNode, tap=tap, **values)
        made.append(Drone(tmp_path, tap, allowed))
        return made[-1], node

    yield fly
    for drone in made:
        drone.close()


def test_battery_position_and_landed_state_come_once_they_are_asked_for(flown: Any, nodes_bench: Bench) -> None:
    health = nodes_bench.listen(BatteryHealth, "/drone/battery")
    vehicle = nodes_bench.listen(VehicleState, "/drone/vehicle")
    drone, node = flown()
    nodes_bench.until(lambda: vehicle and vehicle[-1].valid, "no heartbeat")
    assert set(drone.sent()) == {"HEARTBEAT"}
    nodes_bench.until(lambda: health and health[-1].valid, "no battery")
    nodes_bench.until(lambda: drone.sent().get("EXTENDED_SYS_STATE"), "not all was asked for")
    assert health[-1].voltage_v > 10.0
    assert vehicle[-1].phase == VehicleState.DISARMED
    nodes_bench.until(lambda: node._requests.said.count("accepted") == 4, "not all was answered")
    # Asked for once each; what sensing does not need stays off.
    counts = drone.engine.stats()[0]
    assert (counts["plain_tap_requests"], counts["plain_tap_refused"]) == (4, 0)
    assert drone.vehicle.snapshot()["received_by_type"] == {"COMMAND_LONG": 4}
    assert "ATTITUDE" not in drone.sent()
    battery = next(report for report in node.diagnose() if report.subcomponent == "battery")
    assert "BATTERY_STATUS accepted" in battery.values["asked"]


@pytest.mark.parametrize(("allowed", "asks"), [(True, False), (False, True)])
def test_either_side_can_be_told_not_to(flown: Any, nodes_bench: Bench, allowed: bool, asks: bool) -> None:
    vehicle = nodes_bench.listen(VehicleState, "/drone/vehicle")
    drone, node = flown(allowed, request_streams=asks)
    nodes_bench.until(lambda: vehicle and vehicle[-1].valid, "no heartbeat")
    nodes_bench.until(lambda: drone.sent()["HEARTBEAT"] >= 5, "no five heartbeats")
    assert drone.vehicle.snapshot()["received_by_type"] == {}
    assert (node._requests is not None) is asks

# SPDX-License-Identifier: Apache-2.0
"""Real ground clients fly the simulated vehicle through the tunnel: vehicle, drone engine, gcs engine, client."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from client_sessions import mavproxy_param_session, mavsdk_session, missing

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters
from pqc_mav_sim.endpoint import Endpoint

tunnel = pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

HOST = "127.0.0.1"
HANDSHAKE_OUTCOMES = ("taken", "repeated", "malformed", "unknown", "tag", "gate", "replay", "limit")


@dataclass
class Tunnel:
    """Both ends, up; the client listens on ``client_port``, the vehicle sends to ``vehicle_end``."""

    drone: Any
    gcs: Any
    client_port: int
    vehicle_end: Endpoint

    def check_clean(self) -> None:
        """Every packet is accounted for, none was dropped, and nothing was refused."""
        for engine in (self.drone, self.gcs):
            totals = engine.totals()
            drops = {key: value for key, value in totals.items() if key.startswith("drop_")}
            assert sum(drops.values()) == 0, drops
            handshakes = sum(totals[f"hs_{name}"] for name in HANDSHAKE_OUTCOMES)
            assert totals["enc_rx_datagrams"] == totals["delivered"] + totals["control"] + handshakes
        sent, got = self.drone.stats()[0], self.gcs.stats()[0]
        assert got["delivered"] > 0
        assert sent["plain_dropped_send"] == sent["plain_dropped_too_big"] == 0


@pytest.fixture
def make_tunnel(tmp_path: Path) -> Iterator[Callable[..., Tunnel]]:
    """A tunnel on ephemeral ports with fresh keys; both ends are stopped at the end."""
    engines: list[Any] = []

    def make(suite: str = "cs-mlkem768-aesgcm-mldsa65") -> Tunnel:
        token = tunnel.find_suite(suite).sig_token
        tunnel.init_keys(str(tmp_path), ["uav1"], sorted({token, "mldsa65"}))
        client_port = free_port()
        application = {"uav1": {"plain_peer": f"{HOST}:{client_port}"}}
        gcs = tunnel.Engine(gcs_parameters(tmp_path, ("uav1",), data_port=0, drone=application))
        engines.append(gcs)
        gcs.start()
        drone = tunnel.Engine(drone_parameters(tmp_path, gcs.ports()["data"], "uav1", suite=suite))
        engines.append(drone)
        drone.start()
        made = Tunnel(drone, gcs, client_port, Endpoint(socket.AF_INET, (HOST, drone.ports()["plain"]["uav1"])))
        until(lambda: all(engine.status()[0]["state"] == "UP" for engine in engines), "both ends up")
        return made

    yield make
    for engine in reversed(engines):
        engine.stop()


@pytest.mark.skipif(missing("mavsdk") is not None, reason=missing("mavsdk") or "")
def test_mavsdk_arms_and_flies_through_the_tunnel(make_vehicle, make_tunnel) -> None:
    made = make_tunnel()
    vehicle = make_vehicle(made.vehicle_end)
    seen = mavsdk_session(f"udpin://{HOST}:{made.client_port}")
    assert seen["system_id"] == 1
    assert (seen["latitude_deg"], seen["longitude_deg"]) == pytest.approx((47.397742, 8.545594), abs=1e-5)
    assert 15.0 < seen["voltage_v"] < 17.0
    assert seen["remaining_percent"] == pytest.approx(100.0, abs=1.0)
    assert seen["flight_sw"] == "1.15.4"
    assert seen["armed_before"] is False
    assert "DENIED" in seen["early_takeoff"]
    assert seen["armed"] is True
    assert seen["altitude_m"] >= 0.8 * seen["float_param"]
    assert seen["current_in_air_a"] > 7.0
    assert "DENIED" in seen["disarm_in_air"]
    assert seen["landed"] is True
    assert seen["int_param"] == seen["int_param_written"] == vehicle.autopilot.params.value("COM_DL_LOSS_T")
    assert seen["param_count"] == len(vehicle.autopilot.params)
    snapshot = vehicle.snapshot()
    assert not snapshot["frame_errors"]
    assert all(source["lost"] == 0 for source in snapshot["uplink"].values())
    made.check_clean()


@pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")
@pytest.mark.parametrize("suite", ["cs-mlkem768-aesgcm-mldsa65", "cs-hqc128-ascon128a-falcon512"])
def test_mavproxy_lists_every_parameter_through_the_tunnel(make_vehicle, make_tunnel, suite: str) -> None:
    made = make_tunnel(suite)
    vehicle = make_vehicle(made.vehicle_end)
    seen = mavproxy_param_session(made.client_port)
    table = vehicle.autopilot.params
    assert seen["count"] == len(table)
    assert seen["params"] == pytest.approx({spec.name: table.value(spec.name) for spec in table.specs}, abs=1e-6)
    assert "online system 1" in seen["output"]
    snapshot = vehicle.snapshot()
    assert not snapshot["frame_errors"]
    assert snapshot["gcs"] == "connected"
    made.check_clean()

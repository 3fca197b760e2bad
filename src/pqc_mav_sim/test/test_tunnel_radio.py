# SPDX-License-Identifier: Apache-2.0
"""The tunnel over simulated telemetry radios: connecting, commands under three times the load, nothing in the clear."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import DEADLINE_S, until
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters
from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import any_port_towards, resolve
from pqc_mav_sim.ground_client import GroundClient
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES
from pqc_mav_sim.vehicle import Vehicle

tunnel = pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

CASES = [("sik", ":mavlink"), ("sik-raw", ""), ("sik-ecc", ":mavlink"), ("rfd900x", ":mavlink"), ("elrs", ":mavlink")]
LIGHT = "cs-mlkem512-aesgcm-mldsa44"


@pytest.fixture
def engines() -> Iterator[list[Any]]:
    """What is put into it is stopped at the end."""
    out: list[Any] = []
    yield out
    for engine in reversed(out):
        engine.stop()


def ends(
    engines: list[Any], folder: Path, ports: RadioPorts, baud: int, more: str, client: int, drone_baud: int = 0
) -> tuple[Any, Any]:
    """A gcs and a drone at such radios."""
    tunnel.init_keys(str(folder), ["uav1"], ["mldsa44", "mldsa65"])
    here = {"uav1": {"plain_peer": f"127.0.0.1:{client}", "radio": f"serial:{ports.ground}:{baud}{more}"}}
    gcs = tunnel.Engine(gcs_parameters(folder, ("uav1",), data_port=0, drone=here))
    gcs.start()
    engines.append(gcs)
    own = drone_parameters(folder, 46011, "uav1", suite=LIGHT)
    drone = tunnel.Engine(own | {"peer": f"serial:{ports.air[0]}:{drone_baud or baud}{more}"})
    drone.start()
    engines.append(drone)
    return gcs, drone


@pytest.mark.parametrize(("profile", "more"), CASES)
def test_commands_pass_while_telemetry_is_three_times_what_the_radio_carries(profile, more, tmp_path, engines):
    terms = RadioTerms(PROFILES[profile], loss=0.02)
    client = free_port()
    with RadioPorts(terms) as ports, GroundClient(f"127.0.0.1:{client}") as ground:
        gcs, drone = ends(engines, tmp_path, ports, terms.profile.baud, more, client)
        until(lambda: all(engine.status()[0]["state"] == "UP" for engine in (gcs, drone)), "both ends up")
        plain = resolve(f"127.0.0.1:{drone.ports()['plain']['uav1']}")
        vehicle = Vehicle(AutopilotConfig(rate_hz=226, profile="client"), any_port_towards(plain), plain)
        vehicle.start()
        try:
            assert ground.wait_for(lambda view: view.ready, DEADLINE_S)
            assert ground.arm(DEADLINE_S) == mavlink.MAV_RESULT_ACCEPTED
            assert gcs.stats()[0]["drop_auth_fail"] == 0
            radio = drone.stats()[0]["endpoints"][-1]
            assert radio["good"] and radio["tx_packets"] > 0 and radio["stuck"] == 0
            air = list(ports.summary()["radios"].values())
            overflowed = sum(each["overflowed"] for each in air)  # at first, until it said what it takes
            assert overflowed < 4_000, "the radio is given more than it takes"
            if terms.profile.aligns:
                assert all(each["statuses"] > 0 for each in air)
                assert "signal 140/138" in radio["state"]
        finally:
            vehicle.stop()


def test_a_port_of_the_radio_hears_nothing_in_the_clear(tmp_path, engines):
    """A third radio on the channel hears all, and finds no message of the vehicle."""
    client = free_port()
    with (
        RadioPorts(RadioTerms(PROFILES["sik-raw"], drones=2)) as ports,
        # Without O_NOCTTY it would become the terminal of who runs the tests, and its end theirs.
        os.fdopen(os.open(ports.air[1], os.O_RDONLY | os.O_NOCTTY), "rb", buffering=0) as spy,
    ):
        gcs, drone = ends(engines, tmp_path, ports, 57_600, "", client)
        until(lambda: all(engine.status()[0]["state"] == "UP" for engine in (gcs, drone)), "both ends up")
        out = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as autopilot:
            for _ in range(20):
                message = bytes(out.heartbeat_encode(2, 12, 0, 0, 4).pack(out))
                autopilot.sendto(message, ("127.0.0.1", drone.ports()["plain"]["uav1"]))
        until(lambda: gcs.stats()[0]["delivered_datagrams"] >= 10, "telemetry on the ground")
        heard = spy.read(65_536)
        assert len(heard) > 500
        assert message[10:19] not in heard


@pytest.mark.parametrize("profile", ["sik", "sik-raw"])
def test_a_wrong_baud_rate_is_told_on_the_ground(profile, tmp_path, engines):
    """The drone's side has another rate than its radio: noise comes down, no frame; put right, it connects."""
    with RadioPorts(RadioTerms(PROFILES[profile])) as ports:
        more = ":mavlink" if profile == "sik" else ""
        gcs, drone = ends(engines, tmp_path, ports, 57_600, more, free_port(), drone_baud=115_200)
        until(lambda: "bytes come, no frame of ours" in gcs.status()[0]["last_error"], "that no frame of ours comes")
        assert drone.status()[0]["state"] != "UP"
        drone.stop()
        right = drone_parameters(tmp_path, 46011, "uav1", suite=LIGHT)
        engines.append(tunnel.Engine(right | {"peer": f"serial:{ports.air[0]}:57600{more}"}))
        engines[-1].start()
        until(lambda: gcs.status()[0]["state"] == "UP", "the tunnel")
        assert gcs.status()[0]["last_error"] == ""

# SPDX-License-Identifier: Apache-2.0
"""Serial ports and several applications at the tunnel, with real MAVLink programs: pymavlink and MAVProxy."""

from __future__ import annotations

import random
import termios
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from client_sessions import mavproxy_param_session, mavsdk_session, missing
from pymavlink import mavutil
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters
from pqc_mav_sim.endpoint import resolve
from pqc_mav_sim.serial_cable import SerialCable

tunnel = pytest.importorskip("pqc_mav_tunnel", reason="the engine's Python module is not built")

HOST = "127.0.0.1"
BAUD = 921600
LIMIT_S = 20.0
GROUND, TOOL, SCRIPT = (255, 190), (250, 190), (240, 190)

type_of = mavlink.MAV_TYPE_QUADROTOR


@pytest.fixture(autouse=True)
def _mavlink_2(monkeypatch: pytest.MonkeyPatch) -> None:
    """An acknowledgement names whom it is for in MAVLink 2 alone."""
    monkeypatch.setenv("MAVLINK20", "1")
    monkeypatch.setattr(mavutil, "mavlink", mavutil.mavlink)  # put back at the end
    mavutil.set_dialect("ardupilotmega")


class Ends:
    """A drone's and a gcs' engine, up."""

    def __init__(self, keys: Path, drone: dict[str, Any], gcs: dict[str, Any]) -> None:
        tunnel.init_keys(str(keys), ["uav1"], ["mldsa65"])
        self.gcs = tunnel.Engine(gcs_parameters(keys, ("uav1",), data_port=0, drone={"uav1": gcs}))
        self.gcs.start()
        own = drone_parameters(keys, self.gcs.ports()["data"], "uav1")
        del own["plain_bind"]  # there may be another kind of endpoint
        self.drone = tunnel.Engine(own | drone)
        self.drone.start()
        until(lambda: self.drone.status()[0]["state"] == "UP", "the tunnel to come up")

    def stop(self) -> None:
        self.drone.stop()
        self.gcs.stop()


@pytest.fixture
def make_ends(tmp_path: Path) -> Iterator[Callable[..., Ends]]:
    made: list[Ends] = []

    def make(drone: dict[str, Any], gcs: dict[str, Any]) -> Ends:
        made.append(Ends(tmp_path / "keys", drone, gcs))
        return made[-1]

    yield make
    for ends in made:
        ends.stop()


def endpoints(engine: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = engine.stats()[0]["endpoints"]
    return found


def port_of(engine: Any, index: int) -> int:
    return int(endpoints(engine)[index]["name"].rpartition(":")[2])


class Autopilot:
    """A vehicle on a serial line: it sends heartbeats and acknowledges commands, by pymavlink's own serial code."""

    def __init__(self, path: str) -> None:
        self.link = mavutil.mavlink_connection(path, baud=BAUD, source_system=1, source_component=1)
        self.commands = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        next_at = 0.0
        while not self._ending.is_set():
            if time.monotonic() >= next_at:
                next_at = time.monotonic() + 0.05
                self.link.mav.heartbeat_send(type_of, mavlink.MAV_AUTOPILOT_PX4, 0, 0, 3)
            message = self.link.recv_match(type="COMMAND_LONG", blocking=True, timeout=0.02)
            if message is not None:
                self.commands += 1
                to = message.get_srcSystem(), message.get_srcComponent()
                self.link.mav.command_ack_send(message.command, 0, 0, self.commands, *to)

    def stop(self) -> None:
        self._ending.set()
        self._thread.join()
        self.link.close()


@pytest.fixture
def make_autopilot() -> Iterator[Callable[[str], Autopilot]]:
    made: list[Autopilot] = []

    def make(path: str) -> Autopilot:
        made.append(Autopilot(path))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def client(url: str, ids: tuple[int, int]) -> Any:
    return mavutil.mavlink_connection(url, source_system=ids[0], source_component=ids[1])


def heartbeat(link: Any) -> None:
    link.mav.heartbeat_send(mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 3)


def wait_heartbeat(link: Any) -> None:
    assert link.recv_match(type="HEARTBEAT", condition="HEARTBEAT.autopilot==12", blocking=True, timeout=LIMIT_S)


def command(link: Any) -> Any:
    """A command's acknowledgement; it is asked for again where the line lost it."""
    for attempt in range(20):
        link.mav.command_long_send(1, 1, mavlink.MAV_CMD_REQUEST_MESSAGE, attempt, 0, 0, 0, 0, 0, 0, 0)
        if acknowledged := link.recv_match(type="COMMAND_ACK", blocking=True, timeout=1):
            return acknowledged
    return None


@pytest.mark.parametrize("noise", [0.0, 0.002], ids=["clean", "noisy"])
def test_an_autopilot_on_a_serial_port(make_ends, make_autopilot, noise: float) -> None:
    chance = random.Random(3)

    def spoil(data: bytes) -> bytes:
        return bytes(byte ^ 0x20 if chance.random() < noise else byte for byte in data)

    with SerialCable(spoil if noise else None) as cable:
        ends = make_ends({"plain": f"serial:{cable.near}:{BAUD}"}, {"plain": f"udp-listen:{HOST}:0"})
        autopilot = make_autopilot(cable.far)
        ground = client(f"udpout:{HOST}:{port_of(ends.gcs, 0)}", GROUND)
        try:
            heartbeat(ground)
            wait_heartbeat(ground)
            for _ in range(10):
                acknowledged = command(ground)
                assert acknowledged and (acknowledged.target_system, acknowledged.target_component) == GROUND
            for _ in range(40):
                wait_heartbeat(ground)
            (port,) = endpoints(ends.drone)
            assert port["good"], port
            if noise:
                assert port["skipped_bytes"] > 0
                assert ground.mav.total_receive_errors <= 1, "what reaches the ground is whole"
            else:
                assert port["skipped_bytes"] == 0
                assert autopilot.commands == 10
                assert not ground.mav.total_receive_errors
        finally:
            autopilot.stop()
            ground.close()


def test_a_line_that_holds_up_its_sender_loses_nothing(make_ends) -> None:
    """What the other side of the line cannot take yet waits. The terminal stops as it does when CTS falls."""
    with SerialCable() as cable:
        ends = make_ends({"plain": f"serial:{cable.near}:{BAUD}:rtscts"}, {"plain_bind": f"{HOST}:0"})
        until(lambda: endpoints(ends.drone)[0]["good"], "the port to be open")
        assert termios.tcgetattr(cable.port)[2] & termios.CRTSCTS
        autopilot = mavutil.mavlink_connection(cable.far, baud=BAUD)
        ground = client(f"udpout:{HOST}:{ends.gcs.ports()['plain']['uav1']}", GROUND)
        try:
            termios.tcflow(cable.port, termios.TCOOFF)
            for number in range(200):
                ground.mav.command_long_send(1, 1, mavlink.MAV_CMD_REQUEST_MESSAGE, 0, number, 0, 0, 0, 0, 0, 0)
            until(lambda: ends.drone.stats()[0]["delivered"] == 200, "all to have come")
            assert autopilot.recv_match(blocking=True, timeout=0.3) is None
            termios.tcflow(cable.port, termios.TCOON)
            for number in range(200):
                heard = autopilot.recv_match(type="COMMAND_LONG", blocking=True, timeout=LIMIT_S)
                assert heard and heard.param1 == number
            assert endpoints(ends.drone)[0]["dropped"] == 0
        finally:
            autopilot.close()
            ground.close()


def test_three_applications_hear_all_and_each_its_own_answers(make_ends, make_autopilot) -> None:
    with SerialCable() as cable:
        ends = make_ends(
            {"plain": f"serial:{cable.near}:{BAUD}"},
            {"plain_endpoints": [f"udp-listen:{HOST}:0", f"tcp-listen:{HOST}:0"]},
        )
        autopilot = make_autopilot(cable.far)
        udp, tcp = port_of(ends.gcs, 0), port_of(ends.gcs, 1)
        links = [
            client(f"udpout:{HOST}:{udp}", GROUND),
            client(f"udpout:{HOST}:{udp}", TOOL),
            client(f"tcp:{HOST}:{tcp}", SCRIPT),
        ]
        try:
            for link in links:
                heartbeat(link)
            for link in links:
                wait_heartbeat(link)
            for link, ids in zip(links, (GROUND, TOOL, SCRIPT), strict=True):
                for _ in range(5):
                    acknowledged = command(link)
                    assert acknowledged and (acknowledged.target_system, acknowledged.target_component) == ids
            assert autopilot.commands == 15
            for link in links:
                while message := link.recv_match(blocking=False):
                    assert message.get_type() != "COMMAND_ACK", "somebody else's answer"
                    assert message.get_type() != "COMMAND_LONG", "a command that is the vehicle's"
        finally:
            autopilot.stop()
            for link in links:
                link.close()


@pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")
def test_mavproxy_on_a_serial_port_of_the_ground(make_vehicle, make_ends) -> None:
    with SerialCable() as cable:
        ends = make_ends({"plain_bind": f"{HOST}:0"}, {"plain": f"serial:{cable.near}:{BAUD}"})
        vehicle = make_vehicle(resolve(f"{HOST}:{ends.drone.ports()['plain']['uav1']}"))
        seen = mavproxy_param_session(f"{cable.far},{BAUD}")
        assert seen["count"] == len(vehicle.autopilot.params)
        assert not vehicle.snapshot()["frame_errors"]
        (port,) = endpoints(ends.gcs)
        assert port["dropped"] == port["skipped_bytes"] == 0


@pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")
@pytest.mark.skipif(missing("mavsdk") is not None, reason=missing("mavsdk") or "")
def test_mavsdk_flies_while_mavproxy_watches(make_vehicle, make_ends) -> None:
    """At one gcs' endpoints, at the same time: each gets its own answers, MAVSDK by UDP and MAVProxy by TCP."""
    ends = make_ends({"plain_bind": f"{HOST}:0"}, {"plain_endpoints": [f"udp-listen:{HOST}:0", f"tcp-listen:{HOST}:0"]})
    vehicle = make_vehicle(resolve(f"{HOST}:{ends.drone.ports()['plain']['uav1']}"))
    udp, tcp = port_of(ends.gcs, 0), port_of(ends.gcs, 1)
    with ThreadPoolExecutor() as both:
        flight = both.submit(mavsdk_session, f"udpout://{HOST}:{udp}")
        watched = both.submit(mavproxy_param_session, f"tcp:{HOST}:{tcp}")
        flown, params = flight.result(), watched.result()
    assert flown["landed"] and flown["altitude_m"] >= 0.8 * flown["float_param"]
    assert flown["param_count"] == params["count"] == len(vehicle.autopilot.params)
    snapshot = vehicle.snapshot()
    assert not snapshot["frame_errors"]
    assert all(source["lost"] == 0 for source in snapshot["uplink"].values())
    for endpoint in endpoints(ends.gcs):
        assert endpoint["opened"] >= 1 and endpoint["dropped"] == endpoint["refused"] == 0, endpoint

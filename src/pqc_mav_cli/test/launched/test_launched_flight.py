# SPDX-License-Identifier: Apache-2.0
"""A whole flight whose MAVLink goes through mavros and the tunnel: all of it arrives, and sensing sees every phase."""

from __future__ import annotations

import json
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed")

from launching import PROXIES, launched
from pqc_mav_interfaces.msg import BatteryHealth, VehicleState
from pqc_mav_interfaces.srv import Rekey
from rclpy.qos import qos_profile_sensor_data
from test_mavros_ends import SYSTEM, environment
from test_up import Ends

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import Running, on_request, until
from pqc_mav_common.testing_onlooker import Onlooker

__all__ = ["environment"]
OTHER = "cs-mlkem768-chacha20poly1305-mldsa65"
COMMAND_ACK = 77
HOST, FLIGHT_S, LATE_S = "127.0.0.1", 180.0, 20.0
PHASES = {getattr(VehicleState, name): name for name in ("DISARMED", "TAKEOFF", "CRUISE", "HOVER", "LANDING")}


def message_id(frame: bytes) -> int:
    """Of a MAVLink 2 frame."""
    return int.from_bytes(frame[7:10], "little")


def frames(datagram: bytes) -> Iterator[bytes]:
    """The MAVLink 2 frames of the vehicle in a datagram, but for its answers to the drone's own mavros.

    mavros passes what is addressed on to the side alone where the addressee is.
    """
    while len(datagram) >= 12 and datagram[0] == 0xFD:
        size = 12 + datagram[1] + (13 if datagram[2] & 1 else 0)
        frame, datagram = datagram[:size], datagram[size:]
        payload = frame[10 : 10 + frame[1]]
        private = message_id(frame) == COMMAND_ACK and payload[8:9] == bytes([SYSTEM])
        if (frame[5], frame[6]) == (SYSTEM, 1) and not private:
            yield frame


class Counted:
    """A relay in front of mavros and a listener on the ground; both keep the vehicle's frames."""

    def __init__(self, fcu: int, ground: int) -> None:
        self.up: list[bytes] = []  # as the vehicle sent them
        self.down: list[bytes] = []  # as they arrived at the ground
        self._fcu = HOST, fcu
        self._air, self._vehicle, self._ground = (self._socket(port) for port in (0, 0, ground))
        self.port: int = self._vehicle.getsockname()[1]
        self._from: Any = None
        for work in (self._out, self._back, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def by_type(self) -> tuple[Counter[int], Counter[int]]:
        """How many of each message id were sent, and have arrived."""
        return tuple(Counter(map(message_id, side)) for side in (self.up, self.down))

    @staticmethod
    def _socket(port: int) -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        made.bind((HOST, port))
        return made

    def _out(self) -> None:
        while True:
            datagram, self._from = self._vehicle.recvfrom(65535)
            self.up += frames(datagram)
            self._air.sendto(datagram, self._fcu)

    def _back(self) -> None:
        while True:
            datagram = self._air.recv(65535)
            if self._from is not None:
                self._vehicle.sendto(datagram, self._from)

    def _listen(self) -> None:
        while True:
            self.down += frames(self._ground.recv(65535))


@on_request("flies for a minute each")
@pytest.mark.parametrize("composed", ["false", "true"])
def test_every_frame_of_a_flight_arrives_and_sensing_sees_its_phases(
    composed: str, tmp_path: Path, keys: Path, environment: dict[str, str]
) -> None:
    if composed == "true" and (environment or "cpp" not in PROXIES):
        pytest.skip("mavros in a container needs mavros itself, and the proxy in C++")
    ends = Ends(tmp_path, keys)
    fcu, own = free_ports(2)
    air = {"fcu_url": f"udp://{HOST}:{fcu}@", "gcs_url": f"udp://{HOST}:{own}@{HOST}:{ends.plain}"}
    drone = {"config": ends.write("drone"), "policy": "false", "mavlink": "mavros", "tgt_system": SYSTEM, **air}
    counted = Counted(fcu, ends.ground)
    sim = "from pqc_mav_sim.vehicle_cli import main; raise SystemExit(main())"
    rate = "100" if environment else "320"  # the double is slow
    profile = ("--profile", "auto", "--altitude", "12", "--cruise-seconds", "20", "--rate", rate, "--json")
    with (
        launched("gcs", "pqc_mav_bringup", environment, config=ends.write("gcs"), detect="false"),
        launched("drone", "pqc_mav_bringup", environment, **drone, composed=composed, detect="false") as started,
        Onlooker() as graph,
    ):
        vehicles = graph.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
        batteries = graph.collect(BatteryHealth, "/drone/battery", qos_profile_sensor_data)
        started.wait_for("-> UP")
        until(lambda: graph.sees("/mavros/mavros_router"), "mavros")
        flying = Running(
            [sys.executable, "-c", sim, "--connect", f"{HOST}:{counted.port}", "--sysid", str(SYSTEM), *profile],
            environment,
        )
        try:
            until(lambda: any(state.phase == VehicleState.CRUISE for state in vehicles), "cruise", FLIGHT_S)
            answer = graph.call(Rekey, "/drone/pqc_proxy/rekey", Rekey.Request(suite=OTHER))
            assert answer.ok, answer.message
            until(lambda: any(state.phase == VehicleState.LANDING for state in vehicles), "landing", FLIGHT_S)
            until(lambda: vehicles[-1].phase == VehicleState.DISARMED, "on the ground again", FLIGHT_S)
            assert flying.end(signal.SIGINT) == 0
        finally:
            flying.kill()
        with suppress(AssertionError):
            until(lambda: len(counted.down) >= len(counted.up), "the last frames", LATE_S)
        sent, arrived = counted.by_type()
        print(f"composed={composed}: {sum(sent.values())} frames of {len(sent)} types: {dict(sorted(sent.items()))}")
        assert arrived == sent
        assert counted.down == counted.up, "byte by byte, in order"
        assert {state.source for state in vehicles if state.valid} == {"mavros"}
        seen = [phase for phase, _ in groupby(state.phase for state in vehicles if state.valid)]
        print("phases:", *(PHASES[phase] for phase in seen))
        assert seen[-1] == VehicleState.DISARMED and VehicleState.UNKNOWN not in seen
        firsts = list(dict.fromkeys(phase for phase in seen if phase != VehicleState.HOVER))
        assert [PHASES[phase] for phase in firsts] in (
            ["DISARMED", "TAKEOFF", "CRUISE", "LANDING"],
            ["TAKEOFF", "CRUISE", "LANDING", "DISARMED"],
        )
        summary = json.loads(next(line for line in reversed(flying.lines) if line.startswith("{")))
        known = [battery for battery in batteries if battery.valid]
        volts = f"{known[0].voltage_v:.2f} V to {known[-1].voltage_v:.2f} V"
        left = f"{known[-1].reported_remaining:.2f} reported, {summary['battery_percent']} % by the vehicle"
        print(f"battery: {volts}, {known[-1].cells} cells, {left}")
        assert {battery.source for battery in known} == {"mavros"}
        assert known[-1].reported_remaining == pytest.approx(summary["battery_percent"] / 100, abs=0.02)
        assert known[-1].current_a < max(battery.current_a for battery in known), "it flew in between"

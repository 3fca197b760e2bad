# SPDX-License-Identifier: Apache-2.0
"""The battery node over UDP and over mavros' topics."""

import math
import socket
import sys
import types

import pytest
from nodes import Bench, bench
from pqc_mav_interfaces.msg import BatteryHealth, VehicleState
from rclpy.qos import QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Bool, Float32
from test_mavlink_reader import UNKNOWN_MV, battery, heartbeat, packed

from pqc_mav_common.errors import ProcessError
from pqc_mav_sensing.battery_node import BatteryNode
from pqc_mav_sensing.conversions import raw_battery
from pqc_mav_sensing.errors import SensingError


class Autopilot:
    """Sends what a vehicle would, at 20 Hz of the test's own turns."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._target = ("127.0.0.1", port)
        self.armed = True
        self.volts = [3900] * 4

    def speak(self) -> bool:
        for message in (heartbeat(armed=self.armed), battery(self.volts)):
            self._socket.sendto(packed(message), self._target)
        return False

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def autopilot(nodes_bench: Bench) -> Autopilot:
    node = nodes_bench.start(BatteryNode, tap="127.0.0.1:0")
    nodes_bench.until(lambda: node._source.port)
    made = Autopilot(node._source.port)
    yield made
    made.close()


@pytest.fixture
def nodes_bench():
    with bench() as made:
        yield made


def test_battery_and_vehicle_out_of_mavlink(nodes_bench: Bench, autopilot: Autopilot) -> None:
    health = nodes_bench.listen(BatteryHealth, "/drone/battery")
    vehicle = nodes_bench.listen(VehicleState, "/drone/vehicle")
    passed_on = nodes_bench.listen(BatteryState, "/drone/battery_state", qos_profile_sensor_data)
    nodes_bench.until(lambda: health, "an invalid battery is published too")
    nodes_bench.until(
        lambda: autopilot.speak() or (health[-1].valid and vehicle and vehicle[-1].valid and passed_on), "nothing valid"
    )
    newest = health[-1]
    assert (newest.source, newest.chemistry, newest.cells) == ("mavlink", "lipo", 4)
    assert newest.voltage_v == pytest.approx(15.6) and 0.0 < newest.reported_remaining < 1.0
    assert newest.state_of_charge == newest.reported_remaining, "no capacity was given: the autopilot's own counts"
    assert vehicle[-1].armed and vehicle[-1].mode == "MISSION" and vehicle[-1].source == "mavlink"
    assert passed_on[-1].voltage == pytest.approx(15.6) and passed_on[-1].current < 0, "negative while discharging"
    autopilot.armed = False
    nodes_bench.until(lambda: autopilot.speak() or not vehicle[-1].armed)
    assert vehicle[-1].phase == VehicleState.DISARMED
    nodes_bench.until(lambda: not health[-1].valid and not vehicle[-1].valid, "silence is not noticed")
    assert "old" in health[-1].reason and math.isnan(health[-1].voltage_v)
    nodes_bench.until(lambda: autopilot.speak() or health[-1].valid, "it does not come back")


def test_a_battery_without_a_voltage_is_said_to_have_none(nodes_bench: Bench, autopilot: Autopilot) -> None:
    health = nodes_bench.listen(BatteryHealth, "/drone/battery")
    passed_on = nodes_bench.listen(BatteryState, "/drone/battery_state", qos_profile_sensor_data)
    autopilot.volts = [UNKNOWN_MV]
    said = "what arrived last has no voltage"
    nodes_bench.until(lambda: autopilot.speak() or (health and health[-1].reason == said), "the reason")
    assert passed_on == []


def test_diagnostics_say_what_is_wrong(nodes_bench: Bench) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", 0))
        node = nodes_bench.start(BatteryNode, tap=f"127.0.0.1:{holder.getsockname()[1]}")
        nodes_bench.until(lambda: node._source.problem)
        assert [each.subcomponent for each in node.diagnose()] == ["battery", "vehicle"]
        assert all(each.level == 2 and "in use" in each.message for each in node.diagnose())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"chemistry": "lead"}, "no chemistry 'lead'"),
        ({"tap": "nowhere"}, "not an address"),
        ({"cells": 30}, "between 0 and 24"),
        ({"chemisty": "lipo"}, "Did you mean 'chemistry'"),
    ],
)
def test_bad_parameters_are_refused(nodes_bench: Bench, values: dict[str, object], said: str) -> None:
    with pytest.raises(ProcessError, match=said):
        nodes_bench.start(BatteryNode, **values)


def test_mavros_that_is_not_there_is_one_line(nodes_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mavros_msgs", None)
    with pytest.raises(SensingError, match=r"needs the ROS 2 package mavros_msgs.*udp works without it"):
        nodes_bench.start(BatteryNode, mavlink="mavros")


def test_battery_out_of_mavros_topics(nodes_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """With mavros' own QoS: best effort for the battery. Its message types are stood in for by standard ones."""
    stand_in = types.ModuleType("mavros_msgs.msg")
    stand_in.State, stand_in.ExtendedState, stand_in.VfrHud, stand_in.Altitude = Bool, Bool, Float32, Float32
    stand_in.HomePosition = Float32
    package = types.ModuleType("mavros_msgs")
    package.msg = stand_in
    monkeypatch.setitem(sys.modules, "mavros_msgs", package)
    monkeypatch.setitem(sys.modules, "mavros_msgs.msg", stand_in)
    nodes_bench.start(BatteryNode, mavlink="mavros", cells=4)
    best_effort = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = nodes_bench.listener.create_publisher(BatteryState, "/mavros/battery", best_effort)
    health = nodes_bench.listen(BatteryHealth, "/drone/battery")

    def speak(volts: float) -> bool:
        publisher.publish(
            BatteryState(voltage=volts, current=-12.0, percentage=-0.01, temperature=0.0, cell_voltage=[volts / 4] * 4)
        )
        return False

    nodes_bench.until(lambda: speak(15.6) or (health and health[-1].valid))
    newest = health[-1]
    assert newest.source == "mavros" and newest.current_a == pytest.approx(12.0)
    assert math.isnan(newest.reported_remaining) and math.isnan(newest.temperature_c)
    nodes_bench.until(lambda: speak(0.0) or not health[-1].valid)
    assert "0 V is impossible" in health[-1].reason


def test_mavros_has_no_word_for_a_current_that_is_not_measured() -> None:
    """It takes MAVLink's -1 for one of 10 mA into the pack (`SYS_STATUS.current_battery`, common.xml)."""
    unknown = BatteryState(voltage=16.0, current=-(-1 / 100.0))
    assert math.isnan(raw_battery(unknown, 0.0).current_a)
    assert raw_battery(BatteryState(voltage=16.0, current=-0.01), 0.0).current_a == pytest.approx(0.01)
    assert raw_battery(BatteryState(voltage=16.0, current=0.02), 0.0).current_a == pytest.approx(-0.02)

# SPDX-License-Identifier: Apache-2.0
"""What the source makes of mavros' messages, without ROS between the two: time and topics are the test's."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock
from types import SimpleNamespace as Message
from typing import Any

import pytest
from sensor_msgs.msg import BatteryState, NavSatFix

from pqc_mav_sensing import mavros_source
from pqc_mav_sensing.battery_estimator import RawBattery
from pqc_mav_sensing.detailed import LEAST_S
from pqc_mav_sensing.mavros_source import MavrosSource
from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.vehicle_tracker import MOTION_LIMIT_S, VehicleTracker, VehicleView

KINDS = Message(State=object, HomePosition=object, ExtendedState=object, VfrHud=object, Altitude=object)
VELOCITY, GPS = "local_position/velocity_local", "global_position/raw/gps_vel"
HEIGHT = "global_position/rel_alt"


class Mavros:
    """A mavros that says what the test wants, and what becomes of it."""

    def __init__(self, battery_id: int = 0) -> None:
        self.now_s = 100.0
        self.vehicle = VehicleTracker()
        self.readings: list[RawBattery] = []
        self._callbacks: dict[str, Callable[[Any], None]] = {}
        MavrosSource(self, "/d7/mavros/", battery_id, self.vehicle, self.readings.append, Lock(), KINDS)

    def create_subscription(self, _kind: object, topic: str, callback: Callable[[Any], None], _qos: object) -> None:
        self._callbacks[topic] = callback

    def say(self, topic: str, message: Any) -> None:
        self._callbacks[f"/d7/mavros/{topic}"](message)

    def state(self, *, connected: bool = True, mode: str = "GUIDED") -> None:
        self.say("state", Message(connected=connected, armed=True, mode=mode))

    def velocity(self, topic: str, east: float, north: float, up: float = 0.0) -> None:
        self.say(topic, Message(twist=Message(linear=Message(x=east, y=north, z=up))))

    def fly(self, seconds: float, *says: Callable[[], None]) -> VehicleView:
        """Four times a second the state and what else is said; the view at the end."""
        for _ in range(int(seconds * 4)):
            self.now_s += 0.25
            self.state()
            for say in says:
                say()
            self.vehicle.view(self.now_s)
        return self.vehicle.view(self.now_s)


@pytest.fixture
def mavros(monkeypatch: pytest.MonkeyPatch) -> Mavros:
    made = Mavros()
    monkeypatch.setattr(mavros_source.time, "monotonic", lambda: made.now_s)
    return made


@pytest.mark.parametrize(
    ("battery_id", "said", "taken"),
    [
        # mavros names the battery of BATTERY_STATUS, and none for SYS_STATUS.
        (0, [("id0", 15.0), ("id1", 11.0)], [15.0]),
        (1, [("id0", 15.0), ("id1", 11.0)], [11.0]),
        (1, [("id1", 11.0), ("", 15.0)], [11.0]),
        (0, [("", 15.0), ("id1", 11.0), ("", 15.1)], [15.0, 15.1]),
        (0, [("id0", 0.0), ("", 15.0)], [math.nan, 15.0]),
    ],
)
def test_the_battery_of_ones_choice(battery_id: int, said: list[tuple[str, float]], taken: list[float]) -> None:
    mavros = Mavros(battery_id)
    for location, volts in said:
        mavros.say("battery", BatteryState(voltage=volts, location=location))
    assert [raw.voltage_v for raw in mavros.readings] == pytest.approx(taken, nan_ok=True)


def test_sys_status_stands_in_once_the_battery_is_silent(mavros: Mavros) -> None:
    for at_s, location in ((0.0, "id0"), (LEAST_S, ""), (LEAST_S + 0.1, "")):
        mavros.now_s = 100.0 + at_s
        mavros.say("battery", BatteryState(voltage=15.0, location=location))
    assert len(mavros.readings) == 2


def test_a_state_is_an_autopilots_only_when_connected(mavros: Mavros) -> None:
    mavros.state(connected=False)
    assert not mavros.vehicle.view(mavros.now_s).valid
    mavros.state(mode="AUTO.MISSION")
    mavros.say("vfr_hud", Message(groundspeed=5.0, climb=0.0))
    mavros.say("extended_state", Message(landed_state=2))
    mavros.say(HEIGHT, Message(data=20.0))
    view = mavros.vehicle.view(mavros.now_s)
    assert view.armed and view.mode == "AUTO.MISSION" and view.phase is Phase.CRUISE
    assert view.relative_altitude_m == 20.0


def test_the_place_is_told_from_home(mavros: Mavros) -> None:
    mavros.state()
    for status, latitude in ((-1, 10.0), (0, 47.0), (0, 47.001)):
        fix = NavSatFix(latitude=latitude, longitude=8.0)
        fix.status.status = status
        mavros.say("global_position/global", fix)
    assert mavros.vehicle.view(mavros.now_s).north_m == pytest.approx(111.2, abs=0.3), "home is where it was first seen"
    mavros.say("home_position/home", Message(geo=Message(latitude=46.999, longitude=8.0)))
    assert mavros.vehicle.view(mavros.now_s).north_m == pytest.approx(222.3, abs=0.5)


def test_a_flight_without_extras_and_without_a_landed_state(mavros: Mavros) -> None:
    """velocity_local and rel_alt are of mavros itself; ArduPilot sends no EXTENDED_SYS_STATE unless asked."""
    height_m = [0.0]

    def leg(seconds: float, east: float, up: float) -> Phase:
        def move() -> None:
            height_m[0] += up * 0.25
            mavros.say(HEIGHT, Message(data=height_m[0]))
            mavros.velocity(VELOCITY, east, 0.1, up)

        return mavros.fly(seconds, move).phase

    assert leg(3.0, 0.0, 0.0) is Phase.TAKEOFF
    assert leg(8.0, 0.0, 1.5) is Phase.TAKEOFF
    assert leg(4.0, 0.1, 0.0) is Phase.HOVER
    assert leg(4.0, 3.0, 0.0) is Phase.CRUISE
    assert leg(4.0, 0.1, 0.0) is Phase.HOVER
    assert leg(12.0, 0.1, -0.9) is Phase.LANDING
    assert leg(3.0, 0.0, 0.0) is Phase.LANDING, "on the ground, and still armed"


def test_never_a_hover_at_3_m_s(mavros: Mavros) -> None:
    def gps() -> None:
        mavros.velocity(GPS, 0.0, 3.0)

    def height() -> None:
        mavros.say(HEIGHT, Message(data=20.0))

    assert mavros.fly(5.0, gps, height).phase is Phase.CRUISE
    assert mavros.fly(MOTION_LIMIT_S + 2.0, height).phase is Phase.UNKNOWN, "how fast is no longer known"
    assert mavros.fly(3.0).phase is Phase.UNKNOWN


def test_the_better_topic_counts_while_it_comes(mavros: Mavros) -> None:
    """Two sources that differ a little, turn by turn, would look like motion."""

    def both() -> None:
        mavros.velocity(VELOCITY, 0.2, 0.0, 0.1)
        mavros.velocity(GPS, 4.0, 0.0)
        mavros.say(HEIGHT, Message(data=20.0))
        mavros.say("altitude", Message(relative=33.0))

    view = mavros.fly(3.0, both)
    assert (view.ground_speed_m_s, view.relative_altitude_m, view.phase) == (0.2, 20.0, Phase.HOVER)

    def worse() -> None:
        mavros.velocity(GPS, 4.0, 0.0)
        mavros.say("altitude", Message(relative=33.0))

    view = mavros.fly(MOTION_LIMIT_S + 2.0, worse)
    assert (view.ground_speed_m_s, view.relative_altitude_m, view.phase) == (4.0, 33.0, Phase.CRUISE)


def test_what_mavros_does_not_know_replaces_nothing(mavros: Mavros) -> None:
    mavros.state()
    mavros.say("altitude", Message(relative=12.0))
    mavros.say(HEIGHT, Message(data=float("nan")))
    mavros.say("altitude", Message(relative=13.0))
    assert mavros.vehicle.view(mavros.now_s).relative_altitude_m == 13.0

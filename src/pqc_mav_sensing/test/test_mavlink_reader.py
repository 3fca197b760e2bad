# SPDX-License-Identifier: Apache-2.0
"""Datagrams as autopilots send them, and as nobody should."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymavlink.dialects.v10 import common as mavlink1
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sensing.mavlink_messages import frames
from pqc_mav_sensing.mavlink_reader import MavlinkReader
from pqc_mav_sensing.phase import Phase
from pqc_mav_sensing.stream_requests import StreamRequests
from pqc_mav_sensing.vehicle_tracker import VehicleTracker

UNKNOWN_MV = 65535


def sender(system: int = 1, component: int = 1) -> mavlink.MAVLink:
    return mavlink.MAVLink(None, srcSystem=system, srcComponent=component)


def packed(message: mavlink.MAVLink_message, system: int = 1, component: int = 1) -> bytes:
    return bytes(message.pack(sender(system, component)))


def heartbeat(*, armed: bool = True, kind: int = mavlink.MAV_TYPE_QUADROTOR) -> mavlink.MAVLink_message:
    base = mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | (mavlink.MAV_MODE_FLAG_SAFETY_ARMED if armed else 0)
    pilot = mavlink.MAV_AUTOPILOT_INVALID if kind == mavlink.MAV_TYPE_GCS else mavlink.MAV_AUTOPILOT_PX4
    return mavlink.MAVLink_heartbeat_message(kind, pilot, base, 4 << 24 | 4 << 16, mavlink.MAV_STATE_ACTIVE, 3)


def battery(
    volts: list[int], *, current: int = 1234, remaining: int = 70, temperature: int = 3150, number: int = 0
) -> mavlink.MAVLink_message:
    cells = volts + [UNKNOWN_MV] * (10 - len(volts))
    return mavlink.MAVLink_battery_status_message(number, 0, 1, temperature, cells, current, 100, 100, remaining)


def sys_status(volts: int = 16_000, current: int = 1200, remaining: int = 66) -> mavlink.MAVLink_message:
    return mavlink.MAVLink_sys_status_message(0, 0, 0, 100, volts, current, remaining, 0, 0, 0, 0, 0, 0)


def begun(system: int = 0) -> tuple[MavlinkReader, VehicleTracker]:
    tracker = VehicleTracker()
    reader = MavlinkReader(tracker, system=system)
    reader.read(packed(heartbeat()), 0.0)
    return reader, tracker


def test_battery_status_by_cells() -> None:
    reader, _ = begun()
    (raw,) = reader.read(packed(battery([3900, 3910, 3890, 3900])), 1.0)
    assert raw.voltage_v == pytest.approx(15.6) and raw.cells == 4 and raw.at_s == 1.0
    assert raw.current_a == pytest.approx(12.34) and raw.remaining == pytest.approx(0.7)
    assert raw.temperature_c == pytest.approx(31.5)


@pytest.mark.parametrize(("volts", "total"), [([15_600], 15.6), ([65_534, 1_066], 66.6)])
def test_battery_status_as_a_whole(volts: list[int], total: float) -> None:
    reader, _ = begun()
    (raw,) = reader.read(packed(battery(volts)), 1.0)
    assert raw.voltage_v == pytest.approx(total) and raw.cells == 0


def test_unknown_markers_are_unknown() -> None:
    reader, _ = begun()
    (raw,) = reader.read(packed(battery([15_600], current=-1, remaining=-1, temperature=32767)), 1.0)
    assert math.isnan(raw.current_a) and math.isnan(raw.remaining) and math.isnan(raw.temperature_c)
    (raw,) = reader.read(packed(sys_status(UNKNOWN_MV, -1, -1)), 9.0)
    assert math.isnan(raw.voltage_v) and math.isnan(raw.current_a) and math.isnan(raw.remaining)


def test_sys_status_counts_where_battery_status_does_not_come() -> None:
    reader, _ = begun()
    (raw,) = reader.read(packed(battery([UNKNOWN_MV])), 0.5)
    assert math.isnan(raw.voltage_v) and raw.remaining == pytest.approx(0.7)
    (raw,) = reader.read(packed(sys_status()), 1.0)
    assert raw.voltage_v == 16.0
    reader.read(packed(battery([3900] * 4)), 1.1)
    assert reader.read(packed(sys_status()), 2.0) == []
    assert len(reader.read(packed(sys_status()), 4.0)) == 1


def test_other_batteries_systems_and_components_are_left_alone() -> None:
    reader, tracker = begun()
    assert reader.read(packed(battery([3900] * 4, number=1)), 1.0) == []
    assert reader.read(packed(battery([3900] * 4), system=2), 1.0) == []
    assert reader.read(packed(battery([3900] * 4), component=154), 1.0) == []
    reader.read(packed(heartbeat(armed=False), component=154), 1.0)
    assert tracker.view(1.0).armed


def test_ground_stations_are_no_autopilots() -> None:
    tracker = VehicleTracker()
    reader = MavlinkReader(tracker)
    reader.read(packed(heartbeat(kind=mavlink.MAV_TYPE_GCS), system=255), 0.0)
    assert not tracker.view(0.1).valid
    assert reader.read(packed(battery([3900] * 4)), 0.2) == [], "whose battery that is, is not settled"
    reader.read(packed(heartbeat(), system=7), 0.3)
    assert len(reader.read(packed(battery([3900] * 4), system=7), 0.4)) == 1


@pytest.mark.parametrize(
    ("given", "at_s", "known"), [(0, 31.0, 7), (0, 30.0, 1), (1, 999.0, 1)], ids=["after a while", "too early", "given"]
)
def test_an_autopilot_may_come_back_with_another_id(given: int, at_s: float, known: int) -> None:
    reader, tracker = begun(given)
    assert reader.read(packed(battery([3900] * 4), system=7), at_s) == [], "whose battery that is, is not settled"
    reader.read(packed(heartbeat(armed=False), system=7), at_s)
    assert len(reader.read(packed(battery([3900] * 4), system=7), at_s)) == (known == 7)
    assert reader.system == known and tracker.view(at_s).valid is (known == 7)


def test_the_vehicle_is_followed() -> None:
    reader, tracker = begun()
    position = mavlink.MAVLink_global_position_int_message(0, 0, 0, 0, 20_000, 0, 0, 0, 0)
    hud = mavlink.MAVLink_vfr_hud_message(5.0, 5.0, 0, 50, 20.0, 0.1)
    state = mavlink.MAVLink_extended_sys_state_message(0, mavlink.MAV_LANDED_STATE_IN_AIR)
    reader.read(b"".join(packed(each) for each in (position, hud, state)), 0.5)
    view = tracker.view(0.6)
    assert view.phase is Phase.CRUISE and view.mode == "MISSION" and view.relative_altitude_m == 20.0


def test_the_place_is_told_from_home() -> None:
    reader, tracker = begun()

    def at(north_e7: int, east_e7: int) -> bytes:
        return packed(mavlink.MAVLink_global_position_int_message(0, north_e7, east_e7, 0, 0, 0, 0, 0, 0))

    reader.read(at(0, 0), 0.1)
    assert math.isnan(tracker.view(0.2).north_m), "without a fix"
    reader.read(at(474000000, 85000000), 0.3)
    assert (tracker.view(0.3).north_m, tracker.view(0.3).east_m) == (0.0, 0.0), "home is where it was first seen"
    home = mavlink.MAVLink_home_position_message(474000000, 84990000, 0, 0, 0, 0, [1, 0, 0, 0], 0, 0, 0)
    reader.read(packed(home), 0.4)
    reader.read(at(474010000, 85000000), 0.5)
    view = tracker.view(0.5)
    assert view.north_m == pytest.approx(111.2, abs=0.2) and view.east_m == pytest.approx(75.5, abs=0.2)


def test_motion_is_read_as_often_as_it_is_looked_at() -> None:
    reader, tracker = begun()

    def at(height_m: int) -> bytes:
        return packed(mavlink.MAVLink_global_position_int_message(0, 0, 0, 0, height_m * 1000, 0, 0, 0, 0))

    seen = []
    for at_s, height_m in ((0.50, 1), (0.55, 2), (0.61, 3), (0.65, 4), (0.72, 5), (0.1, 6)):
        reader.read(at(height_m), at_s)
        seen.append(tracker.view(0.72).relative_altitude_m)
    assert seen == [1, 1, 3, 3, 5, 6], "a clock that went back does not stop it"


def test_version_1_frames() -> None:
    reader, _ = begun()
    old = mavlink1.MAVLink(None, srcSystem=1, srcComponent=1)
    message = mavlink1.MAVLink_sys_status_message(0, 0, 0, 100, 16_000, 1200, 66, 0, 0, 0, 0, 0, 0)
    (raw,) = reader.read(bytes(message.pack(old)), 5.0)
    assert raw.voltage_v == 16.0


def test_garbage_between_frames_is_skipped() -> None:
    good = packed(battery([3900] * 4))
    assert [each[3] for each in frames(b"\x00\xfd\x01" + good + b"\xfe\xff" + good)][-1] == good
    reader, _ = begun()
    assert len(reader.read(b"\x01\x02\xfd" + good, 1.0)) == 1


def test_a_wrong_checksum_is_counted_and_not_believed() -> None:
    reader, _ = begun()
    frame = bytearray(packed(battery([3900] * 4)))
    frame[15] ^= 0x10
    assert reader.read(bytes(frame), 1.0) == [] and reader.broken == 1


@given(st.binary(max_size=400))
def test_anything_may_arrive(datagram: bytes) -> None:
    reader, _ = begun()
    for raw in reader.read(datagram, 1.0):
        assert raw.at_s == 1.0


def test_ten_thousand_damaged_datagrams_give_no_wrong_reading() -> None:
    rng = random.Random(5)
    reader, _ = begun()
    good = packed(battery([3900] * 4)) + packed(sys_status()) + packed(heartbeat())
    for index in range(10_000):
        datagram = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            datagram[rng.randrange(len(datagram))] = rng.randrange(256)
        for raw in reader.read(bytes(datagram[: rng.randint(0, len(datagram))]), float(index)):
            assert raw.voltage_v == pytest.approx(15.6) or raw.voltage_v == pytest.approx(16.0)


@pytest.mark.parametrize(
    ("command", "to", "counts"),
    [
        (511, (1, 191), True),
        (511, (0, 0), True),
        (511, (1, 190), False),
        (511, (255, 190), False),
        (400, (1, 191), False),
    ],
)
def test_answers_to_own_requests_are_told_from_others(command: int, to: tuple[int, int], counts: bool) -> None:
    requests = StreamRequests()
    reader = MavlinkReader(VehicleTracker(), requests=requests)
    assert reader.system == 0
    for second in range(11):
        reader.read(packed(heartbeat()), float(second))
        reader.read(packed(heartbeat(), system=9), float(second))  # another vehicle
    assert reader.system == 1
    assert requests.due(10.0) == (147, 500_000)
    reader.read(packed(mavlink.MAVLink_command_ack_message(command, 0, 0, 0, *to)), 10.1)
    assert ("BATTERY_STATUS accepted" in requests.said) is counts
    reader.read(packed(battery([3900] * 4)), 11.0)
    assert requests.due(12.0) == (33, 250_000)

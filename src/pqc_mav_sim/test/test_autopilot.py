# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink
from sim_support import GCS_COMPONENT, GCS_SYSTEM, Bench

from pqc_mav_sim.autopilot import OUTBOX_LIMIT, AutopilotConfig
from pqc_mav_sim.frames import parse_datagram
from pqc_mav_sim.modes import FlightMode

GCS_HEARTBEAT = mavlink.MAVLink_heartbeat_message(mavlink.MAV_TYPE_GCS, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, 4, 3)


def types(messages):
    return [m.get_type() for m in messages]


def test_ping_is_answered_to_its_sender_and_answers_are_not_answered(bench):
    (answer,) = bench.send(mavlink.MAVLink_ping_message(123456789, 7, 0, 0))
    assert (answer.time_usec, answer.seq) == (123456789, 7)
    assert (answer.target_system, answer.target_component) == (GCS_SYSTEM, GCS_COMPONENT)
    assert bench.send(mavlink.MAVLink_ping_message(1, 8, 1, 1)) == []


def test_timesync(bench):
    (answer,) = bench.send(mavlink.MAVLink_timesync_message(0, 987654321))
    assert answer.ts1 == 987654321
    assert answer.tc1 == int(bench.t * 1e9)
    assert bench.send(mavlink.MAVLink_timesync_message(5, 6)) == []


def test_uplink_latency_is_measured_with_a_shared_clock_only():
    shared, apart = Bench(shared_clock=True), Bench()
    for bench in (shared, apart):
        bench.send(mavlink.MAVLink_ping_message(int(bench.t * 1e6) - 1500, 1, 0, 0))
    assert shared.pilot.uplink_latency.percentile(50) == pytest.approx(1500, rel=0.02)
    assert apart.pilot.uplink_latency.count == 0


def test_messages_for_others_are_ignored(bench):
    for system, component in ((2, 1), (1, 100)):
        assert bench.send(mavlink.MAVLink_param_request_list_message(system, component)) == []
        assert bench.send(mavlink.MAVLink_command_long_message(system, component, 400, 0, *([0.0] * 7))) == []
    assert bench.pilot.ignored["NOT_FOR_ME"] == 4
    # zero addresses everybody
    assert types(bench.send(mavlink.MAVLink_command_long_message(0, 0, 400, 0, *([0.0] * 7)))) == ["COMMAND_ACK"]


def test_unused_messages_are_counted(bench):
    bench.send(mavlink.MAVLink_request_data_stream_message(1, 1, 0, 4, 1))
    assert bench.pilot.received["REQUEST_DATA_STREAM"] == bench.pilot.ignored["REQUEST_DATA_STREAM"] == 1


def test_ground_station_is_watched(bench):
    bench.run(1.0)
    assert bench.pilot.gcs.status(bench.t, 10.0) == "none"
    bench.run(30.0)
    assert not bench.pilot.plant.link_lost  # never there, so not lost
    for _ in range(3):
        bench.send(GCS_HEARTBEAT)
        bench.run(1.0)
    assert bench.pilot.gcs.status(bench.t, 10.0) == "connected"
    bench.run(12.0)
    assert bench.pilot.gcs.status(bench.t, 10.0) == "lost"
    bench.send(GCS_HEARTBEAT)
    bench.run(0.1)
    assert bench.texts() == ["GCS connected", "GCS connection lost", "GCS connection regained"]
    assert bench.pilot.gcs.losses == 1


def test_heartbeat_of_another_vehicle_is_no_ground_station(bench):
    bench.send(mavlink.MAVLink_heartbeat_message(mavlink.MAV_TYPE_QUADROTOR, mavlink.MAV_AUTOPILOT_PX4, 0, 0, 4, 3))
    assert bench.pilot.gcs.heartbeats == 0


def test_link_loss_returns_home_when_the_parameter_says_so(bench):
    bench.pilot.params.set("NAV_DLL_ACT", 2)
    bench.pilot._reload_config()
    bench.run(2.0)
    bench.flight.arm()
    bench.flight.takeoff(10.0)
    bench.run(15.0)
    bench.flight.goto(40.0, 0.0, 10.0)
    bench.send(GCS_HEARTBEAT)
    bench.run_until(lambda: bench.flight.mode is FlightMode.RTL, limit=12.0)


def test_manual_control_flies_and_clips(bench):
    bench.run(2.0)
    bench.flight.arm()
    bench.flight.takeoff(10.0)
    bench.run(15.0)
    sticks = mavlink.MAVLink_manual_control_message(1, 1000, 0, 500, 0, 0)
    bench.send(sticks)
    assert bench.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 3, 0)[0] == mavlink.MAV_RESULT_ACCEPTED
    for _ in range(40):
        bench.send(sticks)
        bench.run(0.1)
    assert bench.flight.mode is FlightMode.POSCTL
    assert bench.flight.airframe.motion.vn > 5.0
    # sticks for another vehicle, and sticks beyond their range, do no harm
    bench.send(mavlink.MAVLink_manual_control_message(9, 1000, 0, 0, 0, 0))
    bench.send(mavlink.MAVLink_manual_control_message(1, 32767, -32768, 32767, 32767, 0xFFFF))
    bench.run(1.0)
    assert bench.flight.airframe.motion.groundspeed < 20.0


def test_file_transfer_is_refused_at_once(bench):
    request = (5).to_bytes(2, "little") + bytes([3, 4, 0, 0, 0, 0, 0, 0, 0, 0])
    payload = list(request.ljust(251, b"\0"))
    (answer,) = bench.send(mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, payload))
    assert answer.payload[:2] == [6, 0]  # the sequence number goes on
    assert (answer.payload[2], answer.payload[3], answer.payload[5], answer.payload[12]) == (3, 129, 4, 7)


def test_client_takes_over_from_the_script():
    bench = Bench(profile="auto")
    bench.run(12.0)
    assert bench.pilot.profile.running
    assert bench.command(mavlink.MAV_CMD_REQUEST_MESSAGE, 30)[0] == mavlink.MAV_RESULT_ACCEPTED
    assert bench.pilot.profile.running  # a question is no take-over
    bench.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4, 3)
    assert not bench.pilot.profile.running
    bench.run(60.0)
    assert bench.flight.in_air


def test_flood_of_requests_does_not_grow_without_bound(bench):
    read = bench.frame(mavlink.MAVLink_param_request_read_message(1, 1, b"MPC_XY_CRUISE", -1))
    for _ in range(3 * OUTBOX_LIMIT):
        bench.pilot.receive(read, bench.t)
    assert len(bench.run()) == OUTBOX_LIMIT
    assert bench.pilot.outbox_dropped == 2 * OUTBOX_LIMIT


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sysid": 0}, "1 to 250"),
        ({"sysid": 251}, "1 to 250"),
        ({"altitude_m": 1.0}, "2 to 120"),
        ({"altitude_m": math.nan}, "2 to 120"),
        ({"cruise_s": -1.0}, "0 to 86400"),
    ],
)
def test_bad_configuration(wrong, says):
    with pytest.raises(ValueError, match=says):
        AutopilotConfig(**wrong)


FUZZED = sorted(set(mavlink.mavlink_map) & set(Bench().pilot._handlers))


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(FUZZED), st.binary(max_size=255)), min_size=1, max_size=12), st.booleans())
def test_no_payload_of_any_handled_message_breaks_the_autopilot(frames, airborne):
    bench = Bench()
    bench.run(1.5)
    if airborne:
        bench.flight.arm()
        bench.flight.takeoff(10.0)
    for msg_id, payload in frames:
        message = mavlink.mavlink_map[msg_id]
        size = message.unpacker.size
        body = bytearray(payload[:size].ljust(size, b"\0"))
        for name in ("target_system", "target_component", "target"):
            if name in message.fieldnames:
                body[_offset(message, name)] = 1
        raw = _frame(msg_id, bytes(body), message.crc_extra)
        (frame,) = parse_datagram(raw).frames
        bench.pilot.receive(frame, bench.t)
        for answer in bench.run(0.1):
            answer.pack(bench.client)
    for msg_id in bench.pilot.due(bench.t):
        bench.pilot.telemetry.build(msg_id, bench.t).pack(bench.client)


def _offset(message, name):
    position, sizes = (
        0,
        {"B": 1, "b": 1, "c": 1, "s": 1, "H": 2, "h": 2, "I": 4, "i": 4, "f": 4, "Q": 8, "q": 8, "d": 8},
    )
    formats = [c for c in message.unpacker.format if c.isalpha()]
    if len(formats) != len(message.ordered_fieldnames):
        raise AssertionError("a target field after an array would need its length")
    for field, kind in zip(message.ordered_fieldnames, formats, strict=True):
        if field == name:
            return position
        position += sizes[kind]
    raise KeyError(name)


def _frame(msg_id, payload, extra):
    head = bytes([len(payload), 0, 0, 0, 255, 190]) + msg_id.to_bytes(3, "little")
    crc = mavlink.x25crc(head + payload)
    crc.accumulate(bytes([extra]))
    return b"\xfd" + head + payload + crc.crc.to_bytes(2, "little")

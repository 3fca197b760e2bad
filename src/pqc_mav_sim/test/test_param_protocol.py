# SPDX-License-Identifier: Apache-2.0
import struct

import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.frames import parse_datagram
from pqc_mav_sim.param_protocol import RawParamValue
from pqc_mav_sim.params import HASH_NAME
from pqc_mav_sim.vehicle_view import param_value


def wire(message):
    """Return a message as a client gets it: (raw value bytes, decoded message)."""
    (frame,) = parse_datagram(message.pack(mavlink.MAVLink(None, srcSystem=1, srcComponent=1))).frames
    return frame.payload[:4], frame


def values(messages):
    return [m for m in messages if m.get_type() == "PARAM_VALUE"]


def errors(messages):
    return [m for m in messages if m.get_type() == "PARAM_ERROR"]


def read(bench, name="", index=-1):
    return bench.send(mavlink.MAVLink_param_request_read_message(1, 1, name.encode(), index))


def write(bench, name, raw, kind):
    (number,) = struct.unpack("<f", raw)
    message = mavlink.MAVLink_param_set_message(1, 1, name.encode(), number, kind)
    return bench.send(message)


def test_list_is_complete_in_order_and_paced(bench):
    bench.send(mavlink.MAVLink_param_request_list_message(1, 1))
    bursts = [len(values(bench.run(0.02))) for _ in range(60)]
    got = values(bench.log)
    count = len(bench.pilot.params)
    assert [m.param_index for m in got] == list(range(count))
    assert {m.param_count for m in got} == {count}
    assert max(bursts) <= 12


def test_second_request_starts_over(bench):
    bench.send(mavlink.MAVLink_param_request_list_message(1, 1))
    bench.run(0.2)
    bench.log.clear()
    bench.send(mavlink.MAVLink_param_request_list_message(1, 1))
    bench.run(2.0)
    assert {m.param_index for m in values(bench.log)} == set(range(len(bench.pilot.params)))


def test_integers_travel_bytewise(bench):
    (answer,) = values(read(bench, "SYS_AUTOSTART"))
    raw, frame = wire(answer)
    assert raw == struct.pack("<i", 4001)
    assert answer.param_type == mavlink.MAV_PARAM_TYPE_INT32
    assert param_value(frame, answer.param_type) == 4001


def test_a_bit_pattern_that_is_a_signalling_nan_survives():
    raw, _ = wire(RawParamValue(struct.pack("<I", 0x7F800001), "X", mavlink.MAV_PARAM_TYPE_INT32, 1, 0))
    assert raw == struct.pack("<I", 0x7F800001)


def test_read_by_index_and_by_name(bench):
    (by_index,) = values(read(bench, index=3))
    (by_name,) = values(read(bench, by_index.param_id))
    assert by_name.param_index == 3


def test_hash_is_served_but_not_counted(bench):
    (answer,) = values(read(bench, HASH_NAME))
    raw, _ = wire(answer)
    assert int.from_bytes(raw, "little") == bench.pilot.params.hash()
    assert answer.param_index == 65535


@pytest.mark.parametrize(("name", "index"), [("NOPE", -1), ("", 9999), ("", -1)])
def test_reading_what_does_not_exist_is_an_error(bench, name, index):
    answers = read(bench, name, index)
    (error,) = errors(answers)
    assert error.error == mavlink.MAV_PARAM_ERROR_DOES_NOT_EXIST
    assert values(answers) == []


def test_write_answers_with_the_value_and_changes_the_flight(bench):
    (answer,) = values(write(bench, "MPC_XY_CRUISE", struct.pack("<f", 8.5), 9))
    assert wire(answer)[0] == struct.pack("<f", 8.5)
    assert bench.flight.config.cruise_speed == 8.5


@pytest.mark.parametrize(
    ("name", "raw", "kind", "error"),
    [
        ("MPC_XY_CRUISE", struct.pack("<f", 99.0), 9, mavlink.MAV_PARAM_ERROR_VALUE_OUT_OF_RANGE),
        ("MPC_XY_CRUISE", struct.pack("<f", float("nan")), 9, mavlink.MAV_PARAM_ERROR_VALUE_OUT_OF_RANGE),
        ("MPC_XY_CRUISE", struct.pack("<i", 5), 6, mavlink.MAV_PARAM_ERROR_VALUE_OUT_OF_RANGE),
        ("MAV_SYS_ID", struct.pack("<i", 5), 6, mavlink.MAV_PARAM_ERROR_READ_ONLY),
        ("NO_SUCH_PARAM", struct.pack("<i", 5), 6, mavlink.MAV_PARAM_ERROR_DOES_NOT_EXIST),
    ],
)
def test_refused_write_reports_the_error_and_the_value_that_holds(name, raw, kind, error):
    bench = Bench()
    before = bench.pilot.params.hash()
    answers = write(bench, name, raw, kind)
    assert [e.error for e in errors(answers)] == [error]
    known = bench.pilot.params.index(name) is not None
    assert [v.param_id for v in values(answers)] == ([name] if known else [])
    assert bench.pilot.params.hash() == before
    assert len(bench.texts()) == 1

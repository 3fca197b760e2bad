# SPDX-License-Identifier: Apache-2.0
import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.frames import Decoder, parse_datagram
from pqc_mav_sim.rates import STREAMS
from pqc_mav_sim.vehicle_view import STAMPED, VehicleView, stamp_us


def frame_of(bench, msg_id):
    message = bench.pilot.telemetry.build(msg_id, bench.t)
    return parse_datagram(message.pack(mavlink.MAVLink(None, srcSystem=4, srcComponent=1))).frames[0]


def test_view_shows_what_the_vehicle_is():
    bench = Bench(profile="hover")
    bench.run(25.0)
    view, decoder = VehicleView(), Decoder()
    for msg_id in VehicleView.DECODED - {mavlink.MAVLINK_MSG_ID_STATUSTEXT}:
        view.update(decoder.decode(frame_of(bench, msg_id)))
    assert (view.sysid, view.mode, view.ready, view.armed, view.landed) == (4, "HOLD", True, True, "IN_AIR")
    assert view.relative_altitude_m == pytest.approx(8.0, abs=0.2)
    assert view.latitude_deg == pytest.approx(47.397742, abs=1e-5)
    assert 10.0 < view.battery_a < 16.0
    assert view.battery_percent in (99, 98)
    assert view.battery_c > 20.0
    assert view.to_dict()["texts"] == []


def test_nothing_is_known_at_first():
    assert {v for k, v in VehicleView().to_dict().items() if k not in ("heartbeats", "texts")} == {None}


def test_foreign_mode_and_unknown_current():
    view = VehicleView()
    view.update(
        Decoder().decode(parse_datagram(_pack(mavlink.MAVLink_heartbeat_message(2, 12, 0, 0x00010000, 4, 3))).frames[0])
    )
    assert view.mode == "0x00010000"
    status = mavlink.MAVLink_sys_status_message(0, 0, 0, 0, 16000, -1, 50, 0, 0, 0, 0, 0, 0)
    view.update(Decoder().decode(parse_datagram(_pack(status)).frames[0]))
    assert view.battery_a is None


def _pack(message):
    return message.pack(mavlink.MAVLink(None, srcSystem=1, srcComponent=1))


@pytest.mark.parametrize("spec", STREAMS, ids=lambda spec: spec.name)
def test_stamped_messages_carry_the_senders_microseconds(bench, spec):
    stamp = stamp_us(frame_of(bench, spec.msg_id))
    assert stamp == (int(bench.t * 1e6) if spec.msg_id in STAMPED else None)

# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.mission_plan import MAX_ITEMS, NavCommand
from pqc_mav_sim.missions import MAX_RETRIES, RETRY_S

ME = (1, 1)


def item(seq, command=NavCommand.WAYPOINT, x=473977420, y=85455940, z=15.0, frame=6, kind=0):
    return mavlink.MAVLink_mission_item_int_message(
        *ME, seq, frame, command, 0, 1, 0.0, 0.0, 0.0, math.nan, x, y, z, kind
    )


def names(messages):
    return [m.get_type() for m in messages if m.get_type().startswith("MISSION")]


def upload(bench, items):
    (request,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, len(items), 0))
    answer = request
    for message in items:
        assert answer.get_type() == "MISSION_REQUEST_INT"
        assert answer.seq == message.seq
        (answer,) = bench.send(message)
    return answer


def test_empty_at_first(bench):
    (count,) = bench.send(mavlink.MAVLink_mission_request_list_message(*ME, 0))
    assert (count.count, count.target_system) == (0, 255)


def test_upload_then_download(bench):
    items = [item(0, NavCommand.TAKEOFF, 0, 0), item(1), item(2, NavCommand.LAND, z=0.0)]
    ack = upload(bench, items)
    assert (ack.get_type(), ack.type) == ("MISSION_ACK", mavlink.MAV_MISSION_ACCEPTED)
    (count,) = bench.send(mavlink.MAVLink_mission_request_list_message(*ME, 0))
    assert count.count == 3
    for sent in items:
        (got,) = bench.send(mavlink.MAVLink_mission_request_int_message(*ME, sent.seq, 0))
        for name in ("seq", "frame", "command", "x", "y", "z", "param1", "autocontinue"):
            assert getattr(got, name) == getattr(sent, name), name
    (old,) = bench.send(mavlink.MAVLink_mission_request_message(*ME, 1, 0))
    assert old.get_type() == "MISSION_ITEM"
    assert old.x == pytest.approx(47.397742, abs=1e-5)


def test_items_sent_in_the_old_way(bench):
    bench.send(mavlink.MAVLink_mission_count_message(*ME, 1, 0))
    old = mavlink.MAVLink_mission_item_message(*ME, 0, 3, 16, 1, 1, 0.0, 0.0, 0.0, 0.0, 47.3977, 8.5456, 12.0, 0)
    (ack,) = bench.send(old)
    assert ack.type == mavlink.MAV_MISSION_ACCEPTED
    assert bench.flight.mission.items[0].lat_deg == pytest.approx(47.3977, abs=1e-5)


def test_wrong_item_is_asked_for_again(bench):
    bench.send(mavlink.MAVLink_mission_count_message(*ME, 2, 0))
    (again,) = bench.send(item(1))
    assert (again.get_type(), again.seq) == ("MISSION_REQUEST_INT", 0)


def test_lost_item_is_asked_for_again_and_given_up_in_the_end(bench):
    bench.flight.mission.items = ["kept"]
    bench.send(mavlink.MAVLink_mission_count_message(*ME, 2, 0))
    bench.log.clear()
    bench.run(RETRY_S * (MAX_RETRIES + 3))
    got = names(bench.log)
    assert got == ["MISSION_REQUEST_INT"] * MAX_RETRIES + ["MISSION_ACK"]
    assert bench.flight.mission.items == ["kept"]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (item(0, 31010), mavlink.MAV_MISSION_UNSUPPORTED),
        (item(0, x=950000000), mavlink.MAV_MISSION_INVALID_PARAM5_X),
        (item(0, y=2000000000), mavlink.MAV_MISSION_INVALID_PARAM6_Y),
        (item(0, z=math.nan), mavlink.MAV_MISSION_INVALID_PARAM7),
        (item(0, frame=77), mavlink.MAV_MISSION_UNSUPPORTED_FRAME),
    ],
)
def test_bad_item_ends_the_upload_and_keeps_the_old_plan(bad, error):
    bench = Bench()
    upload(bench, [item(0)])
    before = list(bench.flight.mission.items)
    bench.send(mavlink.MAVLink_mission_count_message(*ME, 2, 0))
    (ack,) = bench.send(bad)
    assert (ack.get_type(), ack.type) == ("MISSION_ACK", error)
    assert bench.flight.mission.items == before
    bench.log.clear()
    bench.run(3.0)
    assert names(bench.log) == []


def test_too_many_items(bench):
    (ack,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, MAX_ITEMS + 1, 0))
    assert ack.type == mavlink.MAV_MISSION_NO_SPACE


def test_second_client_has_to_wait_and_cancel_frees(bench):
    bench.send(mavlink.MAVLink_mission_count_message(*ME, 2, 0))
    bench.client.srcSystem = 254
    (ack,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, 1, 0))
    assert ack.type == mavlink.MAV_MISSION_DENIED
    bench.client.srcSystem = 255
    assert bench.send(mavlink.MAVLink_mission_ack_message(*ME, mavlink.MAV_MISSION_OPERATION_CANCELLED, 0)) == []
    bench.client.srcSystem = 254
    (request,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, 1, 0))
    assert request.get_type() == "MISSION_REQUEST_INT"


def test_clear_and_count_zero(bench):
    for clear in (mavlink.MAVLink_mission_clear_all_message(*ME, 0), mavlink.MAVLink_mission_count_message(*ME, 0, 0)):
        upload(bench, [item(0)])
        (ack,) = bench.send(clear)
        assert ack.type == mavlink.MAV_MISSION_ACCEPTED
        assert bench.flight.mission.items == []


@pytest.mark.parametrize("kind", [mavlink.MAV_MISSION_TYPE_FENCE, mavlink.MAV_MISSION_TYPE_RALLY])
def test_fence_and_rally_are_empty_and_cannot_be_filled(bench, kind):
    (count,) = bench.send(mavlink.MAVLink_mission_request_list_message(*ME, kind))
    assert (count.count, count.mission_type) == (0, kind)
    (ack,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, 3, kind))
    assert (ack.type, ack.mission_type) == (mavlink.MAV_MISSION_UNSUPPORTED, kind)
    (ack,) = bench.send(mavlink.MAVLink_mission_count_message(*ME, 0, kind))
    assert ack.type == mavlink.MAV_MISSION_ACCEPTED


def test_item_out_of_the_blue_and_beyond_the_end(bench):
    (ack,) = bench.send(item(0))
    assert ack.type == mavlink.MAV_MISSION_ERROR
    (ack,) = bench.send(mavlink.MAVLink_mission_request_int_message(*ME, 0, 0))
    assert ack.type == mavlink.MAV_MISSION_INVALID_SEQUENCE


def test_last_item_that_comes_again_is_accepted_again(bench):
    items = [item(0), item(1)]
    upload(bench, items)
    (ack,) = bench.send(items[1])
    assert ack.type == mavlink.MAV_MISSION_ACCEPTED
    assert len(bench.flight.mission.items) == 2
    for sysid, sent in ((255, items[0]), (255, item(1, kind=mavlink.MAV_MISSION_TYPE_FENCE)), (254, items[1])):
        bench.client.srcSystem = sysid
        (ack,) = bench.send(sent)
        assert ack.type == mavlink.MAV_MISSION_ERROR


def test_uploaded_mission_is_flown_and_reported(bench):
    upload(
        bench,
        [item(0, NavCommand.TAKEOFF, 0, 0, 10.0), item(1, x=473979000, z=12.0), item(2, NavCommand.LAND, x=473979000)],
    )
    bench.run(2.0)
    bench.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)
    result, _ = bench.command(mavlink.MAV_CMD_MISSION_START)
    assert result == mavlink.MAV_RESULT_ACCEPTED
    bench.run_until(lambda: not bench.flight.armed)
    assert [m.seq for m in bench.log if m.get_type() == "MISSION_ITEM_REACHED"] == [0, 1]
    north, _ = bench.flight.frame.to_local(47.3979, 8.545594)
    assert bench.flight.airframe.motion.north == pytest.approx(north, abs=2.0)

# SPDX-License-Identifier: Apache-2.0
import socket
import time

import pytest
from pymavlink.dialects.v20 import common as mavlink
from sim_support import ANY_PORT

from pqc_mav_sim.endpoint import EndpointError
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.modes import Result

DEADLINE_S = 30.0


def wait(condition):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s"
        time.sleep(0.02)


@pytest.fixture
def pair(make_vehicle, make_ground):
    ground = make_ground(shared_clock=True)
    vehicle = make_vehicle(ground.link.address, shared_clock=True)
    assert ground.wait_for(lambda view: view.ready, DEADLINE_S)
    return vehicle, ground


def test_flies_the_vehicle(pair):
    _, ground = pair
    assert ground.arm() == Result.ACCEPTED
    assert ground.wait_for(lambda view: view.armed)
    assert ground.takeoff() == Result.ACCEPTED
    assert ground.wait_for(lambda view: (view.relative_altitude_m or 0.0) > 1.5, DEADLINE_S)
    assert ground.disarm() == Result.DENIED
    assert ground.land() == Result.ACCEPTED
    assert ground.wait_for(lambda view: view.landed == "ON_GROUND" and not view.armed, DEADLINE_S)
    view = ground.snapshot()["vehicle"]
    assert view["battery_percent"] <= 100
    assert 14.0 < view["battery_v"] < 17.0
    assert "Landing detected" in view["texts"]


def test_takes_off_to_the_altitude_it_is_told(pair):
    vehicle, ground = pair
    assert ground.arm() == Result.ACCEPTED
    assert ground.takeoff(6.0) == Result.ACCEPTED
    assert ground.wait_for(lambda view: (view.relative_altitude_m or 0.0) > 5.5, DEADLINE_S)
    assert ground.wait_for(lambda view: view.mode == "HOLD", DEADLINE_S)
    assert 5.5 < vehicle.snapshot()["max_altitude_m"] < 6.5


def test_an_altitude_needs_a_vehicle_that_tells_its_own(make_ground):
    with pytest.raises(NoAnswerError, match=r"altitude within 0\.1 s"):
        make_ground().takeoff(6.0, timeout=0.1)


def test_lists_all_parameters_with_their_types(pair):
    vehicle, ground = pair
    table = vehicle.autopilot.params
    assert ground.fetch_params() == {spec.name: table.value(spec.name) for spec in table.specs}


def test_lost_parameters_are_asked_for_again(pair):
    vehicle, ground = pair
    protocol = vehicle.autopilot._param_protocol
    whole = protocol.tick
    protocol.tick = lambda t: [m for i, m in enumerate(whole(t)) if m.param_index % 10]
    values = ground.fetch_params()
    assert len(values) == len(vehicle.autopilot.params)
    assert vehicle.snapshot()["received_by_type"]["PARAM_REQUEST_READ"] >= len(values) // 10


def test_uplink_is_heard_whole_and_both_latencies_are_measured(make_vehicle, make_ground):
    ground = make_ground(uplink_hz=400.0, shared_clock=True)
    vehicle = make_vehicle(ground.link.address, shared_clock=True)
    wait(lambda: vehicle.snapshot()["received"] > 800 and ground.snapshot()["ping_rtt"]["count"] > 20)
    up = vehicle.snapshot()
    (link,) = up["uplink"].values()
    assert (link["lost"], link["duplicates"], link["reordered"]) == (0, 0, 0)
    assert up["received_by_type"]["MANUAL_CONTROL"] > 10 * up["received_by_type"]["PING"]
    assert up["uplink_latency"]["count"] > 20
    down = ground.snapshot()
    assert 0.0 < down["downlink_latency"]["p50_us"] <= down["downlink_latency"]["p99_us"]
    assert down["ping_rtt"]["p50_us"] > up["uplink_latency"]["p50_us"] * 0.5
    assert up["gcs"] == "connected"


def test_counts_what_a_bad_link_does(make_ground):
    ground = make_ground()
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mav = mavlink.MAVLink(None, srcSystem=9, srcComponent=1)

    def packet(seq):
        mav.seq = seq
        return mavlink.MAVLink_heartbeat_message(2, 12, 128, 50593792, 4, 3).pack(mav)

    broken = bytearray(packet(9))
    broken[-1] ^= 1
    for data in [*map(packet, (1, 2, 3, 3, 6, 5, 8)), bytes(broken), b"noise"]:
        sender.sendto(data, ground.link.address.sockaddr)
    wait(lambda: ground.snapshot()["received"] == 7 and len(ground.snapshot()["frame_errors"]) == 2)
    sender.close()
    snapshot = ground.snapshot()
    # of 1 to 8, 4 and 7 are missing, 3 came twice and 5 came late
    source = snapshot["sources"]["9:1"]
    assert (source["lost"], source["duplicates"], source["reordered"]) == (2, 1, 1)
    assert (snapshot["crc_errors"], snapshot["frame_errors"]["garbage"]) == (1, 1)
    assert (snapshot["vehicle"]["armed"], snapshot["vehicle"]["mode"]) == (True, "HOLD")


def test_no_vehicle_no_answer():
    with GroundClient(ANY_PORT) as ground, pytest.raises(NoAnswerError, match="no answer to command 400"):
        ground.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1.0, timeout=0.3)


def test_refused_arguments():
    with pytest.raises(ValueError, match="out of range"):
        GroundClient(ANY_PORT, uplink_hz=1e9)
    with GroundClient(ANY_PORT) as ground, pytest.raises(EndpointError, match="another program"):
        GroundClient(ground.link.address)


def test_quiet_client_sends_no_more_but_listens_on(make_vehicle, make_ground):
    ground = make_ground(uplink_hz=200.0)
    vehicle = make_vehicle(ground.link.address)
    wait(lambda: vehicle.snapshot()["received"] > 50)
    ground.quiet()
    heard = ground.snapshot()["received"]
    wait(lambda: ground.snapshot()["received"] > heard + 500)
    assert ground.snapshot()["sent_by_type"] == vehicle.snapshot()["received_by_type"]

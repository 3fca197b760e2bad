# SPDX-License-Identifier: Apache-2.0
"""The vehicle on a real loopback socket, with pymavlink's own connection class as the client."""

import random
import socket
import time

import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.rates import STREAMS

DEADLINE_S = 30.0


class Client:
    """pymavlink listening on an ephemeral port, as a ground station does."""

    def __init__(self):
        self.mav = mavutil.mavudp("127.0.0.1:0", input=True, source_system=255, source_component=190, use_native=False)
        self.mav.mav.robust_parsing = True
        self.endpoint = Endpoint(socket.AF_INET, self.mav.port.getsockname())
        self.bad = 0

    def expect(self, name, condition=lambda _m: True):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            message = self.mav.recv_match(blocking=True, timeout=1.0)
            if message is None:
                continue
            if message.get_type() == "BAD_DATA":
                self.bad += 1
            elif message.get_type() == name and condition(message):
                return message
        raise AssertionError(f"no {name} within {DEADLINE_S} s")

    def command(self, command, *params):
        values = (*params, *([0.0] * 7))[:7]
        self.mav.mav.command_long_send(1, 1, command, 0, *values)
        return self.expect("COMMAND_ACK", lambda m: m.command == command).result


@pytest.fixture
def client():
    made = Client()
    yield made
    made.mav.close()


def test_every_stream_arrives_intact(make_vehicle, client):
    vehicle = make_vehicle(client.endpoint)
    wanted = {spec.name for spec in STREAMS}
    end = time.monotonic() + DEADLINE_S
    while wanted and time.monotonic() < end:
        message = client.mav.recv_match(blocking=True, timeout=1.0)
        if message is not None:
            assert message.get_type() != "BAD_DATA"
            assert (message.get_srcSystem(), message.get_srcComponent()) == (1, 1)
            assert message.get_msgbuf()[0] == 0xFD
            wanted.discard(message.get_type())
    assert not wanted
    assert client.mav.mav_loss == 0
    assert vehicle.snapshot()["send_failed"] == 0


def test_arm_take_off_and_land_over_the_wire(make_vehicle, client):
    make_vehicle(client.endpoint)
    client.expect("HEARTBEAT", lambda m: m.system_status == mavlink.MAV_STATE_STANDBY)
    assert client.command(mavlink.MAV_CMD_NAV_TAKEOFF) == mavlink.MAV_RESULT_TEMPORARILY_REJECTED
    assert client.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1) == mavlink.MAV_RESULT_ACCEPTED
    assert client.command(mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, float("nan")) == mavlink.MAV_RESULT_ACCEPTED
    client.expect("GLOBAL_POSITION_INT", lambda m: m.relative_alt > 1500)
    client.expect("SYS_STATUS", lambda m: m.current_battery > 700)
    assert client.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0) == mavlink.MAV_RESULT_DENIED
    assert client.command(mavlink.MAV_CMD_NAV_LAND) == mavlink.MAV_RESULT_ACCEPTED
    client.expect("EXTENDED_SYS_STATE", lambda m: m.landed_state == mavlink.MAV_LANDED_STATE_ON_GROUND)
    client.expect("HEARTBEAT", lambda m: not m.base_mode & mavlink.MAV_MODE_FLAG_SAFETY_ARMED)


def test_garbage_between_good_frames_is_counted_and_survived(make_vehicle, client):
    vehicle = make_vehicle(client.endpoint)
    rng = random.Random(11)
    client.expect("HEARTBEAT")
    good = 0
    for i in range(400):
        junk = rng.randbytes(rng.randrange(0, 600))
        if i % 3 == 0:
            junk = b"\xfd" + junk
        client.mav.port.sendto(junk, vehicle.link.address.sockaddr)
        if i % 10 == 0:
            client.mav.mav.ping_send(i, i, 0, 0)
            client.expect("PING", lambda m, i=i: m.seq == i)
            good += 1
    snapshot = vehicle.snapshot()
    assert snapshot["received_by_type"]["PING"] == good
    assert sum(snapshot["frame_errors"].values()) >= 350
    assert client.bad == 0


def test_a_stranger_cannot_command_a_connected_vehicle(make_vehicle, client):
    vehicle = make_vehicle(client.endpoint)
    stranger = Client()
    arm = mavlink.MAVLink_command_long_message(1, 1, mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0, 1, 0, 0, 0, 0, 0, 0)
    stranger.mav.port.sendto(arm.pack(stranger.mav.mav), vehicle.link.address.sockaddr)
    end = time.monotonic() + DEADLINE_S
    while vehicle.snapshot()["foreign_datagrams"] == 0 and time.monotonic() < end:
        client.mav.recv_match(blocking=True, timeout=0.1)
    stranger.mav.close()
    snapshot = vehicle.snapshot()
    assert snapshot["foreign_datagrams"] == 1
    assert snapshot["received"] == 0
    assert not snapshot["armed"]


def test_waiting_vehicle_talks_to_the_first_client(make_vehicle, client):
    vehicle = make_vehicle()
    client.mav.port.sendto(
        mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3).pack(client.mav.mav), vehicle.link.address.sockaddr
    )
    client.expect("STATUSTEXT", lambda m: m.text == "GCS connected")
    client.expect("ATTITUDE")
    assert vehicle.snapshot()["gcs"] == "connected"


def test_keeps_flying_when_nobody_listens(make_vehicle, client):
    vehicle = make_vehicle(client.endpoint)
    client.expect("HEARTBEAT")
    address = client.mav.port.getsockname()
    client.mav.close()
    end = time.monotonic() + DEADLINE_S
    before = vehicle.snapshot()["sent"]
    while vehicle.snapshot()["sent"] < before + 200 and time.monotonic() < end:
        time.sleep(0.05)
    again = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    again.bind(address)
    again.settimeout(DEADLINE_S)
    assert again.recv(300)[0] == 0xFD
    again.close()


def test_every_sent_message_is_counted_and_numbered(make_vehicle, make_ground):
    ground = make_ground()
    vehicle = make_vehicle(ground.link.address, rate_hz=1000.0)
    assert ground.wait_for(lambda _v: ground._received.total() > 1500, DEADLINE_S)
    sent = vehicle.stop()
    assert ground.wait_for(lambda _v: ground._received.total() == sent["sent"], DEADLINE_S)
    heard = ground.snapshot()
    assert heard["received_by_type"] == sent["sent_by_type"]
    assert (heard["lost"], heard["duplicates"], heard["reordered"], heard["crc_errors"]) == (0, 0, 0, 0)
    assert heard["bytes_received"] == sent["bytes_sent"]


def test_a_failed_send_leaves_no_gap_in_the_numbering(make_vehicle, make_ground):
    ground = make_ground()
    vehicle = make_vehicle(ground.link.address)
    real, calls = vehicle.link.send, []

    def sometimes(data):
        calls.append(1)
        return real(data) if len(calls) % 3 else False

    vehicle.link.send = sometimes
    assert ground.wait_for(lambda _v: ground._received.total() > 300, DEADLINE_S)
    assert ground.snapshot()["lost"] == 0

# SPDX-License-Identifier: Apache-2.0
"""How a simulated radio cuts bytes: nothing is lost or changed by it, messages stay whole where they can."""

import random
from itertools import cycle

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.radio.packets import MessageCutter, cut_anywhere

MAV = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
LATER = 10.0


def attitude() -> bytes:
    return bytes(MAV.attitude_encode(1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6).pack(MAV))


def heartbeat(force_mavlink1: bool = False) -> bytes:
    return bytes(MAV.heartbeat_encode(2, 12, 0, 0, 4).pack(MAV, force_mavlink1=force_mavlink1))


def cutter() -> MessageCutter:
    return MessageCutter(250, 10 / 57_600)


def all_packets(data: bytes, rooms: tuple[int, ...] = (250,)) -> list[bytes]:
    """`rooms`: what is left of each turn, again and again."""
    cut, waiting, out, now, turns = cutter(), bytearray(data), [], 0.0, cycle(rooms)
    while waiting:
        packet = cut.next(waiting, next(turns), now)
        now = now if packet else now + LATER
        out += [packet] if packet else []
    return out


def test_whole_messages_share_a_packet_as_far_as_they_fit():
    messages = [attitude() for _ in range(12)]
    packets = all_packets(b"".join(messages))
    assert b"".join(packets) == b"".join(messages)
    assert [len(packet) for packet in packets] == [240, 240]


def test_a_message_waits_until_it_is_whole():
    message, cut, waiting = attitude(), cutter(), bytearray()
    for byte in message[:-1]:
        waiting.append(byte)
        assert cut.next(waiting, 250, 0.0) == b""
    waiting.append(message[-1])
    assert cut.next(waiting, 250, 0.0) == message


def test_and_no_longer_than_its_bytes_take():
    cut, waiting = cutter(), bytearray(attitude()[:20])
    assert cut.next(waiting, 250, 0.0) == b""
    assert cut.next(waiting, 250, 0.001) == b""
    assert cut.next(waiting, 250, LATER) == attitude()[:20]


def test_one_that_does_not_fit_into_the_turn_waits_for_the_next():
    cut, waiting = cutter(), bytearray(attitude())
    assert cut.next(waiting, 30, 0.0) == b""
    assert cut.next(waiting, 250, 0.0) == attitude()


def test_foreign_bytes_go_up_to_the_next_start():
    assert all_packets(b"abc" + attitude()) == [b"abc", attitude()]


def test_a_length_beyond_any_packet_loses_the_framing():
    data = bytes([0xFD, 240, 0, 0]) + bytes(300)
    packets = all_packets(data)
    assert b"".join(packets) == data
    assert all(len(packet) <= 250 for packet in packets)


@pytest.mark.parametrize("seed", range(20))
def test_any_bytes_come_out_as_they_went_in(seed):
    draw = random.Random(seed)
    data = b"".join(draw.choice([attitude(), draw.randbytes(draw.randrange(60)), b"\xfd", b"\xfe"]) for _ in range(50))
    assert b"".join(all_packets(data, (18, 64, 250))) == data
    waiting, out = bytearray(data), b""
    while waiting:
        out += cut_anywhere(waiting, draw.randrange(1, 250))
    assert out == data


@pytest.mark.parametrize(("first", "version"), [(True, 1), (False, 2)])
def test_heartbeats_of_both_versions_are_seen_when_they_leave(first, version):
    cut = cutter()
    cut.next(bytearray(heartbeat(first) + attitude()), 250, 0.0)
    assert (cut.heartbeats, cut.version) == (1, version)


def test_an_empty_heartbeat_with_a_wrong_checksum_is_one_too():
    cut = cutter()
    cut.next(bytearray(bytes.fromhex("fd000000003300000000" + "0000")), 250, 0.0)
    assert cut.heartbeats == 1

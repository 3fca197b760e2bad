# SPDX-License-Identifier: Apache-2.0
"""The stranger's frames are well-formed where they must be and false where they should be."""

from __future__ import annotations

import random
import struct

import attacks
from hypothesis import given
from hypothesis import strategies as st

PORT = 46011
GCS, DRONE = bytes([10, 77, 0, 1]), bytes([10, 77, 0, 2])


def udp_frame(payload: bytes, source_port: int = 46012, to_port: int = PORT, fragment: int = 0) -> bytes:
    udp = struct.pack(">HHHH", source_port, to_port, 8 + len(payload), 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, fragment, 64, 17, 0) + DRONE + GCS
    return b"\2" * 12 + b"\x08\x00" + ip + udp


def datagram(sequence: int, content: int = 20) -> bytes:
    return b"\x03\1\2\1\2" + b"S" * 8 + struct.pack(">QB", sequence, 3) + bytes(content + 16)


def test_tunnel_frames_are_recognised_and_others_not() -> None:
    flow = attacks.tunnel_flow(udp_frame(datagram(5)) + b"padding", PORT)
    assert flow is not None
    assert flow.down
    assert flow.payload == datagram(5)
    back = attacks.tunnel_flow(udp_frame(datagram(5), PORT, 46012), PORT)
    assert back is not None
    assert not back.down
    assert attacks.tunnel_flow(udp_frame(datagram(5), 1, 2), PORT) is None
    assert attacks.tunnel_flow(udp_frame(b"short"), PORT) is None
    assert attacks.tunnel_flow(udp_frame(datagram(5), fragment=0x2000), PORT) is None


@given(st.binary(max_size=120))
def test_any_frame_is_survived(data: bytes) -> None:
    attacks.tunnel_flow(data, PORT)


@given(seed=st.integers(0, 1000), sequence=st.integers(0, 2**40))
def test_a_forged_frame_keeps_the_session_and_raises_the_sequence(seed: int, sequence: int) -> None:
    flow = attacks.tunnel_flow(udp_frame(datagram(sequence)), PORT)
    assert flow is not None
    forged = attacks.tunnel_flow(attacks.forge(flow, random.Random(seed)), PORT)
    assert forged is not None
    assert forged.payload[:13] == flow.payload[:13]
    assert forged.payload[21] == flow.payload[21]
    assert int.from_bytes(forged.payload[13:21], "big") > sequence
    assert forged.payload[22:] != flow.payload[22:]


def test_rates_that_change() -> None:
    assert attacks.rate_at("20", 3.0, 1) == 20
    assert [attacks.rate_at("bursts", at, 1) > 0 for at in (0.1, 0.4, 1.4, 1.6)] == [True, False, False, True]
    drawn = [attacks.rate_at("random", turn / 2, 1) for turn in range(200)]
    assert 2 <= min(drawn) < 5 and 200 < max(drawn) <= 500
    assert attacks.rate_at("random", 0.6, 1) == attacks.rate_at("random", 0.9, 1) != attacks.rate_at("random", 0.6, 2)


def test_what_no_training_has_seen_keeps_the_form() -> None:
    generator = random.Random(1)
    flow = attacks.tunnel_flow(udp_frame(datagram(7)), PORT)
    assert flow is not None
    ahead = attacks.tunnel_flow(attacks.flip(flow, generator), PORT)
    assert ahead is not None
    assert 7 < int.from_bytes(ahead.payload[13:21], "big") <= 71
    assert sum(a != b for a, b in zip(ahead.payload[22:], flow.payload[22:], strict=True)) == 1
    other = attacks.of_another_session(flow.payload, generator)
    assert other[:5] == flow.payload[:5] and other[13:] == flow.payload[13:] and other != flow.payload
    hello = b"\x33" + bytes(60)
    assert sum(a != b for a, b in zip(attacks.spoiled(hello, generator), hello, strict=True)) == 1


def test_a_syn_is_a_whole_segment() -> None:
    frame = attacks.syn(("10.77.1.9", 4000), ("10.77.0.1", 22), (b"\2" * 6, b"\4" * 6), 5)
    assert len(frame) == 54 and frame[23] == 6 and frame[47] == 2
    pseudo = frame[26:34] + struct.pack(">HH", 6, 20) + frame[34:]
    total = sum(struct.unpack(f">{len(pseudo) // 2}H", pseudo))
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


def test_handshakes_are_told_from_packets() -> None:
    flow = attacks.tunnel_flow(udp_frame(b"\x33" + bytes(60)), PORT)
    assert flow is not None
    assert flow.handshake
    packet = attacks.tunnel_flow(udp_frame(datagram(5)), PORT)
    assert packet is not None
    assert not packet.handshake


def test_a_false_hello_has_a_hellos_form() -> None:
    made = attacks.false_hello(random.Random(1), "uav1", "cs-mlkem768-aesgcm-mldsa65", "ML-KEM-768", "ML-DSA-65")
    kind, _, packet = struct.unpack(">B8sI", made[:13])
    assert (kind, packet) == (0x33, 0)
    frame, message, high, low, size, index = struct.unpack(">BBBHHH", made[13:22])
    assert (frame, message, high, index) == (1, 1, 0, 0)
    hello = made[22:-8]
    assert low == size == len(hello)
    assert struct.unpack(">IB", hello[:5]) == (len(hello) - 5, 1)
    assert hello[5:13] == b"\0\0\0\4uav1"
    assert made != attacks.false_hello(random.Random(2), "uav1", "s", "k", "g")


def test_random_handshakes_are_of_any_size_and_from_a_drone() -> None:
    generator = random.Random(1)
    made = [attacks.random_handshake(generator) for _ in range(300)]
    assert {each[0] for each in made} == {0x33}
    assert min(map(len, made)) < 21 < 1200 < max(map(len, made))


def test_random_payloads_vary_in_size_and_some_look_right() -> None:
    generator = random.Random(1)
    payloads = [attacks.random_payload(generator) for _ in range(500)]
    assert len({len(each) for each in payloads}) > 200
    assert 150 < sum(each[:1] in (b"\x03", b"\x13") for each in payloads) < 350


def test_a_spoofed_frame_is_a_whole_datagram_from_its_false_source() -> None:
    address = attacks.networks_address(random.Random(1))
    assert address.startswith("198.18.")
    frame = attacks.spoofed(datagram(5), (address, 4000), ("10.77.0.1", PORT), (b"\2" * 6, b"\4" * 6))
    assert frame[:12] == b"\4" * 6 + b"\2" * 6
    flow = attacks.tunnel_flow(frame, PORT)
    assert flow is not None
    assert flow.down
    assert flow.payload == datagram(5)
    words = struct.unpack(">10H", frame[14:34])
    assert frame[26:30] == bytes(int(part) for part in address.split("."))
    total = sum(words)
    assert (total & 0xFFFF) + (total >> 16) == 0xFFFF

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
    return b"\x02\1\2\1\2" + b"S" * 8 + struct.pack(">QB", sequence, 3) + bytes(content + 16)


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


def test_a_syn_is_one_and_its_checksums_hold() -> None:
    frame = attacks.syn(random.Random(3), b"\6" * 6, b"\1" * 6, GCS, 46000)
    ip, tcp = frame[14:34], frame[34:]
    assert attacks.checksum(ip) == 0
    assert attacks.checksum(ip[12:20] + struct.pack(">BBH", 0, 6, len(tcp)) + tcp) == 0
    assert tcp[13] == 2
    assert struct.unpack(">H", tcp[2:4]) == (46000,)
    assert ip[12:14] == GCS[:2]
    assert ip[14] >= 128


def test_hellos_are_as_announced_or_cut_short() -> None:
    suite = "cs-mlkem768-aesgcm-mldsa65"
    whole = attacks.false_hello(random.Random(1), "uav1", suite, "ML-KEM-768", "ML-DSA-65")
    assert struct.unpack(">IB", whole[:5]) == (len(whole) - 5, 1)
    for seed in range(50):
        half = attacks.half_hello(random.Random(seed), "uav1", suite)
        assert len(half) - 5 < struct.unpack(">I", half[:4])[0]


def test_random_payloads_vary_in_size_and_some_look_right() -> None:
    generator = random.Random(1)
    payloads = [attacks.random_payload(generator) for _ in range(500)]
    assert len({len(each) for each in payloads}) > 200
    assert 150 < sum(each[:1] in (b"\x02", b"\x12") for each in payloads) < 350

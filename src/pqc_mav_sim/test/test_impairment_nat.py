# SPDX-License-Identifier: Apache-2.0
"""Ports, checksums and bindings of the link's NAT on hand-made frames."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.impairment import ethernet
from pqc_mav_sim.impairment.nat import PortNat

DRONE, GROUND = bytes([10, 0, 0, 2]), bytes([10, 0, 0, 1])


def ones_complement(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum_holds(frame: bytes) -> bool:
    segment = frame[34:]
    pseudo = frame[26:34] + bytes([0, frame[23]]) + struct.pack(">H", len(segment))
    return ones_complement(pseudo + segment) == 0xFFFF


def frame(
    protocol: int, source: bytes, source_port: int, to: bytes, to_port: int, payload: bytes, fragment: int = 0
) -> bytes:
    if protocol == ethernet.UDP:
        head, at = struct.pack(">HHHH", source_port, to_port, 8 + len(payload), 0), 6
    else:
        head, at = struct.pack(">HHIIBBHHH", source_port, to_port, 1, 2, 0x50, 0x18, 1000, 0, 0), 16
    segment = bytearray(head + payload)
    pseudo = source + to + bytes([0, protocol]) + struct.pack(">H", len(segment))
    value = ~ones_complement(pseudo + bytes(segment)) & 0xFFFF
    segment[at : at + 2] = (value or 0xFFFF).to_bytes(2, "big")
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 1, fragment, 64, protocol, 0) + source + to
    return b"\2" * 12 + b"\x08\x00" + ip + bytes(segment)


@given(
    protocol=st.sampled_from([ethernet.UDP, ethernet.TCP]),
    port=st.integers(1, 65535),
    to_port=st.integers(1, 65535),
    payload=st.binary(max_size=80),
)
def test_translation_keeps_the_checksum_and_comes_back(protocol: int, port: int, to_port: int, payload: bytes) -> None:
    nat = PortNat()
    out = nat.outward(frame(protocol, DRONE, port, GROUND, to_port, payload))
    packet = ethernet.parse(out)
    assert packet is not None
    assert checksum_holds(out)
    assert packet.source_port >= 20_000
    assert packet.destination_port == to_port
    back = nat.inward(frame(protocol, GROUND, to_port, DRONE, packet.source_port, payload))
    assert back == frame(protocol, GROUND, to_port, DRONE, port, payload) or (back is not None and checksum_holds(back))
    answered = ethernet.parse(back or b"")
    assert answered is not None
    assert answered.destination_port == port


def test_a_flow_keeps_its_binding_until_it_is_forgotten() -> None:
    nat = PortNat()
    sent = frame(ethernet.UDP, DRONE, 46012, GROUND, 46011, b"x")
    first = ethernet.parse(nat.outward(sent))
    again = ethernet.parse(nat.outward(sent))
    assert first is not None
    assert first == again
    nat.rebind()
    assert nat.inward(frame(ethernet.UDP, GROUND, 46011, DRONE, first.source_port, b"y")) is None
    moved = ethernet.parse(nat.outward(sent))
    assert moved is not None
    assert moved.source_port != first.source_port
    assert (nat.dropped, nat.rebinds) == (1, 1)


def test_what_belongs_to_no_flow_is_dropped_and_other_traffic_passes() -> None:
    nat = PortNat()
    assert nat.inward(frame(ethernet.TCP, GROUND, 46011, DRONE, 20_000, b"")) is None
    arp = b"\xff" * 12 + b"\x08\x06" + bytes(28)
    assert nat.outward(arp) == arp
    assert nat.inward(arp) == arp


def test_the_oldest_binding_makes_room_when_all_ports_were_used() -> None:
    nat = PortNat()
    first = ethernet.parse(nat.outward(frame(ethernet.UDP, DRONE, 1, GROUND, 9, b"")))
    assert first is not None
    for port in range(2, 10_003):
        nat.outward(frame(ethernet.UDP, DRONE, port, GROUND, 9, b""))
    assert nat.inward(frame(ethernet.UDP, GROUND, 9, DRONE, first.source_port, b"")) == frame(
        ethernet.UDP, GROUND, 9, DRONE, 10_002, b""
    )


def test_kinds_of_frames() -> None:
    def udp(payload: bytes, fragment: int = 0) -> bytes:
        return frame(ethernet.UDP, DRONE, 46012, GROUND, 46011, payload, fragment)

    assert ethernet.kind(udp(b"\x03" + bytes(40))) == "data"
    assert ethernet.kind(udp(b"\x13" + bytes(40))) == "control"
    for first in (b"\x33", b"\x43", b"\x53", b"\x63"):
        assert ethernet.kind(udp(first + bytes(40))) == "handshake"
    assert ethernet.kind(udp(b"\x02" + bytes(40))) == "other", "an older version's"
    assert ethernet.kind(udp(b"")) == "other"
    assert ethernet.kind(udp(b"\x03" + bytes(40), fragment=185)) == "other"
    assert ethernet.kind(frame(ethernet.TCP, DRONE, 1, GROUND, 46011, b"\x03" * 40)) == "other"
    assert ethernet.kind(b"\xff" * 12 + b"\x08\x06" + bytes(28)) == "other"


@given(st.binary(max_size=80))
def test_any_bytes_are_survived(data: bytes) -> None:
    ethernet.parse(data)
    nat = PortNat()
    nat.outward(data)
    nat.inward(data)

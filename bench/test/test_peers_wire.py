# SPDX-License-Identifier: Apache-2.0
"""Packets taken apart, and the handshake told from the data."""

from __future__ import annotations

import socket
import struct

from peers.room import ADDRESS, DRONE, GROUND
from peers.wire import Frame, handshake, parse


def packet(source: str, payload: int, protocol: int = 17, fragment: int = 0) -> bytes:
    total = 28 + payload
    header = struct.pack("!BBHHHBBH", 0x45, 0, total, 1, fragment, 64, protocol, 0)
    header += socket.inet_aton(source) + socket.inet_aton(ADDRESS[GROUND])
    return header + struct.pack("!HHHH", 1, 2, 8 + payload, 0) + bytes(payload)


def test_a_datagram_is_read() -> None:
    assert parse(packet(ADDRESS[DRONE], 100), 5) == Frame(5, True, 128, 100)
    assert parse(packet(ADDRESS[GROUND], 7), 5) == Frame(5, False, 35, 7)


def test_a_later_fragment_counts_its_bytes_and_is_no_datagram() -> None:
    found = parse(packet(ADDRESS[DRONE], 100, fragment=185), 5)
    assert found == Frame(5, True, 128, 0)


def test_other_packets_are_left_out() -> None:
    assert parse(packet(ADDRESS[DRONE], 100, protocol=1), 5) is None
    assert parse(b"", 5) is None
    assert parse(b"\x60" + bytes(60), 5) is None


def frames(*sizes: int) -> list[Frame]:
    """Up where positive, down where negative; one a millisecond."""
    return [Frame(i * 1_000_000, size > 0, abs(size) + 28, abs(size)) for i, size in enumerate(sizes)]


def test_the_handshake_ends_with_the_first_data() -> None:
    found = handshake(frames(148, -92, 371, 371, 32, 371, -32, 371))
    assert found is not None
    assert found.ms == 2.0
    assert found.bytes == 148 + 92 + 2 * 28
    assert found.datagrams == 2


def test_a_renewal_later_on_is_not_counted() -> None:
    found = handshake(frames(148, -92, *([371] * 30), 148, -92, *([371] * 30)))
    assert found is not None
    assert found.datagrams == 2


def test_data_alone_is_no_handshake() -> None:
    assert handshake(frames(371, 371, 371)) is None
    assert handshake(frames(-92)) is None
    assert handshake([]) is None

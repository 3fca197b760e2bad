# SPDX-License-Identifier: Apache-2.0
"""Packet arithmetic: header, overhead, bandwidth and offered packets."""

from __future__ import annotations

import struct

#: Layout of the protected header, authenticated as associated data.
HEADER_STRUCT = "!BBBBB8sQB"
HEADER_BYTES = struct.calcsize(HEADER_STRUCT)
TAG_BYTES = 16
#: The nonce is derived from epoch and sequence number and never sent.
NONCE_BYTES = 12


def overhead_bytes(tag_bytes: int = TAG_BYTES) -> int:
    """Bytes added to every packet: header and AEAD tag."""
    return HEADER_BYTES + tag_bytes


def bandwidth_kbyte_s(rate_hz: float, packet_bytes: float) -> float:
    """Bandwidth of a packet stream [kB/s, 1 kB = 1000 B]."""
    return rate_hz * packet_bytes / 1e3


def packets_offered(rate_bit_s: float, packet_bytes: float, seconds: float) -> float:
    """Packets of a constant-rate workload: bit rate over packet size, times its duration."""
    return rate_bit_s / (packet_bytes * 8) * seconds


def interval_ms(rate_hz: float) -> float:
    """Time between two packets of a stream [ms]."""
    return 1e3 / rate_hz


def busy_us_per_s(each_us: float, rate_hz: float) -> float:
    """Processing time per second of a stream whose packets take `each_us` [us/s]."""
    return each_us * rate_hz


def clock_offset(t1: float, t2: float, t3: float, t4: float) -> float:
    """Offset of the remote clock from four time stamps (local send, remote receive, remote send, local receive)."""
    return ((t2 - t1) + (t3 - t4)) / 2

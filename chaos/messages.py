# SPDX-License-Identifier: Apache-2.0
"""What the laboratory sends through the tunnel: numbered, time-stamped datagrams of MAVLink's real sizes.

Layout: drone u16, way u8 (0 down to the ground, 1 up to the drone), check u8, number u32, sent u64 (ns, monotonic),
then filling that follows from the number, so that a message that was cut, mixed up or misdelivered shows.
"""

import random
import struct
from dataclasses import dataclass

DOWN = 0
UP = 1
WAYS = ("down", "up")
_HEAD = struct.Struct("!HBBIQ")
LEAST_SIZE = _HEAD.size
_CHECK = 0xA7
_LARGEST = 2048
# filling byte i of message n is (131 n + 7 i) mod 256: a window of one table, found through 7 * 183 = 1 (mod 256)
_TABLE = bytes((7 * i) & 0xFF for i in range(_LARGEST + 256))
BUNDLE_EVERY = 40
BUNDLE_SIZE = 1200


@dataclass(frozen=True)
class Message:
    """A message that arrived intact."""

    drone: int
    way: int
    number: int
    sent_ns: int


def _filling(number: int, size: int) -> bytes:
    start = (number * 131 * 183) & 0xFF
    return _TABLE[start : start + size]


def encode(drone: int, way: int, number: int, sent_ns: int, size: int) -> bytes:
    """Build a message of `size` bytes (LEAST_SIZE to 2048)."""
    return _HEAD.pack(drone, way, _CHECK, number, sent_ns) + _filling(number, size - LEAST_SIZE)


def decode(data: bytes) -> Message | None:
    """Read a message; None when it is not exactly what was sent (its size aside, see `sizes`)."""
    if not LEAST_SIZE <= len(data) <= _LARGEST:
        return None
    drone, way, check, number, sent_ns = _HEAD.unpack_from(data)
    if check != _CHECK or way > UP or data[LEAST_SIZE:] != _filling(number, len(data) - LEAST_SIZE):
        return None
    return Message(drone, way, number, sent_ns)


def sizes(seed: int = 1, count: int = 997, bundle_size: int = BUNDLE_SIZE) -> list[int]:
    """Return a cycle of datagram sizes: MAVLink v2 messages in an autopilot's mix, every 40th a bundle of several."""
    from pymavlink.dialects.v20 import common as mavlink

    from pqc_mav_sim.rates import STREAMS

    frame_overhead = 12  # header 10, checksum 2
    payloads = [mavlink.mavlink_map[stream.msg_id].unpacker.size + frame_overhead for stream in STREAMS]
    generator = random.Random(seed)
    chosen = generator.choices(payloads, [stream.hz for stream in STREAMS], k=count)
    return [bundle_size if i % BUNDLE_EVERY == 0 else max(size, LEAST_SIZE) for i, size in enumerate(chosen)]

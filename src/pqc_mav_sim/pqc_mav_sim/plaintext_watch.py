# SPDX-License-Identifier: Apache-2.0
"""Does a datagram contain MAVLink in the clear? Pure functions and a counter over payload bytes; `capture` feeds them.

A frame counts when it stands anywhere in the payload, its id is one of all known dialects and its CRC is right. Chance
hits in encrypted bytes are possible, so each version is held to everything its format promises (flags, lengths), and
the verdict `leaked` asks whether chance explains the hits. In the few megabytes of a demo one version 2 frame is proof
(chance makes 1e-8 of them), and so are two version 1 frames (chance makes 0.002: the id is shorter).
"""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pymavlink.dialects.v20 import all as every_dialect

from pqc_mav_sim.frames import MAGIC_V1, MAGIC_V2, Frame, frame_at
from pqc_mav_sim.mav_types import MessageClass

MESSAGES: dict[int, MessageClass] = every_dialect.mavlink_map
_MAX_EXAMPLES = 10
_CRC_SPACE = 1 << 16
_ALPHA = 1e-5


@cache
def v1_lengths(msg_id: int) -> frozenset[int]:
    """Return the payload lengths a version 1 frame of this message can have.

    Version 1 sends the payload without extension fields. Those stand last both in the definition and on the wire, so
    the possible ends of the base message are where the two orders share a tail.
    """
    message = MESSAGES[msg_id]
    lengths = {message.unpacker.size}
    size = message.unpacker.size
    for declared, wired in zip(reversed(message.fieldnames), reversed(message.ordered_fieldnames), strict=True):
        if declared != wired:
            break
        size -= _field_size(message, wired)
        if size > 0:
            lengths.add(size)
    return frozenset(lengths)


_TYPE_SIZES = {
    "char": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "int16_t": 2,
    "uint16_t": 2,
    "int32_t": 4,
    "uint32_t": 4,
    "float": 4,
}


def _field_size(message: MessageClass, name: str) -> int:
    """Return the bytes of a field; fieldtypes are in the order of the definition, array lengths in that of the wire."""
    kind = message.fieldtypes[message.fieldnames.index(name)]
    count = message.array_lengths[message.ordered_fieldnames.index(name)]
    return _TYPE_SIZES.get(kind, 8) * max(int(count), 1)


def plaintext_at(payload: bytes, pos: int) -> Frame | None:
    """Return the MAVLink frame that starts at an offset, None when there is none."""
    found = frame_at(payload, pos, MESSAGES)
    if not isinstance(found, Frame) or found.msg_id not in MESSAGES:
        return None
    length = payload[pos + 1]
    if found.version == 2:
        return found if length <= MESSAGES[found.msg_id].unpacker.size else None
    return found if length in v1_lengths(found.msg_id) else None


def find_plaintext(payload: bytes) -> list[Frame]:
    """Return every MAVLink frame in the clear at any offset of a datagram's payload; frames do not overlap."""
    frames: list[Frame] = []
    pos = 0
    while True:
        starts = [p for p in (payload.find(MAGIC_V2, pos), payload.find(MAGIC_V1, pos)) if p >= 0]
        if not starts:
            return frames
        pos = min(starts)
        frame = plaintext_at(payload, pos)
        if frame is None:
            pos += 1
        else:
            frames.append(frame)
            pos += len(frame.raw)


def _chance_per_byte() -> dict[int, float]:
    """Return, per version, the chance that a frame starts at a given random byte (if it fits into the datagram)."""
    v1 = sum(len(v1_lengths(msg_id)) / 256 for msg_id in MESSAGES if msg_id < 256) / 256
    v2 = sum(min(m.unpacker.size + 1, 256) / 256 for m in MESSAGES.values()) * (2 / 256) / (1 << 24)
    return {1: v1 / 256 / _CRC_SPACE, 2: v2 / 256 / _CRC_SPACE}


_CHANCE = _chance_per_byte()


@dataclass
class PlaintextWatch:
    """Counts what was seen on a port. Feed it every datagram's UDP payload."""

    datagrams: int = 0
    payload_bytes: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    frames: Counter[int] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def feed(self, payload: bytes) -> bool:
        """Take one datagram; return whether it holds plaintext."""
        self.datagrams += 1
        self.payload_bytes += len(payload)
        frames = find_plaintext(payload)
        for frame in frames:
            name = MESSAGES[frame.msg_id].msgname
            self.hits[name] += 1
            self.frames[frame.version] += 1
            if len(self.examples) < _MAX_EXAMPLES:
                where = payload.find(frame.raw)
                self.examples.append(f"MAVLink {frame.version} {name} at byte {where} of datagram {self.datagrams}")
        return bool(frames)

    def expected_chance_hits(self, version: int) -> float:
        """Return how many hits of a MAVLink version random bytes of this amount would make at most."""
        return self.payload_bytes * _CHANCE[version]

    @property
    def leaked(self) -> bool:
        """Whether plaintext crossed: chance makes so many hits less than once in 100,000 such captures."""
        for version, found in self.frames.items():
            expected = self.expected_chance_hits(version)
            # the Poisson tail P(N >= n) is at most lambda^n / n!
            if found and math.exp(found * math.log(expected) - math.lgamma(found + 1)) < _ALPHA:
                return True
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return all counts, ready for JSON."""
        return {
            "datagrams": self.datagrams,
            "payload_bytes": self.payload_bytes,
            "plaintext_frames": sum(self.hits.values()),
            "plaintext_by_type": dict(self.hits),
            "examples": list(self.examples),
            "expected_chance_hits": self.expected_chance_hits(1) + self.expected_chance_hits(2),
            "leaked": self.leaked,
        }

# SPDX-License-Identifier: Apache-2.0
"""A vehicle's MAVLink as the shaper tells it apart: commands, transfers, streams and bulk, numbered, of 40 bytes each.

The headers are real, the payloads are a number; nobody here checks a checksum.
"""

import heapq
import random
import select
import socket
import struct
import time
from dataclasses import dataclass

COMMANDS, TRANSFERS, STREAMS, BULK = range(4)  # the shaper's classes
COMMAND_PER_S, TRANSFER_PER_S, BULK_PER_S = 8.0, 12.0, 16.0
COMMAND_ID, TRANSFER_ID, BULK_ID = 77, 22, 120  # COMMAND_ACK, PARAM_VALUE, LOG_DATA
STREAM_IDS = (1, 2, 24, 26, 27, 29, 30, 31, 32, 33, 35, 36, 62, 65, 74, 83, 85, 87, 105, 241)
MESSAGE_BYTES = 40
_HEAD = struct.Struct("<BBBBBBB3s")
_NUMBER = struct.Struct("<I")
_START, _AROUND = 0xFD, 12
_QUIET_S = 3.0  # the link's queue holds two seconds


@dataclass(frozen=True)
class Sent:
    """One message: when (s, monotonic), its class and its id."""

    at: float
    kind: int
    message_id: int


def encode(message_id: int, number: int) -> bytes:
    """A MAVLink 2 message of MESSAGE_BYTES with this number in its payload."""
    payload = _NUMBER.pack(number).ljust(MESSAGE_BYTES - _AROUND, b"\x01")
    head = _HEAD.pack(_START, len(payload), 0, 0, number & 0xFF, 1, 1, message_id.to_bytes(3, "little"))
    return head + payload + b"\0\0"


def number_of(message: bytes) -> int:
    """What `encode` was given."""
    return int(_NUMBER.unpack_from(message, _HEAD.size)[0])


class Mix:
    """What is due when: commands, transfers and bulk at random times, streams at their rate with 10 % of jitter."""

    def __init__(self, per_s: float, seed: int) -> None:
        self.sent: list[Sent] = []
        self.begun = time.monotonic()
        self._random = random.Random(seed)
        stream_hz = (per_s - COMMAND_PER_S - TRANSFER_PER_S - BULK_PER_S) / len(STREAM_IDS)
        kinds = [
            (COMMANDS, COMMAND_ID, COMMAND_PER_S),
            (TRANSFERS, TRANSFER_ID, TRANSFER_PER_S),
            (BULK, BULK_ID, BULK_PER_S),
            *((STREAMS, each, stream_hz) for each in STREAM_IDS),
        ]
        self._due = [(self.begun + self._random.random() / hz, kind, each, hz) for kind, each, hz in kinds]
        heapq.heapify(self._due)

    @property
    def next_at(self) -> float:
        """When the next message is due."""
        return self._due[0][0]

    def take(self) -> bytes:
        """The next message, sent now."""
        at, kind, message_id, hz = self._due[0]
        wait = self._random.uniform(0.9, 1.1) / hz if kind == STREAMS else self._random.expovariate(hz)
        heapq.heapreplace(self._due, (at + wait, kind, message_id, hz))
        self.sent.append(Sent(time.monotonic(), kind, message_id))
        return encode(message_id, len(self.sent) - 1)


def exchange(
    vehicle: socket.socket, to: tuple[str, int], ground: socket.socket, mix: Mix, seconds: float
) -> dict[int, float]:
    """Send what is due for so long; return when each number came."""
    arrivals: dict[int, float] = {}
    end = mix.begun + seconds
    while (now := time.monotonic()) < end + _QUIET_S:
        while mix.next_at <= now < end:
            vehicle.sendto(mix.take(), to)
        until = min(mix.next_at, end) if now < end else end + _QUIET_S
        if select.select([ground], [], [], max(0.0, until - time.monotonic()))[0]:
            message = ground.recv(4096)
            arrivals.setdefault(number_of(message), time.monotonic())
    return arrivals

# SPDX-License-Identifier: Apache-2.0
"""Sealing and opening datagrams under one key (docs/protocol.md section 10)."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from . import aead, control
from .errors import KeyExhaustedError, MalformedError
from .keyschedule import SessionKeys
from .replay import DEFAULT_BITS, SEQUENCE_LIMIT, ReplayWindow, Verdict

VERSION = 3
KIND_DATA, KIND_CONTROL = 0, 1
HEADER = struct.Struct("!B4s8sQB")
OVERHEAD_BYTES = HEADER.size + aead.TAG_BYTES
DEFAULT_MAX_PAYLOAD_BYTES = 1432
LARGEST_UDP_PAYLOAD_BYTES = 65507  # what one IPv4 datagram can carry


class Direction(enum.Enum):
    """Drone to gcs, or gcs to drone."""

    D2G = "d2g"
    G2D = "g2d"


class Outcome(enum.Enum):
    """The one fate of a received datagram; the values are the names of the counters."""

    DELIVERED = "delivered"
    CONTROL = "control"
    MALFORMED = "drop_malformed"
    UNKNOWN = "drop_unknown"
    SEQ_OLD = "drop_seq_old"
    REPLAY = "drop_replay"
    AUTH_FAIL = "drop_auth_fail"
    DECRYPT_FAIL = "drop_decrypt_fail"


@dataclass(frozen=True)
class Header:
    """The 22 bytes in front of every ciphertext, all of them authenticated."""

    kind: int
    ids: bytes
    session_id: bytes
    sequence: int
    epoch: int

    def pack(self) -> bytes:
        """The bytes on the wire."""
        return HEADER.pack(self.kind << 4 | VERSION, self.ids, self.session_id, self.sequence, self.epoch)

    @classmethod
    def parse(cls, datagram: bytes, longest: int = LARGEST_UDP_PAYLOAD_BYTES) -> Header:
        """Raises MalformedError on a wrong length, version or type."""
        if not OVERHEAD_BYTES <= len(datagram) <= longest:
            raise MalformedError(f"a datagram of {len(datagram)} bytes, expected {OVERHEAD_BYTES} to {longest}")
        first, ids, session_id, sequence, epoch = HEADER.unpack_from(datagram)
        if first & 0x0F != VERSION or first >> 4 not in (KIND_DATA, KIND_CONTROL):
            raise MalformedError(f"a datagram starts with {first:#04x}, which is no type of version {VERSION}")
        return cls(first >> 4, ids, session_id, sequence, epoch)


def _key(keys: SessionKeys, direction: Direction) -> bytes:
    return keys.k_d2g if direction is Direction.D2G else keys.k_g2d


class SendKey:
    """Seals under the key of one direction; each sequence number is used once."""

    def __init__(self, keys: SessionKeys, direction: Direction, next_sequence: int = 0) -> None:
        self.keys = keys
        self._key = _key(keys, direction)
        self.next_sequence = next_sequence

    def seal(self, payload: bytes, *, kind: int = KIND_DATA) -> bytes:
        """One datagram. Raises KeyExhaustedError once 2^48 numbers are used."""
        sequence = self.next_sequence
        if sequence >= SEQUENCE_LIMIT:
            raise KeyExhaustedError(f"epoch {self.keys.epoch} has no sequence number left: rekey")
        self.next_sequence += 1
        suite, epoch = self.keys.suite, self.keys.epoch
        header = Header(kind, suite.header_ids, self.keys.session_id, sequence, epoch).pack()
        return header + aead.seal(suite.aead, self._key, epoch, sequence, header, payload)

    def seal_control(self, *tlvs: control.Tlv) -> bytes:
        """One control datagram with these TLVs."""
        return self.seal(control.encode(*tlvs), kind=KIND_CONTROL)


class ReceiveKey:
    """Opens under the key of one direction and remembers what it has seen."""

    def __init__(self, keys: SessionKeys, direction: Direction, window_bits: int = DEFAULT_BITS) -> None:
        self.keys = keys
        self._key = _key(keys, direction)
        self.window = ReplayWindow(window_bits)

    def open(self, datagram: bytes) -> tuple[Outcome, bytes]:
        """(outcome, plaintext). The plaintext is empty unless the outcome is DELIVERED or CONTROL."""
        try:
            header = Header.parse(datagram)
        except MalformedError:
            return Outcome.MALFORMED, b""
        if (header.session_id, header.epoch) != (self.keys.session_id, self.keys.epoch):
            return Outcome.UNKNOWN, b""
        return self.open_parsed(header, datagram)

    def open_parsed(self, header: Header, datagram: bytes) -> tuple[Outcome, bytes]:
        """The same for a header that is parsed and is of this session and epoch."""
        suite = self.keys.suite
        if header.ids != suite.header_ids:
            return Outcome.MALFORMED, b""
        verdict = self.window.check(header.sequence)
        if verdict is not Verdict.NEW:
            return (Outcome.SEQ_OLD if verdict is Verdict.OLD else Outcome.REPLAY), b""
        aad, sealed = datagram[: HEADER.size], datagram[HEADER.size :]
        plaintext = aead.open_sealed(suite.aead, self._key, header.epoch, header.sequence, aad, sealed)
        if plaintext is None:
            return Outcome.AUTH_FAIL, b""
        self.window.accept(header.sequence)
        if header.kind == KIND_DATA:
            return Outcome.DELIVERED, plaintext
        try:
            control.decode(plaintext)
        except MalformedError:
            return Outcome.DECRYPT_FAIL, b""
        return Outcome.CONTROL, plaintext

# SPDX-License-Identifier: Apache-2.0
"""Sealing and opening datagrams under one key (docs/protocol.md section 10)."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from . import aead, bundle, control
from .errors import KeyExhaustedError, MalformedError
from .keyschedule import FEATURE_BUNDLES, FEATURE_COMPACT, SessionKeys
from .replay import DEFAULT_BITS, SEQUENCE_LIMIT, ReplayWindow, Verdict

VERSION = 3
KIND_DATA, KIND_CONTROL, KIND_BUNDLE = 0, 1, 2
HEADER = struct.Struct("!B4s8sQB")
COMPACT, COMPACT_CONTROL, COMPACT_BUNDLE, COMPACT_WIDE, COMPACT_ZERO = 0x80, 0x40, 0x20, 0x10, 0x0F
COMPACT_BOTH = COMPACT_CONTROL | COMPACT_BUNDLE
COMPACT_LAG = 16_384
KEY_PACKETS = 1 << 29
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
        if first & 0x0F != VERSION or first >> 4 not in (KIND_DATA, KIND_CONTROL, KIND_BUNDLE):
            raise MalformedError(f"a datagram starts with {first:#04x}, which is no type of version {VERSION}")
        return cls(first >> 4, ids, session_id, sequence, epoch)


@dataclass(frozen=True)
class CompactHeader:
    """The short form: what stands for the long header at an end that holds `index`."""

    kind: int
    index: int
    sequence: int  # the low 16 bits

    def pack(self) -> bytes:
        """The bytes on the wire: 4, or 5 with an index above 255."""
        first = COMPACT | {KIND_DATA: 0, KIND_CONTROL: COMPACT_CONTROL, KIND_BUNDLE: COMPACT_BUNDLE}[self.kind]
        if self.index > 0xFF:
            return struct.pack("!BHH", first | COMPACT_WIDE, self.index, self.sequence)
        return struct.pack("!BBH", first, self.index, self.sequence)

    @property
    def size(self) -> int:
        """How many bytes `pack` gives."""
        return 5 if self.index > 0xFF else 4

    @classmethod
    def parse(cls, datagram: bytes, longest_payload: int = LARGEST_UDP_PAYLOAD_BYTES) -> CompactHeader:
        """Raises MalformedError on another form, a wrong length, or an index in the wrong width."""
        first = datagram[0] if datagram else 0
        wide = bool(first & COMPACT_WIDE)
        head = 5 if wide else 4
        if not first & COMPACT or first & COMPACT_ZERO or first & COMPACT_BOTH == COMPACT_BOTH:
            raise MalformedError(f"a datagram starts with {first:#04x}, which is no compact header")
        if not head + aead.TAG_BYTES <= len(datagram) <= head + aead.TAG_BYTES + longest_payload:
            raise MalformedError(f"a compact frame of {len(datagram)} bytes")
        index = int.from_bytes(datagram[1 : head - 2], "big")
        if wide and index <= 0xFF:
            raise MalformedError(f"index {index} takes one byte, not two")
        kind = KIND_CONTROL if first & COMPACT_CONTROL else KIND_BUNDLE if first & COMPACT_BUNDLE else KIND_DATA
        return cls(kind, index, int.from_bytes(datagram[head - 2 : head], "big"))


def is_compact(datagram: bytes) -> bool:
    """Whether the first byte announces the compact form."""
    return bool(datagram) and datagram[0] >= COMPACT


def nearest_sequence(low: int, highest: int) -> int:
    """The number congruent to `low` modulo 2^16 that is nearest to highest + 1, the larger of two, none below 0."""
    expected = highest + 1
    lap = expected - expected % 0x10000
    candidates = [lap + turn * 0x10000 + low for turn in (-1, 0, 1)]
    return min((c for c in candidates if c >= 0), key=lambda c: (abs(c - expected), -c))


def _key(keys: SessionKeys, direction: Direction) -> bytes:
    return keys.k_d2g if direction is Direction.D2G else keys.k_g2d


class SendKey:
    """Seals under the key of one direction; each sequence number is used once.

    `seen` is the highest sequence of this key that the peer reported (SEEN), -1 before.
    """

    def __init__(self, keys: SessionKeys, direction: Direction, next_sequence: int = 0) -> None:
        self.keys = keys
        self._key = _key(keys, direction)
        self.next_sequence = next_sequence
        self.packets = 0
        self.seen = -1

    def peer_has_seen(self, highest: int) -> None:
        """A SEEN that came under this key's session; one beyond what was sent says nothing."""
        if highest < self.next_sequence:
            self.seen = max(self.seen, highest)

    def seal(self, payload: bytes, *, kind: int = KIND_DATA, long_form: bool = False) -> bytes:
        """One datagram, compact where that is agreed and allowed. Raises KeyExhaustedError after 2^29."""
        sequence = self.next_sequence
        if sequence >= SEQUENCE_LIMIT or self.packets >= KEY_PACKETS:
            raise KeyExhaustedError(f"epoch {self.keys.epoch} has no sequence number left: rekey")
        is_short = self.keys.features & FEATURE_COMPACT and not long_form and sequence - self.seen < COMPACT_LAG
        self.next_sequence += 1
        self.packets += 1
        suite, epoch = self.keys.suite, self.keys.epoch
        header = Header(kind, suite.header_ids, self.keys.session_id, sequence, epoch).pack()
        sealed = aead.seal(suite.aead, self._key, epoch, sequence, header, payload)
        if is_short:
            header = CompactHeader(kind, self.keys.peer_index, sequence & 0xFFFF).pack()
        return header + sealed

    def seal_control(self, *tlvs: control.Tlv) -> bytes:
        """One control datagram with these TLVs."""
        return self.seal(control.encode(*tlvs), kind=KIND_CONTROL)


class ReceiveKey:
    """Opens under the key of one direction and remembers what it has seen."""

    def __init__(self, keys: SessionKeys, direction: Direction, window_bits: int = DEFAULT_BITS) -> None:
        self.keys = keys
        self._key = _key(keys, direction)
        self.window = ReplayWindow(window_bits)
        self._tags = [b""] * window_bits  # of the packets in the window, their last four bytes
        self.used_twice = False
        self.packets = 0

    def open(self, datagram: bytes) -> tuple[Outcome, bytes]:
        """(outcome, plaintext). The plaintext is empty unless the outcome is DELIVERED or CONTROL.

        That of a bundle is its whole content.
        """
        try:
            if is_compact(datagram):
                return self._open_compact(datagram)
            header = Header.parse(datagram)
        except MalformedError:
            return Outcome.MALFORMED, b""
        if (header.session_id, header.epoch) != (self.keys.session_id, self.keys.epoch):
            return Outcome.UNKNOWN, b""
        return self.open_parsed(header, datagram[HEADER.size :])

    def _open_compact(self, datagram: bytes) -> tuple[Outcome, bytes]:
        if not self.keys.features & FEATURE_COMPACT:
            return Outcome.MALFORMED, b""
        short = CompactHeader.parse(datagram)
        if short.index != self.keys.own_index:
            return Outcome.UNKNOWN, b""
        return self.open_parsed(self.header_of(short), datagram[short.size :])

    def header_of(self, short: CompactHeader) -> Header:
        """The long header that a compact one for this key stands for."""
        keys, sequence = self.keys, nearest_sequence(short.sequence, self.window.highest)
        return Header(short.kind, keys.suite.header_ids, keys.session_id, sequence, keys.epoch)

    def verifies(self, header: Header, sealed: bytes) -> bool:
        """Whether the tag does, whatever the window says; nothing changes."""
        suite = self.keys.suite
        return aead.open_sealed(suite.aead, self._key, header.epoch, header.sequence, header.pack(), sealed) is not None

    def open_parsed(self, header: Header, sealed: bytes) -> tuple[Outcome, bytes]:
        """The same for what follows a header that is parsed and is of this session and epoch."""
        suite = self.keys.suite
        if header.ids != suite.header_ids:
            return Outcome.MALFORMED, b""
        if header.kind == KIND_BUNDLE and not self.keys.features & FEATURE_BUNDLES:
            return Outcome.MALFORMED, b""
        verdict = self.window.check(header.sequence)
        if verdict is Verdict.SEEN:
            # Another packet under a number that was used: its maker has the key and counts anew.
            other = self._tags[header.sequence % len(self._tags)] != sealed[-4:]
            self.used_twice |= other and self.verifies(header, sealed)
        if verdict is not Verdict.NEW:
            return (Outcome.SEQ_OLD if verdict is Verdict.OLD else Outcome.REPLAY), b""
        plaintext = aead.open_sealed(suite.aead, self._key, header.epoch, header.sequence, header.pack(), sealed)
        if plaintext is None or self.used_twice or self.packets >= KEY_PACKETS:
            return Outcome.AUTH_FAIL, b""
        self.packets += 1
        self.window.accept(header.sequence)
        self._tags[header.sequence % len(self._tags)] = sealed[-4:]
        if header.kind == KIND_DATA:
            return Outcome.DELIVERED, plaintext
        try:
            if header.kind == KIND_BUNDLE:
                bundle.decode(plaintext)
                return Outcome.DELIVERED, plaintext
            control.decode(plaintext)
        except MalformedError:
            return Outcome.DECRYPT_FAIL, b""
        return Outcome.CONTROL, plaintext

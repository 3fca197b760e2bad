# SPDX-License-Identifier: Apache-2.0
"""The bodies of the handshake messages and how long each may be (docs/protocol.md section 4)."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, replace

from .encoding import Limits, Reader, frame, frame_body, lp, u8, u16, u32
from .errors import MalformedError
from .oqs_library import kem_sizes, sig_sizes
from .primitives import X25519_BYTES
from .suites import Suite

NONCE_BYTES = MAC_BYTES = 32
SESSION_ID_BYTES = 8
NO_SESSION = bytes(SESSION_ID_BYTES)
MAX_ID_BYTES = 32
MAX_NAME_BYTES = 64
ID_FORM = re.compile(rb"[a-z0-9_-]{1,32}")
FLAG_HYBRID, FLAG_DRONE_SIGNS, FLAG_STANDBY = 1, 2, 4
FEATURE_STATIONS, FEATURE_PATHS = 8, 16
SMALLEST_DATAGRAM_BYTES, LARGEST_DATAGRAM_BYTES = 548, 1200
RETURN_PROOF_BYTES = 28


M0 = frame(0, b"PQMAV/3\0" + bytes(32))
"""The constant in front of every transcript; it is never sent."""


class MessageType(enum.IntEnum):
    """The type byte of a handshake frame."""

    CLIENT_HELLO = 1
    SERVER_HELLO = 2
    CLIENT_FINISH = 3
    SERVER_FINISH = 4
    RATCHET_HELLO = 5
    RATCHET_ANSWER = 6
    REJECT = 9


class RejectCode(enum.IntEnum):
    """Why a gcs refuses a drone that passed the gate."""

    SUITE_UNKNOWN = 1
    SUITE_NOT_ALLOWED = 2
    ALGORITHM_UNAVAILABLE = 3
    EPOCH = 4
    BUSY = 5


class Lacks(enum.IntFlag):
    """What of a suite a gcs has not: in the `retry_ms` of Reject 3."""

    KEM = 1
    SIGNATURE = 2
    SIGNING_KEY = 4


_HELLO_FIXED = 6 * 4 + NONCE_BYTES + 1 + SESSION_ID_BYTES + 1 + 2 + 1 + 2 + 4 + MAC_BYTES
CLIENT_HELLO_LIMITS: Limits = (
    _HELLO_FIXED + 2,
    _HELLO_FIXED + 2 * MAX_ID_BYTES + 3 * MAX_NAME_BYTES + RETURN_PROOF_BYTES,
)
SERVER_FINISH_LIMITS: Limits = (MAC_BYTES, MAC_BYTES)
REJECT_LIMITS: Limits = (1 + 2 + MAC_BYTES,) * 2


def server_hello_limits(suite: Suite, hybrid: bool) -> Limits:
    """Shortest and longest ServerHello body; they differ by the signature, whose length may vary (Falcon)."""
    fixed = SESSION_ID_BYTES + NONCE_BYTES + 1 + 2 + 2 + 3 * 4 + kem_sizes(suite.kem)[0] + X25519_BYTES * hybrid
    return fixed, fixed + sig_sizes(suite.sig)[2]


def client_finish_limits(suite: Suite, hybrid: bool, drone_signs: bool) -> Limits:
    """Shortest and longest ClientFinish body."""
    fixed = 3 * 4 + kem_sizes(suite.kem)[1] + X25519_BYTES * hybrid + MAC_BYTES
    return fixed, fixed + sig_sizes(suite.sig)[2] * drone_signs


@dataclass(frozen=True)
class ClientHello:
    """M1. Names stay bytes here: what they mean is decided only behind the gate."""

    drone_id: bytes
    gcs_id: bytes
    client_nonce: bytes
    suite_id: bytes
    kem_name: bytes
    sig_name: bytes
    flags: int
    prev_session: bytes
    epoch: int
    features: int = 0
    index: int = 0
    max_datagram: int = LARGEST_DATAGRAM_BYTES
    term: int = 0
    return_proof: bytes = b""
    gate: bytes = bytes(MAC_BYTES)

    @property
    def hybrid(self) -> bool:
        """Whether X25519 takes part."""
        return bool(self.flags & FLAG_HYBRID)

    @property
    def drone_signs(self) -> bool:
        """Whether ClientFinish carries a drone signature."""
        return bool(self.flags & FLAG_DRONE_SIGNS)

    @property
    def standby(self) -> bool:
        """Whether the session begins as standby."""
        return bool(self.flags & FLAG_STANDBY)

    def frame(self) -> bytes:
        """The whole frame."""
        who = lp(self.drone_id) + lp(self.gcs_id) + self.client_nonce
        named = lp(self.suite_id) + lp(self.kem_name) + lp(self.sig_name)
        place = u8(self.flags) + self.prev_session + u8(self.epoch)
        options = u16(self.features) + u8(self.index) + u16(self.max_datagram) + u32(self.term) + lp(self.return_proof)
        return frame(MessageType.CLIENT_HELLO, who + named + place + options + self.gate)

    def frame_without_gate(self) -> bytes:
        """`M1-`: the frame without its last 32 bytes, which its header still counts."""
        return self.frame()[:-MAC_BYTES]

    def with_gate(self, gate: bytes) -> ClientHello:
        """A copy that carries this gate."""
        return replace(self, gate=gate)

    @classmethod
    def parse(cls, whole_frame: bytes) -> ClientHello:
        """Raises MalformedError, also for an id of other characters and for unknown flag bits."""
        reader = Reader(frame_body(whole_frame))
        message = cls(
            drone_id=reader.lp("drone_id", 1, MAX_ID_BYTES),
            gcs_id=reader.lp("gcs_id", 1, MAX_ID_BYTES),
            client_nonce=reader.take(NONCE_BYTES, "client nonce"),
            suite_id=reader.lp("suite id", 0, MAX_NAME_BYTES),
            kem_name=reader.lp("KEM name", 0, MAX_NAME_BYTES),
            sig_name=reader.lp("SIG name", 0, MAX_NAME_BYTES),
            flags=reader.u8("flags"),
            prev_session=reader.take(SESSION_ID_BYTES, "previous session"),
            epoch=reader.u8("epoch"),
            features=reader.u16("features"),
            index=reader.u8("index"),
            max_datagram=reader.u16("largest datagram"),
            term=reader.u32("term"),
            return_proof=reader.lp("return proof", 0, RETURN_PROOF_BYTES),
            gate=reader.take(MAC_BYTES, "gate"),
        )
        reader.end()
        if not (ID_FORM.fullmatch(message.drone_id) and ID_FORM.fullmatch(message.gcs_id)):
            raise MalformedError("the drone_id or gcs_id has characters beyond [a-z0-9_-]")
        if message.flags & ~(FLAG_HYBRID | FLAG_DRONE_SIGNS | FLAG_STANDBY):
            raise MalformedError(f"flags {message.flags:#04x} have bits that mean nothing")
        if message.standby and not message.features & FEATURE_STATIONS:
            raise MalformedError("a session may begin as standby only with the feature of roles")
        if message.max_datagram < SMALLEST_DATAGRAM_BYTES:
            raise MalformedError(f"a largest datagram of {message.max_datagram} bytes is below 548")
        if len(message.return_proof) not in (0, RETURN_PROOF_BYTES):
            raise MalformedError(f"a return proof has 0 or 28 bytes, not {len(message.return_proof)}")
        return message


@dataclass(frozen=True)
class ServerHello:
    """M2: the ephemeral keys of the gcs, signed."""

    session_id: bytes
    server_nonce: bytes
    epoch: int
    kem_public: bytes
    x25519_public: bytes
    signature: bytes = b""
    features: int = 0
    index: int = 0

    def unsigned_body(self) -> bytes:
        """`M2-`: the body up to its last field lp(signature)."""
        fixed = self.session_id + self.server_nonce + u8(self.epoch) + u16(self.features) + u16(self.index)
        return fixed + lp(self.kem_public) + lp(self.x25519_public)

    def frame(self) -> bytes:
        """The whole frame."""
        return frame(MessageType.SERVER_HELLO, self.unsigned_body() + lp(self.signature))

    @classmethod
    def parse(cls, whole_frame: bytes, suite: Suite, hybrid: bool, offered: int = 0) -> ServerHello:
        """Raises MalformedError; the sizes of suite and mode are exact but for the signature's.

        `offered` are the features of M1.
        """
        reader = Reader(frame_body(whole_frame))
        kem_bytes, x25519_bytes = kem_sizes(suite.kem)[0], X25519_BYTES * hybrid
        message = cls(
            session_id=reader.take(SESSION_ID_BYTES, "session_id"),
            server_nonce=reader.take(NONCE_BYTES, "server nonce"),
            epoch=reader.u8("epoch"),
            features=reader.u16("features"),
            index=reader.u16("index"),
            kem_public=reader.lp("KEM public key", kem_bytes, kem_bytes),
            x25519_public=reader.lp("X25519 public key", x25519_bytes, x25519_bytes),
            signature=reader.lp("signature", 1, sig_sizes(suite.sig)[2]),
        )
        reader.end()
        if message.features & ~offered:
            raise MalformedError(f"the ServerHello has features {message.features:#06x}; offered were {offered:#06x}")
        return message


@dataclass(frozen=True)
class ClientFinish:
    """M3: the drone's half of the key agreement and its proof of the keys."""

    kem_ciphertext: bytes
    x25519_public: bytes
    drone_signature: bytes
    confirm: bytes

    def frame(self) -> bytes:
        """The whole frame."""
        body = lp(self.kem_ciphertext) + lp(self.x25519_public) + lp(self.drone_signature) + self.confirm
        return frame(MessageType.CLIENT_FINISH, body)

    @classmethod
    def parse(cls, whole_frame: bytes, suite: Suite, hybrid: bool, drone_signs: bool) -> ClientFinish:
        """Raises MalformedError; a signature is there exactly when the ClientHello announced one."""
        reader = Reader(frame_body(whole_frame))
        ct_bytes, x25519_bytes = kem_sizes(suite.kem)[1], X25519_BYTES * hybrid
        longest_signature = sig_sizes(suite.sig)[2] * drone_signs
        message = cls(
            kem_ciphertext=reader.lp("KEM ciphertext", ct_bytes, ct_bytes),
            x25519_public=reader.lp("X25519 public key", x25519_bytes, x25519_bytes),
            drone_signature=reader.lp("drone signature", int(drone_signs), longest_signature),
            confirm=reader.take(MAC_BYTES, "confirmation"),
        )
        reader.end()
        return message


def server_finish(confirm: bytes) -> bytes:
    """M4 as a whole frame."""
    return frame(MessageType.SERVER_FINISH, confirm)


@dataclass(frozen=True)
class Reject:
    """In place of M2: why not, when to ask again (code 5), and a mac that only holders of the PSK can make."""

    code: int
    retry_ms: int
    mac: bytes

    def frame(self) -> bytes:
        """The whole frame."""
        return frame(MessageType.REJECT, u8(self.code) + u16(self.retry_ms) + self.mac)

    @classmethod
    def parse(cls, whole_frame: bytes) -> Reject:
        """Raises MalformedError."""
        reader = Reader(frame_body(whole_frame))
        message = cls(reader.u8("code"), reader.u16("retry time"), reader.take(MAC_BYTES, "mac"))
        reader.end()
        return message

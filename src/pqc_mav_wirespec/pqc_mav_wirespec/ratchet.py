# SPDX-License-Identifier: Apache-2.0
"""The ratchet without sockets: fresh keys out of a running session in two messages (docs/protocol.md section 7)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from . import keyschedule as ks
from .encoding import Limits, Reader, frame, frame_body, frame_type, lp, u8, u16
from .errors import AuthenticationError, MalformedError, RejectedError
from .handshake import Party, RandomBytes
from .messages import MAC_BYTES, NO_SESSION, NONCE_BYTES, REJECT_LIMITS, SESSION_ID_BYTES, MessageType, Reject
from .messages import RejectCode as Code
from .oqs_library import kem_decapsulate, kem_encapsulate, kem_keypair, kem_sizes
from .primitives import X25519_BYTES, same, x25519_public, x25519_shared
from .suites import KEMS, Kem, Suite

FRESH_X25519, FRESH_KEM = 1, 2
IN_A_ROW = 8
LARGEST_KEM_PUBLIC = 1568
HELLO_FIXED = 1 + 1 + NONCE_BYTES + 2 * 4
ANSWER_FIXED = SESSION_ID_BYTES + 2 + NONCE_BYTES + 2 * 4 + MAC_BYTES
HELLO_LIMITS: Limits = (HELLO_FIXED, HELLO_FIXED + X25519_BYTES + LARGEST_KEM_PUBLIC)


def kem_of(suite: Suite) -> Kem:
    """The KEM of fresh shares: ML-KEM of the suite's level."""
    token = {1: "mlkem512", 3: "mlkem768", 5: "mlkem1024"}[suite.kem.level]
    return next(kem for kem in KEMS if kem.token == token)


def flags_of(hybrid: bool, fresh: bool) -> int:
    """The flags of R1 in this mode."""
    return (FRESH_KEM | FRESH_X25519 * hybrid) * fresh


def may_ratchet(running: ks.SessionKeys, key_old: bool) -> bool:
    """Whether this session may be ratcheted once more."""
    return bool(running.features & ks.FEATURE_RATCHET) and running.ratchets < IN_A_ROW and not key_old


@dataclass(frozen=True)
class RatchetHello:
    """R1."""

    flags: int
    index: int
    nonce: bytes
    x25519_public: bytes = b""
    kem_public: bytes = b""

    def frame(self) -> bytes:
        """The whole frame."""
        fixed = u8(self.flags) + u8(self.index) + self.nonce
        return frame(MessageType.RATCHET_HELLO, fixed + lp(self.x25519_public) + lp(self.kem_public))

    @classmethod
    def parse(cls, whole_frame: bytes) -> RatchetHello:
        """Raises MalformedError where flags and fields disagree; the length of the KEM key is not judged."""
        reader = Reader(frame_body(whole_frame))
        flags = reader.u8("flags")
        if flags & ~(FRESH_X25519 | FRESH_KEM):
            raise MalformedError(f"flags {flags:#04x} of a ratchet have bits that mean nothing")
        x25519_bytes = X25519_BYTES * bool(flags & FRESH_X25519)
        kem_least, kem_most = (1, LARGEST_KEM_PUBLIC) if flags & FRESH_KEM else (0, 0)
        message = cls(
            flags,
            reader.u8("index"),
            reader.take(NONCE_BYTES, "nonce"),
            reader.lp("X25519 public key", x25519_bytes, x25519_bytes),
            reader.lp("KEM public key", kem_least, kem_most),
        )
        reader.end()
        return message


@dataclass(frozen=True)
class RatchetAnswer:
    """R2."""

    session_id: bytes
    index: int
    nonce: bytes
    x25519_public: bytes = b""
    kem_ciphertext: bytes = b""
    confirm: bytes = bytes(MAC_BYTES)

    def frame(self) -> bytes:
        """The whole frame."""
        fixed = self.session_id + u16(self.index) + self.nonce
        return frame(
            MessageType.RATCHET_ANSWER, fixed + lp(self.x25519_public) + lp(self.kem_ciphertext) + self.confirm
        )

    @classmethod
    def parse(cls, whole_frame: bytes, flags: int, kem: Kem) -> RatchetAnswer:
        """The answer to these flags. Raises MalformedError."""
        reader = Reader(frame_body(whole_frame))
        x25519_bytes = X25519_BYTES * bool(flags & FRESH_X25519)
        ct_bytes = kem_sizes(kem)[1] * bool(flags & FRESH_KEM)
        message = cls(
            reader.take(SESSION_ID_BYTES, "session_id"),
            reader.u16("index"),
            reader.take(NONCE_BYTES, "nonce"),
            reader.lp("X25519 public key", x25519_bytes, x25519_bytes),
            reader.lp("KEM ciphertext", ct_bytes, ct_bytes),
            reader.take(MAC_BYTES, "confirmation"),
        )
        reader.end()
        if message.session_id == NO_SESSION:
            raise MalformedError("R2 has session_id zero, which means no session")
        return message


def answer_limits(flags: int, kem: Kem) -> Limits:
    """The one length that the body of R2 may have."""
    size = ANSWER_FIXED + X25519_BYTES * bool(flags & FRESH_X25519) + kem_sizes(kem)[1] * bool(flags & FRESH_KEM)
    return size, size


@dataclass
class RatchetTranscript:
    """Both frames and every intermediate value of one ratchet, for test vectors. Holds secrets: never print one."""

    r1: bytes = b""
    r2: bytes = b""
    th: bytes = b""
    kem_secret_key: bytes = field(default=b"", repr=False)
    x25519_scalar: bytes = field(default=b"", repr=False)
    ss_kem: bytes = field(default=b"", repr=False)
    ss_x25519: bytes = field(default=b"", repr=False)
    prk: bytes = field(default=b"", repr=False)
    k_d2g: bytes = field(default=b"", repr=False)
    k_g2d: bytes = field(default=b"", repr=False)
    k_cs: bytes = field(default=b"", repr=False)
    ck: bytes = field(default=b"", repr=False)
    confirm_s: bytes = b""

    def derive(self, psk: bytes, ck_prev: bytes, suite: Suite, session_id: bytes, epoch: int) -> None:
        """Fills th, prk, the keys and the confirmation; of R2 all but its last 32 bytes counts."""
        self.th = ks.ratchet_hash(self.r1, self.r2[:-MAC_BYTES])
        self.prk = ks.extract(psk, self.ss_kem, self.ss_x25519, ck_prev, self.th)
        self.k_d2g = ks.expand(self.prk, b"PQMAV/3 d2g", suite, session_id, epoch)
        self.k_g2d = ks.expand(self.prk, b"PQMAV/3 g2d", suite, session_id, epoch)
        self.k_cs = ks.expand(self.prk, b"PQMAV/3 confirm s", suite, session_id, epoch)
        self.ck = ks.expand(self.prk, b"PQMAV/3 chain", suite, session_id, epoch)
        self.confirm_s = ks.client_confirmation(self.k_cs, self.th)


def _following(
    running: ks.SessionKeys, t: RatchetTranscript, session_id: bytes, own_index: int, peer_index: int
) -> ks.SessionKeys:
    return replace(
        running,
        session_id=session_id,
        epoch=(running.epoch + 1) % 256,
        k_d2g=t.k_d2g,
        k_g2d=t.k_g2d,
        ck=t.ck,
        own_index=own_index,
        peer_index=peer_index,
        ratchets=running.ratchets + 1,
        standby=False,
        term=0,
    )


class RatchetInitiator(Party):
    """The drone's end. `running` are the keys of the session; nothing stops a test from asking for too much."""

    def __init__(
        self,
        running: ks.SessionKeys,
        psk: bytes,
        *,
        fresh: bool = True,
        index: int = 0,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        super().__init__(psk, random_bytes)
        self.suite = running.suite
        self.flags = flags_of(running.hybrid, fresh)
        self.ratchet = RatchetTranscript()
        self.retry_ms = 0
        self._running = running
        self._index = index if running.features & ks.FEATURE_COMPACT else 0

    def start(self) -> bytes:
        """R1."""
        t, kem = self.ratchet, kem_of(self.suite)
        nonce, x25519, kem_public = self._random(NONCE_BYTES), b"", b""
        if self.flags & FRESH_X25519:
            t.x25519_scalar = self._random(X25519_BYTES)
            x25519 = x25519_public(t.x25519_scalar)
        if self.flags & FRESH_KEM:
            kem_public, t.kem_secret_key = kem_keypair(kem)
        t.r1 = RatchetHello(self.flags, self._index, nonce, x25519, kem_public).frame()
        allowed: dict[int, Limits] = {
            MessageType.RATCHET_ANSWER: answer_limits(self.flags, kem),
            MessageType.REJECT: REJECT_LIMITS,
        }
        self._await(allowed, self._on_answer)
        return t.r1

    def _on_answer(self, whole_frame: bytes) -> bytes:
        if frame_type(whole_frame) == MessageType.REJECT:
            return self._on_reject(whole_frame)
        t, kem, running = self.ratchet, kem_of(self.suite), self._running
        answer = RatchetAnswer.parse(whole_frame, self.flags, kem)
        t.r2 = whole_frame
        if self.flags & FRESH_X25519:
            t.ss_x25519 = x25519_shared(t.x25519_scalar, answer.x25519_public)
        if self.flags & FRESH_KEM:
            t.ss_kem = kem_decapsulate(kem, t.kem_secret_key, answer.kem_ciphertext)
        t.derive(self._psk, running.ck, self.suite, answer.session_id, (running.epoch + 1) % 256)
        if not same(answer.confirm, t.confirm_s):
            raise AuthenticationError("the confirmation of the gcs does not verify")
        self.keys = _following(running, t, answer.session_id, self._index, answer.index)
        self._end()
        return b""

    def _on_reject(self, whole_frame: bytes) -> bytes:
        reject = Reject.parse(whole_frame)
        if same(reject.mac, ks.ratchet_reject_mac(self._psk, self.ratchet.r1, reject.code, reject.retry_ms)):
            raise RejectedError(reject.code, "no ratchet of this session now", reject.retry_ms)
        return b""


class RatchetResponder(Party):
    """The gcs' end. `key_old`: the last full handshake is longer ago than key_limit_s. `avoid` has the bits of families
    with which no keys are made. `new_index` gives its index."""

    def __init__(
        self,
        running: ks.SessionKeys,
        psk: bytes,
        *,
        key_old: bool = False,
        avoid: int = 0,
        new_index: Callable[[], int] = lambda: 0,
        random_bytes: RandomBytes = secrets.token_bytes,
    ) -> None:
        super().__init__(psk, random_bytes)
        self.ratchet = RatchetTranscript()
        self.session_id = b""
        self._running, self._key_old, self._avoid, self._new_index = running, key_old, avoid, new_index
        self._await({MessageType.RATCHET_HELLO: HELLO_LIMITS}, self._on_hello)

    def _on_hello(self, r1: bytes) -> bytes:
        hello, t, running = RatchetHello.parse(r1), self.ratchet, self._running
        t.r1 = r1
        families = running.suite.families | (1 << (kem_of(running.suite).family_id - 1) if hello.kem_public else 0)
        if families & self._avoid:
            return self._reject(r1, Code.SUITE_NOT_ALLOWED, self._avoid)
        if not self._allows(hello):
            return self._reject(r1, Code.EPOCH)
        session_id = self._random(SESSION_ID_BYTES)
        nonce, x25519, ciphertext = self._random(NONCE_BYTES), b"", b""
        if hello.flags & FRESH_X25519:
            t.x25519_scalar = self._random(X25519_BYTES)
            x25519 = x25519_public(t.x25519_scalar)
            t.ss_x25519 = x25519_shared(t.x25519_scalar, hello.x25519_public)
        if hello.flags & FRESH_KEM:
            ciphertext, t.ss_kem = kem_encapsulate(kem_of(running.suite), hello.kem_public)
        index = self._new_index() if running.features & ks.FEATURE_COMPACT else 0
        answer = RatchetAnswer(session_id, index, nonce, x25519, ciphertext)
        t.r2 = answer.frame()
        t.derive(self._psk, running.ck, running.suite, session_id, (running.epoch + 1) % 256)
        t.r2 = replace(answer, confirm=t.confirm_s).frame()
        self.session_id = session_id
        self.keys = _following(running, t, session_id, index, hello.index)
        self._end()
        return t.r2

    def _reject(self, r1: bytes, code: Code, detail: int = 0) -> bytes:
        self._end(RejectedError(code, "no ratchet of this session now", detail))
        return Reject(code, detail, ks.ratchet_reject_mac(self._psk, r1, code, detail)).frame()

    def _allows(self, hello: RatchetHello) -> bool:
        running = self._running
        if not may_ratchet(running, self._key_old) or hello.flags not in (0, flags_of(running.hybrid, True)):
            return False
        return not hello.kem_public or len(hello.kem_public) == kem_sizes(kem_of(running.suite))[0]

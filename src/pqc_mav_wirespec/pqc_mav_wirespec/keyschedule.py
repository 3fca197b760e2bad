# SPDX-License-Identifier: Apache-2.0
"""From the handshake's frames and secrets to keys (the formulas of docs/protocol.md section 4, one function each)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .encoding import lp, u8, u16
from .messages import M0
from .primitives import hkdf_expand, hkdf_extract, hmac, sha256
from .suites import Suite

SIGN_LABEL = b"PQMAV/3 server hello"
FEATURE_COMPACT, FEATURE_BUNDLES, FEATURE_RATCHET = 1, 2, 4
DRONE_SIGN_LABEL = b"PQMAV/3 client finish"


def gate_key(psk: bytes) -> bytes:
    """`HKDF-Expand(PSK, "PQMAV/3 gate", 32)`."""
    return hkdf_expand(psk, b"PQMAV/3 gate", 32)


def gate(key: bytes, m0: bytes, m1_without_gate: bytes) -> bytes:
    """`HMAC(gate key, M0 || M1-)`."""
    return hmac(key, m0 + m1_without_gate)


def reject_mac(psk: bytes, m0: bytes, m1: bytes, code: int, retry_ms: int) -> bytes:
    """`HMAC(HKDF-Expand(PSK, "PQMAV/3 reject", 32), SHA-256(M0 || M1) || code || retry_ms)`."""
    return _refusal_mac(psk, sha256(m0 + m1), code, retry_ms)


def ratchet_reject_mac(psk: bytes, r1: bytes, code: int, retry_ms: int) -> bytes:
    """The same over `SHA-256(R1)`."""
    return _refusal_mac(psk, sha256(r1), code, retry_ms)


def _refusal_mac(psk: bytes, refused: bytes, code: int, retry_ms: int) -> bytes:
    return hmac(hkdf_expand(psk, b"PQMAV/3 reject", 32), refused + u8(code) + u16(retry_ms))


def ratchet_hash(r1: bytes, r2_unconfirmed: bytes) -> bytes:
    """`th = SHA-256("PQMAV/3 ratchet" || R1 || R2-)`."""
    return sha256(b"PQMAV/3 ratchet" + r1 + r2_unconfirmed)


def server_hello_hash(m0: bytes, m1: bytes, m2_unsigned_body: bytes) -> bytes:
    """`SHA-256(M0 || M1 || M2-)`, what the gcs signs behind SIGN_LABEL."""
    return sha256(m0 + m1 + m2_unsigned_body)


def hash_2(m0: bytes, m1: bytes, m2: bytes) -> bytes:
    """`h2 = SHA-256(M0 || M1 || M2)`."""
    return sha256(m0 + m1 + m2)


def hash_3(h2: bytes, kem_ciphertext: bytes, x25519_public: bytes) -> bytes:
    """`h3 = SHA-256(h2 || lp(KEM ciphertext) || lp(X25519 public key of the drone))`."""
    return sha256(h2 + lp(kem_ciphertext) + lp(x25519_public))


def transcript_3(h3: bytes, drone_signature: bytes | None) -> bytes:
    """`t3`: h3 itself, or with a drone signature `SHA-256(h3 || lp(sig_d))`."""
    return h3 if drone_signature is None else sha256(h3 + lp(drone_signature))


def extract(psk: bytes, kem_secret: bytes, x25519_secret: bytes, ck_prev: bytes, h3: bytes) -> bytes:
    """`prk = HKDF-Extract(PSK, lp(ss_kem) || lp(ss_x25519) || lp(ck_prev) || h3)`.

    `x25519_secret` is empty in pure mode, `ck_prev` in a first handshake.
    """
    return hkdf_extract(psk, lp(kem_secret) + lp(x25519_secret) + lp(ck_prev) + h3)


def expand(prk: bytes, label: bytes, suite: Suite, session_id: bytes, epoch: int) -> bytes:
    """`K(label) = HKDF-Expand(prk, label || lp(suite id) || session_id || epoch, 32)`."""
    return hkdf_expand(prk, label + lp(suite.id.encode("ascii")) + session_id + u8(epoch), 32)


def client_confirmation(k_cc: bytes, t3: bytes) -> bytes:
    """`confirm_c = HMAC(k_cc, t3)`."""
    return hmac(k_cc, t3)


def server_confirmation(k_cs: bytes, t3: bytes, confirm_c: bytes) -> bytes:
    """`confirm_s = HMAC(k_cs, SHA-256(t3 || confirm_c))`."""
    return hmac(k_cs, sha256(t3 + confirm_c))


@dataclass(frozen=True)
class SessionKeys:
    """What a completed handshake leaves behind: 32-byte keys per direction, for one session and epoch.

    `features` is what both ends agreed on; with compact headers `own_index` is where this end receives. `ratchets`
    counts those since the last full handshake. With roles, `standby` and `term` are what M1 said; a rekey says nothing
    of them.
    """

    suite: Suite
    session_id: bytes
    epoch: int
    k_d2g: bytes = field(repr=False)
    k_g2d: bytes = field(repr=False)
    ck: bytes = field(default=b"", repr=False)
    hybrid: bool = True
    drone_signed: bool = False
    features: int = 0
    own_index: int = 0
    peer_index: int = 0
    standby: bool = False
    term: int = 0
    ratchets: int = 0


@dataclass
class Transcript:
    """Every frame and intermediate value of one handshake, for test vectors. Holds secrets: never print one."""

    m0: bytes = M0
    m1: bytes = b""
    m2: bytes = b""
    m3: bytes = b""
    m4: bytes = b""
    kem_secret_key: bytes = field(default=b"", repr=False)
    x25519_scalar: bytes = field(default=b"", repr=False)
    gate_key: bytes = field(default=b"", repr=False)
    gate: bytes = b""
    signed_hash: bytes = b""
    h2: bytes = b""
    h3: bytes = b""
    t3: bytes = b""
    ss_kem: bytes = field(default=b"", repr=False)
    ss_x25519: bytes = field(default=b"", repr=False)
    ck_prev: bytes = field(default=b"", repr=False)
    prk: bytes = field(default=b"", repr=False)
    k_d2g: bytes = field(default=b"", repr=False)
    k_g2d: bytes = field(default=b"", repr=False)
    k_cc: bytes = field(default=b"", repr=False)
    k_cs: bytes = field(default=b"", repr=False)
    ck: bytes = field(default=b"", repr=False)
    confirm_c: bytes = b""
    confirm_s: bytes = b""

    def derive(self, psk: bytes, suite: Suite, session_id: bytes, epoch: int) -> None:
        """Fills prk, the keys and both confirmations from h3, t3, ck_prev and the two shared secrets."""
        self.prk = extract(psk, self.ss_kem, self.ss_x25519, self.ck_prev, self.h3)
        self.k_d2g = expand(self.prk, b"PQMAV/3 d2g", suite, session_id, epoch)
        self.k_g2d = expand(self.prk, b"PQMAV/3 g2d", suite, session_id, epoch)
        self.k_cc = expand(self.prk, b"PQMAV/3 confirm c", suite, session_id, epoch)
        self.k_cs = expand(self.prk, b"PQMAV/3 confirm s", suite, session_id, epoch)
        self.ck = expand(self.prk, b"PQMAV/3 chain", suite, session_id, epoch)
        self.confirm_c = client_confirmation(self.k_cc, self.t3)
        self.confirm_s = server_confirmation(self.k_cs, self.t3, self.confirm_c)

# SPDX-License-Identifier: Apache-2.0
"""Categories D to F: the handshake, its primitives, and what renewing keys costs."""

from __future__ import annotations

from typing import ClassVar

from pqc_mav_bench.schema.field import Category, Side, metric

_NOT_RUN = "this end does not run it in this handshake"
_FAST = "shorter than the clock's resolution"
_NO_POOL = "each handshake made its own key pair"


class Handshake(Category):
    """D: the handshakes of the suite, as each end timed them: the one that brought it up, and renewals."""

    letter: ClassVar[str] = "D"
    title: ClassVar[str] = "Handshake"

    handshakes: int | None = metric("good handshakes of the suite in this run; times are medians over them", "count")
    handshake_ms: float | None = metric("first to last byte at the drone", "ms")
    handshake_low_ms: float | None = metric("lower end of the 95 % interval of that median", "ms")
    handshake_high_ms: float | None = metric("upper end of it", "ms")
    samples_ms: dict[str, list[float | None]] | None = metric("every time of every one of them, in their order", "ms")
    phase_hello_ms: float | None = metric("making and sending the client hello, PSK gate included", "ms", zero=_FAST)
    phase_server_hello_ms: float | None = metric("server hello: key pair, signature, transfer, verification", "ms")
    phase_finish_ms: float | None = metric("client finish and server finish", "ms")
    kdf_ms: float | None = metric("HKDF and transcript hashes", "ms", zero=_FAST)
    timeout: bool | None = metric("it ended by a time limit", zero="a good handshake does not time out")
    ok: bool | None = metric("completed, keys installed")
    error: str | None = metric("identifier of the failure")
    reason: str | None = metric("the failure as one sentence")
    rekey: bool | None = metric("it renewed a running session (live suite change)", zero="a first handshake")
    kind: str | None = metric("what it was: first or rekey; ratchets are counted in F and timed nowhere here")
    epoch: int | None = metric("epoch of the keys it made (0-255)", "1", zero="a first handshake, or the epoch wrapped")
    bytes_sent: int | None = metric("handshake messages sent, without fragment headers", "B")
    bytes_received: int | None = metric("handshake messages received, without fragment headers", "B")
    attempts: int | None = metric("handshakes made for this suite until one succeeded", "count")
    gcs_handshake_ms: float | None = metric("first to last byte at the ground", "ms", Side.GCS)
    gcs_phase_hello_ms: float | None = metric(
        "taking the client hello and checking its gate", "ms", Side.GCS, zero=_FAST
    )
    gcs_phase_server_hello_ms: float | None = metric("making and sending the server hello", "ms", Side.GCS)
    gcs_phase_finish_ms: float | None = metric(
        "waiting for the client finish, decapsulation, server finish", "ms", Side.GCS
    )
    gcs_kdf_ms: float | None = metric("HKDF and transcript hashes", "ms", Side.GCS, zero=_FAST)
    gcs_ok: bool | None = metric("completed, keys installed", side=Side.GCS)
    gcs_samples_ms: dict[str, list[float | None]] | None = metric(
        "the same of the ground's times; null: the key pair was made ahead of time", "ms", Side.GCS
    )
    gcs_bytes_sent: int | None = metric("handshake messages sent, without fragment headers", "B", Side.GCS)
    gcs_bytes_received: int | None = metric("handshake messages received, without fragment headers", "B", Side.GCS)


class CryptoPrimitives(Category):
    """E: the primitives inside those handshakes, each at the end that ran it: medians over them."""

    letter: ClassVar[str] = "E"
    title: ClassVar[str] = "CryptoPrimitives"

    kem_keygen_ms: float | None = metric("KEM key generation", "ms", zero=_NOT_RUN)
    kem_encaps_ms: float | None = metric("KEM encapsulation", "ms")
    kem_decaps_ms: float | None = metric("KEM decapsulation", "ms", zero=_NOT_RUN)
    sig_sign_ms: float | None = metric("signing, if the drone signs", "ms", zero=_NOT_RUN)
    sig_verify_ms: float | None = metric("verification of the ground's signature", "ms")
    x25519_ms: float | None = metric("X25519 key generation and agreement", "ms", zero="the tunnel is configured pure")
    kdf_ms: float | None = metric("key schedule", "ms", zero=_FAST)
    gcs_kem_keygen_ms: float | None = metric(
        "KEM key generation in the handshakes that made their key pair", "ms", Side.GCS
    )
    gcs_kem_encaps_ms: float | None = metric("KEM encapsulation", "ms", Side.GCS, zero=_NOT_RUN)
    gcs_kem_decaps_ms: float | None = metric("KEM decapsulation", "ms", Side.GCS)
    gcs_sig_sign_ms: float | None = metric("signing the handshake", "ms", Side.GCS)
    gcs_sig_verify_ms: float | None = metric(
        "verification of the drone's signature, if it signs", "ms", Side.GCS, zero=_NOT_RUN
    )
    gcs_x25519_ms: float | None = metric(
        "X25519 key generation and agreement", "ms", Side.GCS, zero="the tunnel is configured pure"
    )
    gcs_kdf_ms: float | None = metric("key schedule", "ms", Side.GCS, zero=_FAST)
    gcs_keygen_pooled: bool | None = metric(
        "a KEM key pair was made ahead of time, in one handshake or more", side=Side.GCS, zero=_NO_POOL
    )
    gcs_pooled_handshakes: int | None = metric("handshakes with such a key pair", "count", Side.GCS, zero=_NO_POOL)
    primitives_ms: float | None = metric("sum of all primitives at both ends", "ms", Side.BOTH)
    public_key_bytes: int | None = metric("KEM public key", "B")
    ciphertext_bytes: int | None = metric("KEM ciphertext", "B")
    signature_bytes: int | None = metric("signature of the ground", "B")
    drone_signature_bytes: int | None = metric("signature of the drone", "B", zero=_NOT_RUN)


class Rekey(Category):
    """F: the live suite change, and the overhead Phi(R) = T_hs / (R + T_hs) of repeating it every R seconds."""

    letter: ClassVar[str] = "F"
    title: ClassVar[str] = "Rekey"

    rekey_count: int | None = metric("suite changes and renewals asked for in this run", "count")
    rekeys_ok: int | None = metric("of these: completed", "count")
    rekeys_failed: int | None = metric("of these: failed", "count", zero="every change succeeded")
    rekey_total_ms: float | None = metric("time of all of them, request to switch", "ms")
    rekey_mean_ms: float | None = metric("mean of them", "ms")
    rekey_ms: float | None = metric("median of them; the old keys carry data meanwhile", "ms")
    ratchets: int | None = metric(
        "changes of keys by ratchet during the run, in none of the other figures", "count", zero="none was due"
    )
    phi: float | None = metric("Phi(R) with R of the run context and T_hs = handshake.handshake_ms", "1")
    phi_60s: float | None = metric("Phi(60 s)", "1")
    blackout_packets: int | None = metric(
        "packets both proxies dropped for want of a session", "count", Side.BOTH, zero="keys change without a gap"
    )

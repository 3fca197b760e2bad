# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pqc_mav_tunnel as tunnel
import pytest

OVERHEAD = 38


def session(suite: str = "cs-mlkem512-aesgcm-mldsa44", epoch: int = 3) -> tunnel.SessionKeys:
    return tunnel.SessionKeys(suite, b"sessions", epoch, bytes(range(32)), bytes(range(32, 64)))


@pytest.mark.parametrize("aead", ["aesgcm", "chacha20poly1305", "ascon128a"])
@pytest.mark.parametrize("direction", ["d2g", "g2d"])
def test_packets_open_once_and_only_on_their_way(aead: str, direction: str) -> None:
    keys = session(f"cs-mlkem512-{aead}-mldsa44")
    send, receive = tunnel.SendKey(keys, direction), tunnel.ReceiveKey(keys, direction)
    wrong_way = tunnel.ReceiveKey(keys, "g2d" if direction == "d2g" else "d2g")
    for size in (0, 1, 15, 16, 17, 1432):
        payload = os.urandom(size)
        packet = send.seal(payload)
        assert len(packet) == size + OVERHEAD
        assert wrong_way.open(packet)[0] == "auth_fail"
        assert receive.open(packet) == ("data", payload)
        assert receive.open(packet) == ("replay", b"")


def test_every_outcome() -> None:
    keys = session()
    send, receive = tunnel.SendKey(keys, "d2g"), tunnel.ReceiveKey(keys, "d2g", window_bits=64)
    first = send.seal(b"first")
    assert receive.open(send.seal(tunnel.encode_control("KEEPALIVE"), control=True))[0] == "control"
    assert receive.open(send.seal(b"no TLV", control=True))[0] == "decrypt_fail"
    assert receive.open(first[:-1])[0] == "auth_fail"
    assert receive.open(first[: OVERHEAD - 1])[0] == "malformed"
    assert receive.open(b"")[0] == "malformed"
    assert receive.open(first[:1] + b"\xff" + first[2:])[0] == "malformed"
    assert receive.open(first[:5] + bytes(8) + first[13:])[0] == "unknown"
    assert receive.open(first[:21] + b"\x09" + first[22:])[0] == "unknown"
    for _ in range(64):
        assert receive.open(send.seal(b""))[0] == "data"
    assert receive.open(first)[0] == "seq_old"
    assert receive.open(first[:13] + b"\xff" * 8 + first[21:])[0] == "seq_old"


def test_keys_are_checked() -> None:
    with pytest.raises(tunnel.TunnelError, match="session id has 7 bytes"):
        tunnel.SessionKeys("cs-mlkem512-aesgcm-mldsa44", bytes(7), 0, bytes(32), bytes(32))
    with pytest.raises(tunnel.TunnelError, match="k_g2d has 31 bytes"):
        tunnel.SessionKeys("cs-mlkem512-aesgcm-mldsa44", bytes(8), 0, bytes(32), bytes(31))
    with pytest.raises(tunnel.TunnelError, match="direction"):
        tunnel.SendKey(session(), "up")
    with pytest.raises(tunnel.TunnelError, match="multiple of 64"):
        tunnel.ReceiveKey(session(), "d2g", window_bits=65)
    keys = session()
    assert repr(keys) == "<SessionKeys cs-mlkem512-aesgcm-mldsa44>"
    assert (keys.session_id, keys.epoch, keys.k_d2g, keys.k_g2d) == (
        b"sessions",
        3,
        bytes(range(32)),
        bytes(range(32, 64)),
    )


CONTROLS = [
    ("PROBE", {"id": 1, "t1": 2**64 - 1}),
    ("PROBE_REPLY", {"id": 2**32 - 1, "t1": 1, "t2": 2, "t3": 3}),
    (
        "LINK_REPORT",
        {
            "window_ms": 5000,
            "packets_per_s_milli": 320000,
            "gap_p95_us": 3200,
            "longest_silence_us": 9000,
            "jitter_us": 12,
            "loss_ppm": 1000000,
            "blackouts": 0,
            "drops": [1, 2, 3, 4, 5, 2**64 - 1],
        },
    ),
    ("SWITCHED", {"epoch": 255}),
    ("REKEY_REQUEST", {"request_id": 7, "suite": "", "reason": "schedule", "ratchet": False}),
    ("CLOSE", {"reason": 2}),
    ("KEEPALIVE", {}),
    ("REKEY_RESULT", {"request_id": 7, "ok": True, "epoch": 9, "duration_us": 1, "text": "x" * 255}),
]


@pytest.mark.parametrize(("name", "fields"), CONTROLS)
def test_control_messages(name: str, fields: dict) -> None:
    encoded = tunnel.encode_control(name, **fields)
    assert tunnel.parse_controls(encoded) == [(name, fields)]
    assert tunnel.parse_controls(encoded[:-1]) is None


def test_several_control_messages_in_one_frame() -> None:
    content = b"".join(tunnel.encode_control(name, **fields) for name, fields in CONTROLS)
    assert tunnel.parse_controls(content) == CONTROLS
    assert tunnel.parse_controls(b"\xc8\x00\x01x" + content) == CONTROLS
    assert tunnel.parse_controls(content + b"\x07") is None
    assert tunnel.parse_controls(b"") is None


def test_control_messages_that_cannot_be() -> None:
    with pytest.raises(tunnel.TunnelError, match="needs the field 't1'"):
        tunnel.encode_control("PROBE", id=1)
    with pytest.raises(tunnel.TunnelError, match="too many"):
        tunnel.encode_control("REKEY_RESULT", request_id=1, ok=True, epoch=0, duration_us=0, text="x" * 256)
    with pytest.raises(tunnel.TunnelError, match="Unknown control message"):
        tunnel.encode_control("HELLO")


@pytest.mark.parametrize("token", ["aesgcm", "chacha20poly1305"])
def test_aeads_against_a_second_source(token: str) -> None:
    aead = pytest.importorskip("cryptography.hazmat.primitives.ciphers.aead")
    for size in (0, 1, 64, 1432):
        key, aad, plaintext = os.urandom(32), os.urandom(22), os.urandom(size)
        other = (aead.AESGCM if token == "aesgcm" else aead.ChaCha20Poly1305)(key)
        nonce = bytes([7]) + (2**40 + size).to_bytes(11, "big")
        sealed = tunnel.aead_seal(token, key, 7, 2**40 + size, aad, plaintext)
        assert sealed == other.encrypt(nonce, plaintext, aad)
        assert tunnel.aead_open(token, key, 7, 2**40 + size, aad, sealed) == plaintext
        assert tunnel.aead_open(token, key, 8, 2**40 + size, aad, sealed) is None
        assert tunnel.aead_open(token, key, 7, 2**40 + size, b"", sealed) is None
    assert tunnel.aead_open(token, bytes(32), 0, 0, b"", b"short") is None
    with pytest.raises(tunnel.TunnelError):
        tunnel.aead_seal(token, bytes(31), 0, 0, b"", b"")


def test_kems_and_signatures() -> None:
    public, secret = tunnel.kem_keypair("mlkem768")
    ciphertext, shared = tunnel.kem_encapsulate("mlkem768", public)
    assert tunnel.kem_decapsulate("mlkem768", secret, ciphertext) == shared
    public, secret = tunnel.sig_keypair("falcon512")
    signature = tunnel.sig_sign("falcon512", secret, b"message")
    assert tunnel.sig_verify("falcon512", public, b"message", signature)
    assert not tunnel.sig_verify("falcon512", public, b"massage", signature)
    for call in (lambda: tunnel.kem_keypair("rsa"), lambda: tunnel.sig_keypair("rsa")):
        with pytest.raises(tunnel.TunnelError, match="Unknown"):
            call()
    with pytest.raises(tunnel.TunnelError):
        tunnel.kem_encapsulate("mlkem768", b"short")

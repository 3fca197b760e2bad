# SPDX-License-Identifier: Apache-2.0
"""The ciphers of the data plane (docs/protocol.md section 10)."""

from __future__ import annotations

import ascon
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from . import ascon_aead128
from .suites import AES_GCM, ASCON_128A, ASCON_AEAD128, Aead

TAG_BYTES = 16
ASCON_VARIANT = "Ascon-128a"  # v1.2 as submitted to the NIST lightweight process; not Ascon-AEAD128 of SP 800-232


def nonce(aead: Aead, epoch: int, sequence: int) -> bytes:
    """`epoch || sequence as 11 bytes`, padded with zeros to the cipher's length; it is never transmitted."""
    return (bytes([epoch]) + sequence.to_bytes(11, "big")).ljust(aead.nonce_bytes, b"\0")


def seal(aead: Aead, key: bytes, epoch: int, sequence: int, aad: bytes, plaintext: bytes) -> bytes:
    """`ciphertext || tag[16]` under the 32-byte `key`, of which the cipher takes its first `key_bytes`."""
    iv, used = nonce(aead, epoch, sequence), key[: aead.key_bytes]
    if aead == ASCON_128A:
        return bytes(ascon.encrypt(used, iv, aad, plaintext, variant=ASCON_VARIANT))
    if aead == ASCON_AEAD128:
        return ascon_aead128.encrypt(used, iv, aad, plaintext)
    cipher = AESGCM(used) if aead == AES_GCM else ChaCha20Poly1305(used)
    return cipher.encrypt(iv, plaintext, aad)


def open_sealed(aead: Aead, key: bytes, epoch: int, sequence: int, aad: bytes, sealed: bytes) -> bytes | None:
    """The plaintext of `ciphertext || tag[16]`, None when the tag does not verify."""
    if len(sealed) < TAG_BYTES:
        return None
    iv, used = nonce(aead, epoch, sequence), key[: aead.key_bytes]
    if aead == ASCON_128A:
        plaintext = ascon.decrypt(used, iv, aad, sealed, variant=ASCON_VARIANT)
        return None if plaintext is None else bytes(plaintext)
    if aead == ASCON_AEAD128:
        return ascon_aead128.decrypt(used, iv, aad, sealed)
    cipher = AESGCM(used) if aead == AES_GCM else ChaCha20Poly1305(used)
    try:
        return cipher.decrypt(iv, sealed, aad)
    except InvalidTag:
        return None

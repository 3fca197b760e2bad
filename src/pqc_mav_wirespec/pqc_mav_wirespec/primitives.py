# SPDX-License-Identifier: Apache-2.0
"""Hash, MAC, key derivation and X25519 (docs/protocol.md section 1)."""

from __future__ import annotations

import hashlib
import hmac as _hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .errors import AuthenticationError

X25519_BYTES = 32


def sha256(data: bytes) -> bytes:
    """SHA-256 (FIPS 180-4), 32 bytes."""
    return hashlib.sha256(data).digest()


def hmac(key: bytes, data: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104), 32 bytes."""
    return _hmac.digest(key, data, "sha256")


def same(left: bytes, right: bytes) -> bool:
    """Equality in constant time."""
    return _hmac.compare_digest(left, right)


def hkdf_extract(salt: bytes, ikm: bytes) -> bytes:
    """HKDF-Extract (RFC 5869 section 2.2), 32 bytes."""
    return hmac(salt, ikm)


def hkdf_expand(prk: bytes, info: bytes, length: int) -> bytes:
    """HKDF-Expand (RFC 5869 section 2.3), `length` bytes."""
    return HKDFExpand(algorithm=SHA256(), length=length, info=info).derive(prk)


def x25519_public(scalar: bytes) -> bytes:
    """The public key of a 32-byte scalar (RFC 7748)."""
    key = X25519PrivateKey.from_private_bytes(scalar).public_key()
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519_shared(scalar: bytes, peer_public: bytes) -> bytes:
    """The shared secret (RFC 7748); AuthenticationError when it is all zero (a low-order peer key)."""
    try:
        return X25519PrivateKey.from_private_bytes(scalar).exchange(X25519PublicKey.from_public_bytes(peer_public))
    except ValueError as error:  # the library refuses an all-zero result
        raise AuthenticationError("the X25519 public key of the peer is of low order") from error

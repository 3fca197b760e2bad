# SPDX-License-Identifier: Apache-2.0
"""A second source on random inputs: PyPI `ascon`, `cryptography` and liboqs-python against the engine's primitives."""

import ascon
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from engine_support import engine
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_wirespec import ascon_aead128, oqs_library
from pqc_mav_wirespec.errors import AuthenticationError
from pqc_mav_wirespec.suites import AEADS, KEMS, SIGS

keys = st.binary(min_size=32, max_size=32)
epochs, sequences = st.integers(0, 255), st.integers(0, 2**48 - 1)
texts = st.one_of(st.binary(max_size=100), st.integers(0, 1500).flatmap(lambda n: st.just(bytes(n))))


def second_source(token, key, epoch, sequence, aad, plaintext):
    """The libraries called directly, past this package's own code."""
    nonce = bytes([epoch]) + sequence.to_bytes(11, "big")
    if token == "aesgcm":
        return AESGCM(key).encrypt(nonce, plaintext, aad)
    if token == "chacha20poly1305":
        return ChaCha20Poly1305(key).encrypt(nonce, plaintext, aad)
    if token == "asconaead128":
        return ascon_aead128.encrypt(key[:16], nonce + bytes(4), aad, plaintext)
    return ascon.encrypt(key[:16], nonce + bytes(4), aad, plaintext, variant="Ascon-128a")


@pytest.mark.parametrize("token", [cipher.token for cipher in AEADS])
@settings(max_examples=300)
@given(key=keys, epoch=epochs, sequence=sequences, aad=st.binary(max_size=64), plaintext=texts, bit=st.integers(0))
def test_aeads_agree(token, key, epoch, sequence, aad, plaintext, bit):
    sealed = engine.aead_seal(token, key, epoch, sequence, aad, plaintext)
    assert sealed == second_source(token, key, epoch, sequence, aad, plaintext)
    assert engine.aead_open(token, key, epoch, sequence, aad, sealed) == plaintext
    damaged = bytearray(sealed)
    damaged[bit // 8 % len(sealed)] ^= 1 << bit % 8
    assert engine.aead_open(token, key, epoch, sequence, aad, bytes(damaged)) is None


@pytest.mark.parametrize("kem", KEMS, ids=lambda kem: kem.token)
@pytest.mark.parametrize("by", ["openssl", "liboqs"])
def test_kems_agree(kem, by):
    need(by, kem)
    public, secret = engine.kem_keypair(kem.token, by)
    ciphertext, shared = oqs_library.kem_encapsulate(kem, public)
    assert engine.kem_decapsulate(kem.token, secret, ciphertext, by) == shared
    public, secret = oqs_library.kem_keypair(kem)
    ciphertext, shared = engine.kem_encapsulate(kem.token, public, by)
    assert oqs_library.kem_decapsulate(kem, secret, ciphertext) == shared


@pytest.mark.parametrize("sig", SIGS, ids=lambda sig: sig.token)
@pytest.mark.parametrize("by", ["openssl", "liboqs"])
def test_signatures_agree(sig, by):
    need(by, sig)
    public, secret = engine.sig_keypair(sig.token, by)
    signature = oqs_library.sig_sign(sig, secret, b"message")
    assert engine.sig_verify(sig.token, public, b"message", signature, by)
    assert not engine.sig_verify(sig.token, public, b"massage", signature, by)
    signature = engine.sig_sign(sig.token, secret, b"message", by)
    oqs_library.sig_verify(sig, public, b"message", signature)
    with pytest.raises(AuthenticationError):
        oqs_library.sig_verify(sig, public, b"massage", signature)


def need(by, row, liboqs=True):
    """Skips without the algorithm in the engine's library, or in the one of liboqs-python."""
    make = engine.kem_keypair if row in KEMS else engine.sig_keypair
    try:
        make(row.token, by)
    except engine.TunnelError as error:
        pytest.skip(str(error))
    if liboqs and oqs_library.library_name(row) is None:
        pytest.skip(f"liboqs {oqs_library.library_version()} has no {row.name}")


# A third one, of OpenSSL's making or AWS-LC's: what wheels of `cryptography` carry, from version 47 on.
@pytest.mark.parametrize("token", ["mlkem768", "mlkem1024"])
@pytest.mark.parametrize("by", ["openssl", "liboqs"])
def test_cryptography_agrees_on_kems(token, by):
    mlkem = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.mlkem")
    need(by, next(row for row in KEMS if row.token == token), liboqs=False)
    parameters = token.removeprefix("mlkem")
    theirs = getattr(mlkem, f"MLKEM{parameters}PrivateKey").generate()
    ciphertext, shared = engine.kem_encapsulate(token, theirs.public_key().public_bytes_raw(), by)
    assert theirs.decapsulate(ciphertext) == shared
    public, secret = engine.kem_keypair(token, by)
    shared, ciphertext = getattr(mlkem, f"MLKEM{parameters}PublicKey").from_public_bytes(public).encapsulate()
    assert engine.kem_decapsulate(token, secret, ciphertext, by) == shared


@pytest.mark.parametrize("token", ["mldsa44", "mldsa65", "mldsa87"])
@pytest.mark.parametrize("by", ["openssl", "liboqs"])
def test_cryptography_agrees_on_signatures(token, by):
    mldsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.mldsa")
    need(by, next(row for row in SIGS if row.token == token), liboqs=False)
    parameters = token.removeprefix("mldsa")
    theirs = getattr(mldsa, f"MLDSA{parameters}PrivateKey").generate()
    public = theirs.public_key().public_bytes_raw()
    assert engine.sig_verify(token, public, b"message", theirs.sign(b"message"), by)
    assert not engine.sig_verify(token, public, b"message", theirs.sign(b"message", b"a context"), by)
    public, secret = engine.sig_keypair(token, by)
    verify = getattr(mldsa, f"MLDSA{parameters}PublicKey").from_public_bytes(public).verify
    verify(signature := engine.sig_sign(token, secret, b"message", by), b"message")
    with pytest.raises(InvalidSignature):
        verify(signature, b"massage")

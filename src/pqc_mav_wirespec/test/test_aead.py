# SPDX-License-Identifier: Apache-2.0
import hashlib
from functools import partial

import ascon
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec import aead, ascon_aead128
from pqc_mav_wirespec.suites import AEADS, AES_GCM, ASCON_128A, CHACHA20_POLY1305

# Where nonce, message and associated data begin to count in LWC_AEAD_KAT_128_128.txt, and the hash of that file: of the
# Ascon v1.2 submission, and of SP 800-232's algorithm in its authors' reference code (ascon-c).
V12 = partial(ascon.encrypt, variant=aead.ASCON_VARIANT), partial(ascon.decrypt, variant=aead.ASCON_VARIANT)
KATS = {
    "v1.2": (*V12, (0, 0, 0), "d453a54fd663316a6223734013dcd2d732e2b1dee0c85391cf6f818000322fd9"),
    "SP 800-232": (
        *(ascon_aead128.encrypt, ascon_aead128.decrypt),
        (0x10, 0x20, 0x30),
        "bbbc34692fe05e5fda0a3b025585622ab3e3747495e5e3655b29aae8c2a4bd33",
    ),
}


@pytest.mark.parametrize(("encrypt", "decrypt", "begins", "sha256"), KATS.values(), ids=KATS)
def test_ascon_makes_the_published_file_anew(encrypt, decrypt, begins, sha256):
    """1,089 vectors; the key is 00..0F."""
    key, (nonce, message, associated) = bytes(range(16)), (bytes(range(at, at + 32)) for at in begins)
    nonce = nonce[:16]
    lines = []
    for size in range(33):
        for aad_size in range(33):
            plaintext, aad = message[:size], associated[:aad_size]
            sealed = encrypt(key, nonce, aad, plaintext)
            assert decrypt(key, nonce, aad, sealed) == plaintext
            head = f"Count = {len(lines) + 1}\nKey = {key.hex().upper()}\nNonce = {nonce.hex().upper()}\n"
            tail = f"PT = {plaintext.hex().upper()}\nAD = {aad.hex().upper()}\nCT = {sealed.hex().upper()}\n\n"
            lines.append(head + tail)
    assert hashlib.sha256("".join(lines).encode("ascii")).hexdigest() == sha256


def test_nonce_is_epoch_then_sequence_then_padding():
    assert aead.nonce(AES_GCM, 2, 0x010203).hex() == "02" + "00" * 8 + "010203"
    assert aead.nonce(CHACHA20_POLY1305, 255, 2**48 - 1).hex() == "ff" + "00" * 5 + "ff" * 6
    assert aead.nonce(ASCON_128A, 2, 1).hex() == "02" + "00" * 10 + "01" + "00" * 4


@pytest.mark.parametrize("cipher", AEADS, ids=lambda cipher: cipher.token)
@given(
    key=st.binary(min_size=32, max_size=32),
    aad=st.binary(max_size=40),
    plaintext=st.binary(max_size=80),
    data=st.data(),
)
def test_opens_what_it_sealed_and_nothing_else(cipher, key, aad, plaintext, data):
    sealed = aead.seal(cipher, key, 1, 7, aad, plaintext)
    assert len(sealed) == len(plaintext) + aead.TAG_BYTES
    assert aead.open_sealed(cipher, key, 1, 7, aad, sealed) == plaintext
    at = data.draw(st.integers(0, len(sealed) * 8 - 1))
    flipped = bytearray(sealed)
    flipped[at // 8] ^= 1 << at % 8
    assert aead.open_sealed(cipher, key, 1, 7, aad, bytes(flipped)) is None
    assert aead.open_sealed(cipher, key, 1, 7, aad + b"\0", sealed) is None
    assert aead.open_sealed(cipher, key, 2, 7, aad, sealed) is None
    assert aead.open_sealed(cipher, key, 1, 8, aad, sealed) is None
    assert aead.open_sealed(cipher, key, 1, 7, aad, sealed[:15]) is None


def test_ascon_ignores_the_second_half_of_the_key():
    first, second = bytes(range(32)), bytes(range(16)) + bytes(16)
    sealed = {cipher.token: aead.seal(cipher, first, 0, 0, b"", b"x") for cipher in AEADS}
    again = {cipher.token: aead.seal(cipher, second, 0, 0, b"", b"x") for cipher in AEADS}
    assert [token for token in sealed if sealed[token] == again[token]] == ["ascon128a", "asconaead128"]

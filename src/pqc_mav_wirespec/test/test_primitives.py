# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.errors import AuthenticationError
from pqc_mav_wirespec.primitives import hkdf_expand, hkdf_extract, hmac, x25519_public, x25519_shared

LOW_ORDER = (
    bytes(32),
    (1).to_bytes(32, "little"),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    (2**255 - 20).to_bytes(32, "little"),
    (2**255 - 19).to_bytes(32, "little"),
    (2**255 - 18).to_bytes(32, "little"),
)


def test_hkdf_rfc5869_case_1():
    prk = hkdf_extract(bytes(range(13)), b"\x0b" * 22)
    assert prk.hex() == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"
    okm = hkdf_expand(prk, bytes(range(0xF0, 0xFA)), 42)
    assert okm.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"


def test_hmac_rfc4231_case_2():
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert hmac(b"Jefe", b"what do ya want for nothing?").hex() == expected


def test_x25519_rfc7748_section_6_1():
    alice_public = bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    assert x25519_public(bob).hex() == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    assert x25519_shared(bob, alice_public).hex() == shared


@pytest.mark.parametrize("public", LOW_ORDER, ids=lambda value: value.hex()[:8])
def test_low_order_keys_are_refused(public):
    with pytest.raises(AuthenticationError, match="low order"):
        x25519_shared(b"\x42" * 32, public)

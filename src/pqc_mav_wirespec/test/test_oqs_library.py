# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

from pqc_mav_wirespec import oqs_library
from pqc_mav_wirespec.errors import AuthenticationError, MalformedError
from pqc_mav_wirespec.suites import KEMS, SIGS

PROGRAM = """
import subprocess
def refuse(*arguments, **more):
    raise SystemExit('a program was started: %r' % (arguments,))
subprocess.run = subprocess.Popen = refuse
from pqc_mav_wirespec import oqs_library
from pqc_mav_wirespec.errors import LibraryError
try:
    oqs_library.oqs_module()
except LibraryError as error:
    print(error)
"""


def _import_with(path: str | None, home: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key != oqs_library.VARIABLE}
    environment |= {"HOME": home} | ({oqs_library.VARIABLE: path} if path is not None else {})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_without_a_path_one_clear_line_and_no_build(tmp_path):
    said = _import_with(None, str(tmp_path))
    assert said == "OQS_INSTALL_PATH is not set: set it to the folder that holds lib/liboqs.so"


def test_path_without_library(tmp_path):
    assert "where there is no lib/liboqs.so" in _import_with(str(tmp_path), str(tmp_path))


def test_path_with_a_file_that_is_no_library(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "liboqs.so").write_bytes(b"not a library")
    assert "cannot be loaded" in _import_with(str(tmp_path), str(tmp_path))


def test_a_usable_library_is_loaded_silently(tmp_path):
    assert _import_with(os.environ[oqs_library.VARIABLE], str(tmp_path)) == ""


def test_wrong_lengths_are_refused_not_padded():
    kem, sig = KEMS[0], SIGS[0]
    public, secret = oqs_library.kem_keypair(kem)
    ciphertext, shared = oqs_library.kem_encapsulate(kem, public)
    assert oqs_library.kem_decapsulate(kem, secret, ciphertext) == shared
    with pytest.raises(MalformedError, match="KEM public key has 799 bytes"):
        oqs_library.kem_encapsulate(kem, public[:-1])
    with pytest.raises(MalformedError, match="KEM ciphertext"):
        oqs_library.kem_decapsulate(kem, secret, ciphertext + b"\0")
    with pytest.raises(MalformedError, match="KEM secret key"):
        oqs_library.kem_decapsulate(kem, secret[:-1], ciphertext)
    sig_public, sig_secret = oqs_library.sig_keypair(sig)
    with pytest.raises(MalformedError, match="signing key"):
        oqs_library.sig_sign(sig, sig_secret + b"\0", b"message")
    with pytest.raises(MalformedError, match="verification key"):
        oqs_library.sig_verify(sig, sig_public[:-1], b"message", b"\0")


@pytest.mark.parametrize("token", ["mldsa44", "falcon512"])
def test_signatures_hold_for_their_message_only(token):
    sig = next(row for row in SIGS if row.token == token)
    public, secret = oqs_library.sig_keypair(sig)
    signature = oqs_library.sig_sign(sig, secret, b"message")
    oqs_library.sig_verify(sig, public, b"message", signature)
    for message, bad in (
        (b"massage", signature),
        (b"message", signature[:-1]),
        (b"message", b""),
        (b"message", bytes(9999)),
    ):
        with pytest.raises(AuthenticationError):
            oqs_library.sig_verify(sig, public, message, bad)

# SPDX-License-Identifier: Apache-2.0
"""liboqs through `liboqs-python`, loaded only from the folder that OQS_INSTALL_PATH names.

Importing `oqs` without a usable library would clone and build one over the network. So this module first checks
everything the import needs, and hides system-wide copies from it: the folder named is the library used, or there is an
error.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import AuthenticationError, LibraryError, MalformedError
from .suites import Kem, Sig, Suite

VARIABLE = "OQS_INSTALL_PATH"
REQUIRED_SYMBOLS = ("OQS_KEM_new", "OQS_SIG_new", "OQS_SIG_supports_ctx_str")


def _library_file() -> Path:
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise LibraryError(f"{VARIABLE} is not set: set it to the folder that holds lib/liboqs.so")
    for name in ("lib", "lib64"):
        candidate = Path(folder) / name / "liboqs.so"
        if candidate.is_file():
            return candidate
    raise LibraryError(f"{VARIABLE} is {folder}, where there is no lib/liboqs.so: set up the workspace's liboqs first")


def _check_loadable(path: Path) -> None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded: {error}") from error
    missing = [symbol for symbol in REQUIRED_SYMBOLS if not hasattr(library, symbol)]
    if missing:
        raise LibraryError(f"{path} lacks {', '.join(missing)}: use the liboqs that liboqs_vendor provides")


@contextmanager
def _quiet_import_from_folder_only() -> Iterator[None]:
    original = ctypes.util.find_library
    ctypes.util.find_library = lambda name: None if "oqs" in name else original(name)
    logging.disable(logging.INFO)  # it greets on stdout
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a version difference; the symbols were checked above
            yield
    finally:
        logging.disable(logging.NOTSET)
        ctypes.util.find_library = original


@functools.cache
def oqs_module() -> Any:
    """The module `oqs`. Raises LibraryError with what to set; never builds or downloads anything."""
    _check_loadable(_library_file())
    with _quiet_import_from_folder_only():
        try:
            import oqs
        except ImportError as error:
            raise LibraryError(f"liboqs-python is not installed ({error}): pip install it, >= 0.16") from error
    return oqs


def library_version() -> str:
    """Version of the liboqs in use, such as `0.13.0`."""
    return str(oqs_module().oqs_version())


def library_name(algorithm: Kem | Sig) -> str | None:
    """The exact name under which this liboqs offers the algorithm, None when it does not."""
    oqs = oqs_module()
    enabled = oqs.get_enabled_kem_mechanisms() if isinstance(algorithm, Kem) else oqs.get_enabled_sig_mechanisms()
    return next((name for name in algorithm.library_names or (algorithm.name,) if name in enabled), None)


def offers(suite: Suite) -> bool:
    """Whether this liboqs has both algorithms of the suite."""
    return library_name(suite.kem) is not None and library_name(suite.sig) is not None


def _require_name(algorithm: Kem | Sig) -> str:
    name = library_name(algorithm)
    if name is None:
        raise LibraryError(f"liboqs {library_version()} does not offer {algorithm.name}")
    return name


@functools.cache
def kem_sizes(kem: Kem) -> tuple[int, int, int]:
    """Bytes of (public key, ciphertext, secret key)."""
    with oqs_module().KeyEncapsulation(_require_name(kem)) as instance:
        return int(instance.length_public_key), int(instance.length_ciphertext), int(instance.length_secret_key)


@functools.cache
def sig_sizes(sig: Sig) -> tuple[int, int, int]:
    """Bytes of (public key, secret key, longest signature)."""
    with oqs_module().Signature(_require_name(sig)) as instance:
        return int(instance.length_public_key), int(instance.length_secret_key), int(instance.length_signature)


def _need_length(what: str, value: bytes, expected: int) -> None:
    # the binding pads short inputs with zeros instead of refusing them
    if len(value) != expected:
        raise MalformedError(f"{what} has {len(value)} bytes, expected {expected}")


def _call(what: str, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except RuntimeError as error:
        raise AuthenticationError(f"{what} failed in the crypto library: {error}") from error


def kem_keypair(kem: Kem) -> tuple[bytes, bytes]:
    """A fresh (public key, secret key)."""
    with oqs_module().KeyEncapsulation(_require_name(kem)) as instance:
        public = _call("KEM key generation", instance.generate_keypair)
        return public, instance.export_secret_key()


def kem_encapsulate(kem: Kem, public_key: bytes) -> tuple[bytes, bytes]:
    """(ciphertext, shared secret) for the holder of `public_key`."""
    _need_length("KEM public key", public_key, kem_sizes(kem)[0])
    with oqs_module().KeyEncapsulation(_require_name(kem)) as instance:
        ciphertext, secret = _call("encapsulation", instance.encap_secret, public_key)
        return ciphertext, secret


def kem_decapsulate(kem: Kem, secret_key: bytes, ciphertext: bytes) -> bytes:
    """The shared secret in `ciphertext`."""
    _need_length("KEM ciphertext", ciphertext, kem_sizes(kem)[1])
    _need_length("KEM secret key", secret_key, kem_sizes(kem)[2])
    with oqs_module().KeyEncapsulation(_require_name(kem), secret_key) as instance:
        return bytes(_call("decapsulation", instance.decap_secret, ciphertext))


def sig_keypair(sig: Sig) -> tuple[bytes, bytes]:
    """A fresh (public key, secret key)."""
    with oqs_module().Signature(_require_name(sig)) as instance:
        public = _call("signature key generation", instance.generate_keypair)
        return public, instance.export_secret_key()


def sig_sign(sig: Sig, secret_key: bytes, message: bytes) -> bytes:
    """A signature over `message`, without a context string."""
    _need_length("signing key", secret_key, sig_sizes(sig)[1])
    with oqs_module().Signature(_require_name(sig), secret_key) as instance:
        return bytes(_call("signing", instance.sign, message))


def sig_verify(sig: Sig, public_key: bytes, message: bytes, signature: bytes) -> None:
    """Returns when the signature verifies, raises AuthenticationError otherwise."""
    public_bytes, _, longest = sig_sizes(sig)
    _need_length("verification key", public_key, public_bytes)
    if not 0 < len(signature) <= longest:
        raise AuthenticationError(f"the {sig.token} signature has {len(signature)} bytes, which none can have")
    with oqs_module().Signature(_require_name(sig)) as instance:
        if not instance.verify(message, signature, public_key):
            raise AuthenticationError(f"the {sig.token} signature does not verify")

# SPDX-License-Identifier: Apache-2.0
"""Who signs what stands in a registry, and for whom it is sealed: the operator's and the stations' key pairs, as PEM.

The operator signs with ML-DSA-65 (FIPS 204). A station has a key pair of HPKE (RFC 9180) with ML-KEM-768 and X25519.
Both are files that a station and the operator exchange once, each by its public half.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hpke
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey, MLDSA65PublicKey
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_common.atomic_file import atomic_write

_SUITE = hpke.Suite(hpke.KEM.MLKEM768_X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)
_END = b"-----END "
_LARGEST = 16 * 1024  # bytes of a file of keys


@dataclass(frozen=True)
class OperatorPublic:
    """By which a station knows the operator."""

    key: MLDSA65PublicKey

    def signed(self, signature: bytes, message: bytes) -> bool:
        """Is this the operator's signature?"""
        try:
            self.key.verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the raw key, 16 hexadecimal digits."""
        return _fingerprint(self.key.public_bytes_raw())

    def pem(self) -> bytes:
        """As a file."""
        return _public_pem(self.key)


@dataclass(frozen=True)
class Operator:
    """Who decides what stands in a registry."""

    key: MLDSA65PrivateKey

    @staticmethod
    def make() -> Operator:
        """A new one."""
        return Operator(MLDSA65PrivateKey.generate())

    @staticmethod
    def read(path: Path) -> Operator:
        """From its file. Raises CliError."""
        (key,) = _private(path, [MLDSA65PrivateKey], "'pqcmav fleet init' makes one")
        return Operator(key)

    @property
    def public(self) -> OperatorPublic:
        """What the stations are given."""
        return OperatorPublic(self.key.public_key())

    def receipt_key(self, context: bytes) -> bytes:
        """32 bytes that only the operator and the station of this context know, the same at each call."""
        return hmac.digest(self.key.private_bytes_raw(), b"pqcmav receipt\0" + context, "sha256")

    def warning_key(self, stations: Iterable[StationPublic]) -> bytes:
        """32 bytes that these stations are to have in common: others, if one of them is replaced."""
        of = b"".join(sorted(public.fingerprint.encode() for public in stations))
        return hmac.digest(self.key.private_bytes_raw(), b"pqcmav warning\0" + of, "sha256")

    def pem(self) -> bytes:
        """As a file."""
        return _private_pem(self.key)


@dataclass(frozen=True)
class StationPublic:
    """To whom keys are sealed."""

    mlkem: MLKEM768PublicKey
    x25519: X25519PublicKey

    def seal(self, plain: bytes, context: bytes) -> bytes:
        """What only the station can open, and only in this context."""
        return _SUITE.encrypt(plain, hpke.MLKEM768X25519PublicKey(self.mlkem, self.x25519), context)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the raw keys, 16 hexadecimal digits."""
        return _fingerprint(self.mlkem.public_bytes_raw() + self.x25519.public_bytes_raw())

    def pem(self) -> bytes:
        """As a file."""
        return _public_pem(self.mlkem) + _public_pem(self.x25519)


@dataclass(frozen=True)
class Station:
    """Who opens what is sealed to it."""

    mlkem: MLKEM768PrivateKey
    x25519: X25519PrivateKey

    @staticmethod
    def make() -> Station:
        """A new one."""
        return Station(MLKEM768PrivateKey.generate(), X25519PrivateKey.generate())

    @staticmethod
    def read(path: Path) -> Station:
        """From its file. Raises CliError."""
        mlkem, x25519 = _private(path, [MLKEM768PrivateKey, X25519PrivateKey], "'pqcmav fleet station-key' makes one")
        return Station(mlkem, x25519)

    @property
    def public(self) -> StationPublic:
        """What the operator is given."""
        return StationPublic(self.mlkem.public_key(), self.x25519.public_key())

    def opened(self, sealed: bytes, context: bytes) -> bytes | None:
        """None for what is sealed to somebody else, in another context, or altered."""
        try:
            return _SUITE.decrypt(sealed, hpke.MLKEM768X25519PrivateKey(self.mlkem, self.x25519), context)
        except (InvalidTag, ValueError):
            return None

    def pem(self) -> bytes:
        """As a file."""
        return _private_pem(self.mlkem) + _private_pem(self.x25519)


def operator_public(path: Path) -> OperatorPublic:
    """Raises CliError."""
    return OperatorPublic(*_public(path, [MLDSA65PublicKey], "the operator's 'operator.pub'"))


def station_public(path: Path) -> StationPublic:
    """Raises CliError."""
    return StationPublic(
        *_public(path, [MLKEM768PublicKey, X25519PublicKey], "what 'pqcmav fleet station-key' printed")
    )


def write_secret(path: Path, pem: bytes) -> None:
    """A new file of its user alone, whole or not there. Raises CliError; a key that is there is never replaced."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        atomic_write(path, pem, mode=0o600, replace=False)
    except FileExistsError:
        raise CliError(f"{path} is there already, and stays.", ExitCode.USAGE) from None
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror}.") from None


def _fingerprint(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]


def _private_pem(key: MLDSA65PrivateKey | MLKEM768PrivateKey | X25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _public_pem(key: MLDSA65PublicKey | MLKEM768PublicKey | X25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _private(path: Path, kinds: list[type], hint: str) -> list:  # type: ignore[type-arg]
    blocks = _blocks(path, hint)
    state = path.stat()
    if state.st_mode & 0o077 or state.st_uid not in (0, os.geteuid()):
        raise CliError(
            f"Others than its user can read {path}: 'chmod 600 {path}', and make another key if somebody may have.",
            ExitCode.USAGE,
        )
    return _loaded(path, blocks, kinds, lambda pem: load_pem_private_key(pem, None))


def _public(path: Path, kinds: list[type], hint: str) -> list:  # type: ignore[type-arg]
    return _loaded(path, _blocks(path, hint), kinds, load_pem_public_key)


def _blocks(path: Path, hint: str) -> list[bytes]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise CliError(f"There is no {path}: {hint}.", ExitCode.USAGE) from None
    except OSError as error:
        raise CliError(f"{path} cannot be read: {error.strerror}.", ExitCode.USAGE) from None
    if len(text) > _LARGEST:
        raise CliError(f"{path} is too large for a key.", ExitCode.USAGE)
    lines, blocks = text.splitlines(keepends=True), [b""]
    for line in lines:
        blocks[-1] += line
        if line.startswith(_END):
            blocks.append(b"")
    return [block for block in blocks if block.strip()]


def _loaded(path: Path, blocks: list[bytes], kinds: list[type], load) -> list:  # type: ignore[no-untyped-def,type-arg]
    try:
        keys = [load(block) for block in blocks]
    except (ValueError, TypeError):
        keys = []
    if len(keys) != len(kinds) or not all(map(isinstance, keys, kinds)):
        raise CliError(f"{path} is not the key that is wanted here; is it another file, or cut off?", ExitCode.USAGE)
    return keys

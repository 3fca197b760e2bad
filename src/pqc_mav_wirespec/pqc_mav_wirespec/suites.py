# SPDX-License-Identifier: Apache-2.0
"""The suites and the numbers that stand for them on the wire (docs/protocol.md section 1), as data.

Names are looked up, never taken apart: the digits in an algorithm's name say nothing about its level.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from enum import Enum

from .errors import SuiteError


class Edition(Enum):
    """An algorithm that was succeeded and its successor are two; no suite has one of each kind."""

    LASTING = "lasting"
    SUPERSEDED = "superseded"
    LATER = "later"


@dataclass(frozen=True)
class Algorithm:
    """A KEM or a signature algorithm.

    `name` is what the wire calls it. Versions of liboqs know it by one of `library_names`; empty = by its name.
    """

    token: str
    code: str
    level: int
    family_id: int
    param_id: int
    core: bool
    name: str
    edition: Edition = Edition.LASTING
    library_names: tuple[str, ...] = ()


class Kem(Algorithm):
    """A key encapsulation mechanism."""


class Sig(Algorithm):
    """A signature algorithm."""


@dataclass(frozen=True)
class Aead:
    """An authenticated cipher. Keys are given as 32 bytes; `key_bytes` of them are used."""

    token: str
    code: str
    key_bytes: int
    nonce_bytes: int
    edition: Edition = Edition.LASTING


def _frodo(name: str) -> tuple[str, ...]:
    """Since liboqs 0.14 the name without the e is that of another one, with a salt."""
    return ("e" + name, name)


KEMS = (
    Kem("mlkem512", "ML-512", 1, 1, 1, True, "ML-KEM-512"),
    Kem("mlkem768", "ML-768", 3, 1, 2, True, "ML-KEM-768"),
    Kem("mlkem1024", "ML-1024", 5, 1, 3, True, "ML-KEM-1024"),
    Kem("hqc128", "HQC-128", 1, 2, 1, True, "HQC-128", Edition.SUPERSEDED),
    Kem("hqc192", "HQC-192", 3, 2, 2, True, "HQC-192", Edition.SUPERSEDED),
    Kem("hqc256", "HQC-256", 5, 2, 3, True, "HQC-256", Edition.SUPERSEDED),
    Kem("classicmceliece348864", "MC-348", 1, 3, 1, True, "Classic-McEliece-348864"),
    Kem("classicmceliece460896", "MC-460", 3, 3, 2, True, "Classic-McEliece-460896"),
    Kem("classicmceliece8192128", "MC-8192", 5, 3, 3, True, "Classic-McEliece-8192128"),
    Kem("frodokem640aes", "FR-640A", 1, 4, 1, False, "FrodoKEM-640-AES", library_names=_frodo("FrodoKEM-640-AES")),
    Kem("frodokem976aes", "FR-976A", 3, 4, 2, False, "FrodoKEM-976-AES", library_names=_frodo("FrodoKEM-976-AES")),
    Kem("frodokem1344aes", "FR-1344A", 5, 4, 3, False, "FrodoKEM-1344-AES", library_names=_frodo("FrodoKEM-1344-AES")),
    Kem("hqc1", "HQC-1", 1, 5, 1, False, "HQC-1", Edition.LATER),
    Kem("hqc3", "HQC-3", 3, 5, 2, False, "HQC-3", Edition.LATER),
    Kem("hqc5", "HQC-5", 5, 5, 3, False, "HQC-5", Edition.LATER),
)

SIGS = (
    Sig("mldsa44", "MD-44", 1, 1, 1, True, "ML-DSA-44"),
    Sig("mldsa65", "MD-65", 3, 1, 2, True, "ML-DSA-65"),
    Sig("mldsa87", "MD-87", 5, 1, 3, True, "ML-DSA-87"),
    Sig("falcon512", "FA-512", 1, 2, 1, True, "Falcon-512"),
    Sig("falcon1024", "FA-1024", 5, 2, 2, True, "Falcon-1024"),
    Sig("sphincs128s", "SP-128s", 1, 3, 1, True, "SPHINCS+-SHA2-128s-simple", Edition.SUPERSEDED),
    Sig("sphincs192s", "SP-192s", 3, 3, 2, True, "SPHINCS+-SHA2-192s-simple", Edition.SUPERSEDED),
    Sig("sphincs256s", "SP-256s", 5, 3, 3, True, "SPHINCS+-SHA2-256s-simple", Edition.SUPERSEDED),
    Sig("sphincs128fsha2", "SP-128f", 1, 3, 4, False, "SPHINCS+-SHA2-128f-simple", Edition.SUPERSEDED),
    Sig("sphincs192fsha2", "SP-192f", 3, 3, 5, False, "SPHINCS+-SHA2-192f-simple", Edition.SUPERSEDED),
    Sig("sphincs256fsha2", "SP-256f", 5, 3, 6, False, "SPHINCS+-SHA2-256f-simple", Edition.SUPERSEDED),
    Sig("slhdsa128s", "SL-128s", 1, 4, 1, False, "SLH-DSA-SHA2-128s", Edition.LATER, ("SLH_DSA_PURE_SHA2_128S",)),
    Sig("slhdsa192s", "SL-192s", 3, 4, 2, False, "SLH-DSA-SHA2-192s", Edition.LATER, ("SLH_DSA_PURE_SHA2_192S",)),
    Sig("slhdsa256s", "SL-256s", 5, 4, 3, False, "SLH-DSA-SHA2-256s", Edition.LATER, ("SLH_DSA_PURE_SHA2_256S",)),
    Sig("slhdsa128f", "SL-128f", 1, 4, 4, False, "SLH-DSA-SHA2-128f", Edition.LATER, ("SLH_DSA_PURE_SHA2_128F",)),
    Sig("slhdsa192f", "SL-192f", 3, 4, 5, False, "SLH-DSA-SHA2-192f", Edition.LATER, ("SLH_DSA_PURE_SHA2_192F",)),
    Sig("slhdsa256f", "SL-256f", 5, 4, 6, False, "SLH-DSA-SHA2-256f", Edition.LATER, ("SLH_DSA_PURE_SHA2_256F",)),
)

AES_GCM = Aead("aesgcm", "AG", 32, 12)
CHACHA20_POLY1305 = Aead("chacha20poly1305", "CP", 32, 12)
ASCON_128A = Aead("ascon128a", "AS", 16, 16, Edition.SUPERSEDED)
ASCON_AEAD128 = Aead("asconaead128", "AA", 16, 16, Edition.LATER)
AEADS = (AES_GCM, CHACHA20_POLY1305, ASCON_128A, ASCON_AEAD128)


_LEVEL_BITS = {1: 0x4000, 3: 0x8000}


@dataclass(frozen=True)
class Suite:
    """One combination of equal NIST level; `id` is what the wire carries, `short_code` an alias for people."""

    kem: Kem
    aead: Aead
    sig: Sig

    @property
    def id(self) -> str:
        """`cs-{kem}-{aead}-{sig}`."""
        return f"cs-{self.kem.token}-{self.aead.token}-{self.sig.token}"

    @property
    def short_code(self) -> str:
        """Such as `ML-768-AG-MD-65`."""
        return f"{self.kem.code}-{self.aead.code}-{self.sig.code}"

    @property
    def editions(self) -> set[Edition]:
        """Of its parts."""
        return {self.kem.edition, self.aead.edition, self.sig.edition}

    @property
    def published(self) -> bool:
        """Whether it is one of the 132."""
        return Edition.LATER not in self.editions

    @property
    def core(self) -> bool:
        """Whether it is one of the 72."""
        return self.published and self.kem.core and self.sig.core

    @property
    def families(self) -> int:
        """The bits of its two families and its level, as a Reject 2 has them (docs/protocol.md section 4)."""
        return 1 << (self.kem.family_id - 1) | 1 << (7 + self.sig.family_id) | _LEVEL_BITS.get(self.kem.level, 0)

    @property
    def header_ids(self) -> bytes:
        """The four id bytes of a data-plane header."""
        return bytes((self.kem.family_id, self.kem.param_id, self.sig.family_id, self.sig.param_id))


ALL_SUITES: tuple[Suite, ...] = tuple(
    suite
    for suite in (Suite(kem, aead, sig) for kem in KEMS for aead in AEADS for sig in SIGS if kem.level == sig.level)
    if not suite.editions >= {Edition.SUPERSEDED, Edition.LATER}
)
CORE_SUITES: tuple[Suite, ...] = tuple(suite for suite in ALL_SUITES if suite.core)

_BY_ID = {suite.id: suite for suite in ALL_SUITES}
_BY_NAME = _BY_ID | {suite.short_code: suite for suite in ALL_SUITES}


def suite_by_id(suite_id: str) -> Suite | None:
    """The suite with exactly this id, as the wire carries it; None when the table has none."""
    return _BY_ID.get(suite_id)


def find_suite(name: str) -> Suite:
    """The suite with this id or short code; SuiteError with the closest names otherwise."""
    suite = _BY_NAME.get(name)
    if suite is None:
        close = ", ".join(difflib.get_close_matches(name, _BY_NAME, n=3)) or "none is close"
        raise SuiteError(f"no suite is called {name!r}; closest: {close}")
    return suite

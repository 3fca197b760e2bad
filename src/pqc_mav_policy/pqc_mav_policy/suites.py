# SPDX-License-Identifier: Apache-2.0
"""Cipher suites as the policy sees them: the registry's columns, never a parsed name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Suite:
    """One suite of the registry; `level` is the NIST level (1, 3, 5), tokens are those of the suite's id."""

    id: str
    short_code: str
    level: int
    kem_family: str
    sig_family: str
    kem_token: str
    sig_token: str
    aead_token: str
    public_key_bytes: int
    ciphertext_bytes: int
    signature_bytes: int
    core: bool = True
    published: bool = True  # one of the 132 of 2025
    standard: bool = True  # a published standard specifies all three algorithms

    @property
    def pair(self) -> tuple[str, str]:
        """KEM and signature. Suites that differ in the cipher alone make the same handshake: scatter between what
        theirs took is no difference."""
        return self.kem_token, self.sig_token

    @property
    def handshake_bytes(self) -> int:
        """Bytes of key, ciphertext and signature, the part of a handshake that differs between suites."""
        return self.public_key_bytes + self.ciphertext_bytes + self.signature_bytes

    @property
    def answer_bytes(self) -> int:
        """Of key and signature, which the ground station's long message consists of."""
        return self.public_key_bytes + self.signature_bytes

    @classmethod
    def from_registry(cls, entry: Mapping[str, Any]) -> Suite:
        """From `SuiteInfo.as_dict()` of the engine's registry."""
        return cls(**{name: entry[name] for name in cls.__dataclass_fields__})


class Catalogue(Mapping[str, Suite]):
    """All suites the policy knows, by id, in the registry's order. Immutable."""

    def __init__(self, suites: Iterable[Suite]) -> None:
        self._suites = {suite.id: suite for suite in suites}
        self._by_code = {suite.short_code: suite for suite in self._suites.values()}

    def __getitem__(self, suite_id: str) -> Suite:
        return self._suites[suite_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._suites)

    def __len__(self) -> int:
        return len(self._suites)

    def find(self, name: str) -> Suite | None:
        """By id or short code (`ML-768-AG-MD-65`); None when unknown."""
        return self._suites.get(name) or self._by_code.get(name)

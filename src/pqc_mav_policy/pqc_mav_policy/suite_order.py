# SPDX-License-Identifier: Apache-2.0
"""Orders suites from light to heavy: the published tier, and the total order the policy uses.

The published tier ([pqcmav-paper] Eq. 4: L + K + A) is called a total order there, but gives ties (HQC with Ascon
against McEliece with AES), ignores the signature, which dominates every handshake with SPHINCS+, and puts the level
first, so that one step "down" from ML-KEM-1024 (0.7 ms) leads to McEliece-460896 (90 ms). It is kept for comparison.

The order used puts first what a handshake costs: the octave of its published computation (suite_cost). Suites in one
octave differ by less than any link notices; among them the level counts, then family, signature, AEAD, bytes and id.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suites import Suite

OrderName = Literal["cost", "published"]

LEVEL_POINTS: Mapping[int, int] = {1: 0, 3: 10, 5: 20}
KEM_POINTS: Mapping[str, int] = {"ML-KEM": 0, "HQC": 3, "Classic-McEliece": 5}
AEAD_POINTS: Mapping[str, int] = {"aesgcm": 0, "chacha20poly1305": 1, "ascon128a": 2}
# With what the tier lacks; only order suites within one octave and level.
AEAD_ORDER: Mapping[str, int] = {**AEAD_POINTS, "asconaead128": 3}
FAMILY_ORDER: Mapping[str, int] = {"ML-KEM": 0, "FrodoKEM": 1, "HQC": 2, "Classic-McEliece": 3}
SIG_ORDER: Mapping[str, int] = {"Falcon": 0, "ML-DSA": 1, "SLH-DSA": 2, "SPHINCS+": 3}
# Everything up to this is one octave: to a link, handshakes of a few ms are all the same.
LIGHT_MS = 4.0

CostKey = tuple[int, int, int, int, int, int, str]


def published_tier(suite: Suite) -> int | None:
    """The tier of [pqcmav-paper], 0 (lightest) to 27; None for a part outside it (FrodoKEM, a later edition)."""
    if suite.kem_family not in KEM_POINTS or not suite.published:
        return None
    return LEVEL_POINTS[suite.level] + KEM_POINTS[suite.kem_family] + AEAD_POINTS[suite.aead_token]


def octave(suite: Suite) -> int:
    """0 up to 4 ms of published computation, 1 up to 8 ms, and so on."""
    return max(0, math.ceil(math.log2(work_ms(suite.kem_token, suite.sig_token) / LIGHT_MS)))


def cost_key(suite: Suite) -> CostKey:
    """Sorts suites from light to heavy; no two suites have the same key."""
    return (
        octave(suite),
        suite.level,
        FAMILY_ORDER[suite.kem_family],
        SIG_ORDER[suite.sig_family],
        AEAD_ORDER[suite.aead_token],
        suite.handshake_bytes,
        suite.id,
    )


def published_key(suite: Suite) -> CostKey:
    """The published tier, its ties broken by the cost order; families outside it come last."""
    tier = published_tier(suite)
    return (tier if tier is not None else 1 + max_published_tier(), *cost_key(suite)[1:6], suite.id)


def max_published_tier() -> int:
    """27, the tier of McEliece at level 5 with Ascon."""
    return max(LEVEL_POINTS.values()) + max(KEM_POINTS.values()) + max(AEAD_POINTS.values())


class SuiteOrder:
    """Ranks a set of suites: 0 is the lightest, every rank is held by one suite. Immutable."""

    def __init__(self, suites: Iterable[Suite], order: OrderName = "cost") -> None:
        key = cost_key if order == "cost" else published_key
        self.name = order
        self._sorted = tuple(sorted(suites, key=key))
        self._ranks = {suite.id: rank for rank, suite in enumerate(self._sorted)}

    @property
    def suites(self) -> tuple[Suite, ...]:
        """From light to heavy."""
        return self._sorted

    def rank(self, suite_id: str) -> int:
        """0 for the lightest. Raises KeyError for a suite outside the set."""
        return self._ranks[suite_id]

    def lightest(self, suite_ids: Iterable[str]) -> str | None:
        """The lightest of the given ones; None when none is known."""
        known = [suite_id for suite_id in suite_ids if suite_id in self._ranks]
        return min(known, key=self.rank) if known else None

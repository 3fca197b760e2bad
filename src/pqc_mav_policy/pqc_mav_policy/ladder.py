# SPDX-License-Identifier: Apache-2.0
"""Which suite a step leads to: down, all the way down, back up. Pure; the candidates are given.

A step down keeps the NIST level as long as it can: first to a lighter KEM family at the same level (McEliece, HQC,
ML-KEM), dropping a hash-based signature on the way, and only then to the level below.
"""

from collections.abc import Collection, Iterable

from pqc_mav_policy.suite_order import FAMILY_ORDER, OrderName, SuiteOrder, octave
from pqc_mav_policy.suites import Catalogue, Suite

HEAVY_SIGNATURES = frozenset({"SPHINCS+", "SLH-DSA"})
TARGET_MAX = "max"
# Where the present signature cannot be kept, the standardised one comes before the smaller one.
_SIGNATURE_PREFERENCE = ("ML-DSA", "Falcon", "SLH-DSA", "SPHINCS+")


class Ladder:
    """Steps over a catalogue in one order. Immutable."""

    def __init__(self, catalogue: Catalogue, order: OrderName = "cost") -> None:
        self.catalogue = catalogue
        self.order = SuiteOrder(catalogue.values(), order)

    def code(self, suite_id: str) -> str:
        """How people call a suite; an unknown one by its id."""
        suite = self.catalogue.get(suite_id)
        return suite.short_code if suite else suite_id

    def known(self, suite_ids: Iterable[str]) -> tuple[str, ...]:
        """Those of the ids that are in the catalogue, from light to heavy, each once."""
        return tuple(sorted({suite for suite in suite_ids if suite in self.catalogue}, key=self.order.rank))

    def lighter(self, suite_id: str, than: str) -> bool:
        """Whether `suite_id` comes before `than`."""
        return self.order.rank(suite_id) < self.order.rank(than)

    def lightest_below(self, current: str, candidates: Collection[str]) -> str | None:
        """The lightest candidate, if it is lighter than the current suite."""
        lightest = self.order.lightest(candidates)
        return lightest if lightest is not None and self.lighter(lightest, current) else None

    def down(self, current: str, candidates: Collection[str]) -> str | None:
        """One step down among the candidates; None where none leads to less work or a lower level."""
        here = self.catalogue[current]
        steps = [self.catalogue[name] for name in candidates if name in self.catalogue]
        steps = [suite for suite in steps if self._is_step(here, suite)]
        return min(steps, key=lambda suite: self._preference(here, suite)).id if steps else None

    def target(self, wanted: str, candidates: Collection[str]) -> str | None:
        """The suite to climb to: `wanted` (id, short code or 'max'), or the candidate closest to it.

        Closest means at most its level and cost (octave), and of those the highest level; None when there is none.
        """
        known = self.known(candidates)
        if not known:
            return None
        if wanted == TARGET_MAX:
            return known[-1]
        aim = self.catalogue.find(wanted)
        if aim is None or aim.id in known:
            return aim.id if aim else None
        near = [self.catalogue[name] for name in known]
        near = [suite for suite in near if suite.level <= aim.level and octave(suite) <= octave(aim)]
        return max(near, key=lambda suite: self._closeness(aim, suite)).id if near else None

    def _closeness(self, aim: Suite, suite: Suite) -> tuple[object, ...]:
        return (
            suite.level,
            suite.kem_token == aim.kem_token,
            suite.sig_token == aim.sig_token,
            octave(suite),
            -abs(self.order.rank(suite.id) - self.order.rank(aim.id)),
        )

    def _is_step(self, here: Suite, there: Suite) -> bool:
        if not self.lighter(there.id, here.id) or there.level > here.level:
            return False
        lighter_family = FAMILY_ORDER[there.kem_family] < FAMILY_ORDER[here.kem_family]
        return there.level < here.level or lighter_family or octave(there) < octave(here)

    def _preference(self, here: Suite, there: Suite) -> tuple[object, ...]:
        distance = FAMILY_ORDER[here.kem_family] - FAMILY_ORDER[there.kem_family]
        family = distance if distance > 0 else 10 - distance
        kept = there.sig_family == here.sig_family
        return (
            -there.level,
            family,
            there.sig_family in HEAVY_SIGNATURES,
            not kept,
            _SIGNATURE_PREFERENCE.index(there.sig_family),
            there.aead_token != here.aead_token,
            -self.order.rank(there.id),
        )

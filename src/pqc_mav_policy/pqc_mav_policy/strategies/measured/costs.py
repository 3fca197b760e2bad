# SPDX-License-Identifier: Apache-2.0
"""What a handshake of a suite costs here: seconds of computation and transfer, and joules where they were measured.

Computation comes from the owner's performance file (`pqcmav bench performance`, `pqcmav policy learn`); suites it
lacks, and drones without one, from the published medians, scaled by how this machine compares. The transfer is the
suite's bytes over the link, as far as loss leaves it. A suite whose handshake ran lately costs what was measured,
without the waiting that all suites share (round trips), which the cheapest of the measured ones shows.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from pqc_mav_policy.strategies.expert.performance import PerformanceTable
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.suite_cost import work_ms
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import Link, Outcome

# Weight of the newest handshake in the mean of a suite's.
NEWEST = 0.3
# Loss above this is reckoned as this: the handshake's own repetitions end before its time goes to infinity.
MOST_LOSS = 0.99

# For how long a handshake counts: anybody in the path can delay one, and a link gets better [s].
REMEMBERED_S = 600.0

# A suite, the mean time of handshakes with its KEM and signature [s], and when the last of them ended [s]; sorted.
Seen = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class CostModel:
    """Computation by suite [s] and energy by suite [J], where measured; `source` in words."""

    catalogue: Catalogue
    compute_s: Mapping[str, float]
    energy_j: Mapping[str, float]
    parameters: MeasuredParameters
    source: str

    def note(self, seen: Seen, outcomes: tuple[Outcome, ...], now: float) -> Seen:
        """With the handshakes of new outcomes, and without those of long ago."""
        times = {self.catalogue[entry[0]].pair: entry for entry in seen if now - entry[2] < REMEMBERED_S}
        for outcome in outcomes:
            if outcome.ok and outcome.took_s is not None and outcome.suite in self.catalogue:
                pair = self.catalogue[outcome.suite].pair
                before = times[pair][1] if pair in times else outcome.took_s
                times[pair] = outcome.suite, before + NEWEST * (outcome.took_s - before), now
        return tuple(sorted(times.values()))

    def predicted_s(self, suite: str, link: Link) -> float:
        """Computation and transfer of one handshake at the link's present loss."""
        return self.compute_s[suite] + self._transfer_s(self.catalogue[suite].handshake_bytes, link)

    def _transfer_s(self, size: int, link: Link) -> float:
        loss = min(MOST_LOSS, link.loss or 0.0) if link.valid else 0.0
        return 8.0 * size / (1000.0 * self.parameters.link_kbit_s * (1.0 - loss))

    def cost_s(self, suite: str, link: Link, seen: Seen) -> float:
        """What is to be expected of one: as predicted, or as measured lately where that was longer."""
        predicted = self.predicted_s(suite, link)
        alike = [took for name, took, _ in seen if self.catalogue[name].pair == self.catalogue[suite].pair]
        if not alike:
            return predicted
        waiting = min(max(0.0, took - self.predicted_s(name, link)) for name, took, _ in seen)
        return max(predicted, alike[0] - waiting)

    def ratchet_s(self, suite: str, link: Link) -> float:
        """What a ratchet of this suite takes: key and ciphertext of ML-KEM of its level, at most the computation of a
        whole handshake with that."""
        level = self.catalogue[suite].level
        alike = [each for each in self.catalogue.values() if each.level == level and each.kem_family == "ML-KEM"]
        if not alike:
            return math.inf
        least = min(alike, key=lambda each: self.compute_s[each.id])
        return self.compute_s[least.id] + self._transfer_s(least.public_key_bytes + least.ciphertext_bytes, link)

    def fits(self, suite: str, link: Link, seen: Seen, budget_s: float) -> bool:
        """Whether time and energy are within the budget."""
        energy = self.energy_j.get(suite, 0.0)
        return energy <= self.parameters.budget_j and self.cost_s(suite, link, seen) <= budget_s


def _by_pairs(catalogue: Catalogue, figures: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The median of what suites with the same KEM and signature have, for each that has them."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, figure in figures:
        found.setdefault(catalogue[name].pair, []).append(figure)
    return {each.id: median(found[each.pair]) for each in catalogue.values() if each.pair in found}


def cost_model(catalogue: Catalogue, parameters: MeasuredParameters, table: PerformanceTable | None) -> CostModel:
    """Of this machine's table, or of the published medians without one."""
    published = {suite.id: work_ms(suite.kem_token, suite.sig_token) / 1e3 for suite in catalogue.values()}
    if table is None:
        return CostModel(catalogue, published, {}, parameters, "published medians, Raspberry Pi 5")
    rows = [row for name, row in table.items() if name in published]
    factor = median([row.handshake_ms / 1e3 / published[row.suite] for row in rows]) if rows else 1.0
    compute = {name: factor * seconds for name, seconds in published.items()}
    compute |= _by_pairs(catalogue, [(row.suite, row.handshake_ms / 1e3) for row in rows])
    energy = _by_pairs(catalogue, [(row.suite, row.energy_j) for row in rows if row.energy_j is not None])
    return CostModel(catalogue, compute, energy, parameters, ", ".join(table.sources))

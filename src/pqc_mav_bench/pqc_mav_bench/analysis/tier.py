# SPDX-License-Identifier: Apache-2.0
"""The published tier function, and how well it follows what was measured."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pqc_mav_bench.analysis.correlation import pearson, spearman
from pqc_mav_bench.analysis.estimate import FEWEST_PAIRS, Estimate

#: Points of PQC-MAV paper Eq. 4. FrodoKEM is not in it and has no tier.
LEVEL_POINTS = {1: 0, 3: 10, 5: 20}
FAMILY_POINTS = {"ML-KEM": 0, "HQC": 3, "Classic-McEliece": 5}
_RESAMPLES = 500
_SEED = 20261123
AEAD_POINTS = {"AES-256-GCM": 0, "ChaCha20-Poly1305": 1, "Ascon-128a": 2}


def tier(level: int, kem_family: str, aead: str) -> int | None:
    """Tier 0 (lightest) to 27 of a suite, None when the published function does not cover it."""
    points = (LEVEL_POINTS.get(level), FAMILY_POINTS.get(kem_family), AEAD_POINTS.get(aead))
    return None if None in points else sum(p for p in points if p is not None)


def with_tier(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose suite has a tier, with it as integer column `tier`."""
    tiers = [tier(int(r.nist_level), str(r.kem_family), str(r.aead)) for r in table.itertuples()]
    kept = table.assign(tier=tiers).dropna(subset=["tier"])
    return kept.assign(tier=kept["tier"].astype(int))


def correlation(table: pd.DataFrame, cost: str = "handshake_ms") -> tuple[float, float]:
    """(Pearson, Spearman) correlation of tier and cost over the rows that have both."""
    rows = with_tier(table).dropna(subset=[cost])
    return pearson(rows["tier"], rows[cost]), spearman(rows["tier"], rows[cost])


def correlations(table: pd.DataFrame, cost: str = "handshake_ms") -> tuple[Estimate, Estimate]:
    """`correlation` with 95 % intervals: pairs of KEM and signature are resampled (bootstrap), as suites that differ in
    the cipher alone make the same handshake."""
    rows = with_tier(table).dropna(subset=[cost])
    values = correlation(table, cost)
    clusters = [part[["tier", cost]].to_numpy(dtype=float) for _, part in rows.groupby(["kem", "sig"])]
    if len(clusters) < FEWEST_PAIRS:
        return Estimate(values[0]), Estimate(values[1])
    dice = np.random.default_rng(_SEED)
    drawn = []
    for chosen in dice.integers(len(clusters), size=(_RESAMPLES, len(clusters))):
        tiers, costs = np.concatenate([clusters[i] for i in chosen]).T
        ranks = (pd.Series(side).rank().to_numpy() for side in (tiers, costs))
        drawn.append((_pearson(tiers, costs), _pearson(*ranks)))
    ends = np.nanquantile(np.array(drawn), (0.025, 0.975), axis=0)
    first, second = (
        Estimate(value, min(float(low), value), max(float(high), value))
        for value, low, high in zip(values, ends[0], ends[1], strict=True)
    )
    return first, second


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """`pearson` of values that are all known, of which a thousand are resampled."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])

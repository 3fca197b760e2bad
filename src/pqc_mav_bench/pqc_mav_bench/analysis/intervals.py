# SPDX-License-Identifier: Apache-2.0
"""Which suites' handshakes can be told apart: intervals of their medians, ranks with ties.

Two suites are told apart when the 95 % intervals of their medians do not overlap, which errs on the side of a tie. A
suite with fewer than RANKED_FROM handshakes is not ranked at all: one sample is no figure.

The handshakes of one run follow each other within seconds, so they share whatever the machine did then: they tell how
handshakes scatter, not how runs do. Suites that differ in the cipher alone make the same handshake, of which the cipher
seals hardly a hundred bytes. So the interval of a suite is that of its KEM and signature, over all their runs.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL, median_interval

#: Handshakes of a suite from which its figure takes part in a ranking.
RANKED_FROM = 30
#: Runs of its KEM and signature from which it does: with one, nothing tells how far runs differ.
RANKED_RUNS = 2
COUNT, LOW, HIGH = "handshake_n", "handshake_low_ms", "handshake_high_ms"
RUNS = "handshake_runs"
#: Runs of a suite from which resampling them tells how far runs differ.
_ENOUGH_RUNS = 6
_RESAMPLES = 2000
_SEED = 20261123


def clustered_interval(runs: Sequence[Sequence[float]], seed: int = _SEED) -> tuple[float, float]:
    """95 % interval of the median of the runs' medians: runs are resampled, and in each its values (bootstrap).

    Few runs say little about how far runs differ: then the interval reaches at least from the least to the greatest of
    their medians. Raises ValueError without a value.
    """
    groups = [np.asarray(values, dtype=np.float64) for values in runs if len(values)]
    if not groups:
        raise ValueError("an interval needs a value")
    dice = np.random.default_rng(seed)
    # Each column: one run's median in each resampling of its values.
    medians = np.stack(
        [np.median(dice.choice(values, size=(_RESAMPLES, len(values))), axis=1) for values in groups], axis=1
    )
    chosen = dice.integers(len(groups), size=(_RESAMPLES, len(groups)))
    low, high = np.quantile(np.median(np.take_along_axis(medians, chosen, axis=1), axis=1), (0.025, 0.975))
    if len(groups) < _ENOUGH_RUNS:
        own = [float(np.median(values)) for values in groups]
        low, high = min(low, *own), max(high, *own)
    return float(low), float(high)


def interval(runs: Sequence[Sequence[float]]) -> tuple[float, float]:
    """95 % interval of a median handshake: by ranks within one run, by resampling over several.

    NaN where there are too few handshakes.
    """
    counted = [values for values in runs if len(values)]
    if sum(map(len, counted)) < FEWEST_FOR_AN_INTERVAL:
        return math.nan, math.nan
    return median_interval(counted[0]) if len(counted) == 1 else clustered_interval(counted)


def attach(suites: pd.DataFrame, single: pd.DataFrame) -> pd.DataFrame:
    """`suites` (a row per scenario and suite) with how many handshakes each has, and the interval of its pair.

    `single`: the table of single handshakes with the same names of suites.
    """
    runs: dict[tuple[str, str], list[list[float]]] = {}
    if len(single):
        for (scenario, suite, _), rows in single.groupby(["scenario", "suite", "repetition"], sort=False):
            runs.setdefault((scenario, suite), []).append(rows["handshake_ms"].dropna().tolist())
    own = [runs.get((row.scenario, row.suite), []) for row in suites.itertuples()]
    pairs = [(row.scenario, row.kem, row.sig) if row.kem else (row.scenario, row.suite) for row in suites.itertuples()]
    of_pair: dict[tuple[str, ...], list[list[float]]] = {}
    for pair, found in zip(pairs, own, strict=True):
        of_pair.setdefault(pair, []).extend(each for each in found if each)
    intervals = {pair: interval(found) for pair, found in of_pair.items()}
    # A median of its own may lie outside the interval of many runs: then the interval reaches to it.
    medians = suites["handshake_ms"].tolist()
    return suites.assign(
        **{
            COUNT: [float(sum(map(len, each))) for each in own],
            RUNS: [float(len(of_pair[pair])) for pair in pairs],
            LOW: [min(intervals[pair][0], mid) for pair, mid in zip(pairs, medians, strict=True)],
            HIGH: [max(intervals[pair][1], mid) for pair, mid in zip(pairs, medians, strict=True)],
        }
    )


def is_ranked(suites: pd.DataFrame) -> pd.Series:
    """Which rows have enough handshakes. Published figures have no count and are taken as they were printed."""
    if COUNT not in suites.columns:
        return pd.Series(True, suites.index)
    return (suites[COUNT] >= RANKED_FROM) & (suites[RUNS] >= RANKED_RUNS) & suites[LOW].notna()


def ends(suites: pd.DataFrame) -> list[tuple[float, float]]:
    """Both ends of each row's handshake [ms]: NaN where it has too few, twice the figure where it was published."""
    if LOW not in suites.columns:
        return [(float(value), float(value)) for value in suites["handshake_ms"]]
    kept = suites[[LOW, HIGH]].where(is_ranked(suites))
    return [(float(low), float(high)) for low, high in zip(kept[LOW], kept[HIGH], strict=True)]


def either(best: str, worst: str) -> str:
    """What both ends of an interval are called, if that differs both."""
    return best if best == worst else f"{best} or {worst}"


def tied_with_the_least(suites: pd.DataFrame, cost: str = "handshake_ms") -> pd.DataFrame:
    """The rows that cannot be told apart from the one with the least cost, that one first.

    Without intervals it is that row alone.
    """
    rows = suites.dropna(subset=[cost]).sort_values(cost, kind="stable")
    if rows.empty or LOW not in rows.columns:
        return rows.head(1)
    return rows[(rows[LOW] <= rows[HIGH].iloc[0]) | (rows.index == rows.index[0])]


def with_rank_ranges(suites: pd.DataFrame) -> pd.DataFrame:
    """The rows with `rank_from` and `rank_to`: the best and the worst rank that the intervals leave to each."""
    low, high = suites[LOW].to_numpy(), suites[HIGH].to_numpy()
    surely_faster = (high[None, :] < low[:, None]).sum(axis=1)
    surely_slower = (low[None, :] > high[:, None]).sum(axis=1)
    return suites.assign(rank_from=1 + surely_faster, rank_to=len(suites) - surely_slower)

# SPDX-License-Identifier: Apache-2.0
"""Which suites' handshakes can be told apart: intervals of their medians, ranks with ties.

The tie rule of this project stands here alone. Two figures of different runs are told apart when their 95 % intervals
do not overlap, which errs on the side of a tie. Two conditions of the same pairs are told apart when the paired test
of `paired` says so at SIGNIFICANCE after Holm's correction, because each pair is then its own yardstick and overlap
would waste it. No figure is rounded before either decision. What is no tie need not matter: its size stands beside it.

The handshakes of one run follow each other within seconds, so they share whatever the machine did then: they tell how
handshakes scatter, not how runs do. The unit is therefore the run, and its figure the median of its handshakes. Suites
that differ in the cipher alone make the same handshake, of which the cipher seals hardly a hundred bytes. So a suite's
figure is that of its KEM and signature: the median over all their runs, with the interval of that median.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL, median_interval

#: Paired comparisons are called different below this p, after Holm's correction.
SIGNIFICANCE = 0.05
#: Handshakes of a suite from which its figure takes part in a ranking.
RANKED_FROM = 30
#: Runs of its KEM and signature from which it does: with one, nothing tells how far runs differ.
RANKED_RUNS = 2
#: Both in words, and the command that gives them.
NEEDED = f"{RANKED_FROM} handshakes of each suite and {RANKED_RUNS} runs of its KEM and signature"
MEASURES = f"'pqcmav bench run --handshakes {RANKED_FROM} --repetitions {RANKED_RUNS}' measures them."
COUNT, LOW, HIGH = "handshake_n", "handshake_low_ms", "handshake_high_ms"
RUNS = "handshake_runs"
#: What a suite's own runs took, without those of its pair with another cipher.
OWN = "handshake_own_ms"
#: With fewer runs no order statistics enclose the median in 95 of 100 cases: the least and the greatest of two do so in
#: 50, of three in 75. Then the interval is the median times and over exp(factor * s), s the standard deviation of the
#: runs' logarithms: the 95 % point of |median| / s of normal samples of that size.
FEW_RUNS = {2: 8.985, 3: 2.550, 4: 1.637, 5: 1.352}


def run_median(runs: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """The median over runs of each run's median, and the ends of its 95 % interval.

    By ranks from FEWEST_FOR_AN_INTERVAL runs on, by FEW_RUNS below. The ends are NaN for one run, which tells nothing
    of how runs differ, and for few runs that are not all positive. A wide interval is given as it is: without the wide
    ones, the others would enclose the median less often than they say. Raises ValueError without a value.
    """
    middles = [float(np.median(values)) for values in runs if len(values)]
    if not middles:
        raise ValueError("an interval needs a value")
    middle = float(np.median(middles))
    if len(middles) >= FEWEST_FOR_AN_INTERVAL:
        return (middle, *median_interval(middles))
    if len(middles) == 1 or min(middles) <= 0:
        return middle, math.nan, math.nan
    reach = math.exp(FEW_RUNS[len(middles)] * float(np.std(np.log(middles), ddof=1)))
    return middle, middle / reach, middle * reach


def attach(suites: pd.DataFrame, single: pd.DataFrame) -> pd.DataFrame:
    """`suites` (a row per scenario and suite) with how many handshakes each has, and the median of its pair with its
    interval in place of the suite's own, which stays as OWN.

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
    unknown = (math.nan,) * 3
    figures = {pair: run_median(found) if found else unknown for pair, found in of_pair.items()}
    middles = [figures[pair][0] for pair in pairs]
    return suites.assign(
        **{
            OWN: suites["handshake_ms"],
            **_bytes_of_pairs(suites),
            # A run of an old campaign kept its median alone: that is the figure, without an interval.
            "handshake_ms": pd.Series(middles, suites.index).fillna(suites["handshake_ms"]),
            COUNT: [float(sum(map(len, each))) for each in own],
            RUNS: [float(len(of_pair[pair])) for pair in pairs],
            LOW: [figures[pair][1] for pair in pairs],
            HIGH: [figures[pair][2] for pair in pairs],
        }
    )


def _bytes_of_pairs(suites: pd.DataFrame) -> dict[str, pd.Series]:
    """The bytes of each pair's handshake, one figure for all its ciphers and scenarios: the median, since a name has a
    few more than another and an acknowledgement is not always needed."""
    if "handshake_bytes" not in suites.columns or not suites["kem"].astype(bool).all():
        return {}
    return {"handshake_bytes": suites.groupby(["kem", "sig"])["handshake_bytes"].transform("median")}


def is_ranked(suites: pd.DataFrame) -> pd.Series:
    """Which rows have enough handshakes and runs. Published figures have no count and are taken as printed."""
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

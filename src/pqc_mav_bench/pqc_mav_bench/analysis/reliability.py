# SPDX-License-Identifier: Apache-2.0
"""Loss: intervals of a measured loss ratio, resilience under detector load, adaptive flag, goodput."""

import pandas as pd

from pqc_mav_bench.analysis.change import percent
from pqc_mav_bench.analysis.statistics import wilson

#: Offered load of the 2025 workload [Mb/s]: 256-byte packets.
TARGET_MBPS = 8.0


def wilson_percent(lost: int, sent: int) -> tuple[float, float]:
    """Wilson score interval of a loss ratio [%]. Raises ValueError unless 0 <= lost <= sent and sent > 0."""
    low, high = wilson(lost, sent)
    return 100.0 * low, 100.0 * high


def goodput_percent(throughput_mbps: float, target_mbps: float = TARGET_MBPS) -> float:
    """Achieved throughput as per cent of the offered load."""
    return percent(throughput_mbps, target_mbps)


def resilience(losses: pd.DataFrame) -> pd.Series:
    """Resilience score 0..100 per row: 100 (1 - mean loss over the scenarios / largest such mean of all rows).

    `losses` has one column of loss [%] per scenario and one row per suite. The documents print no formula; this one
    reproduces all 20 printed scores. Without any loss anywhere every suite scores 100. A suite with a missing scenario
    scores NaN.
    """
    mean = losses.mean(axis=1, skipna=False)
    worst = mean.max()
    return mean * 0.0 + 100.0 if worst == 0 else 100.0 * (1 - mean / worst)


def loss_ranking(losses: pd.DataFrame) -> pd.DataFrame:
    """`losses` with the column `resilience`, most resilient first; rows with a missing scenario last.

    Where the baseline and the light detector ran, the column `adaptive` is the flag of [rpi4-analysis]: less loss with
    the detector than without it.
    """
    scored = losses.assign(resilience=resilience(losses))
    if {"baseline", "xgboost"} <= set(losses.columns):
        scored["adaptive"] = losses["xgboost"] < losses["baseline"]
    return scored.sort_values("resilience", ascending=False, kind="stable")

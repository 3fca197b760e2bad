# SPDX-License-Identifier: Apache-2.0
"""Trains the trees with xgboost, which only this module needs (extra 'train' of the package)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pqc_mav_detect.examples import UNSURE, Seen
from pqc_mav_detect.history import NAMES, Array, History
from pqc_mav_detect.learned import OUTPUTS, SMOOTHED, log_odds
from pqc_mav_detect.trees.tables import Tables, from_xgboost

ROUNDS = 40
SETTINGS: dict[str, Any] = {
    "objective": "multi:softprob",
    "num_class": len(OUTPUTS),
    "max_depth": 4,
    "eta": 0.25,
    "subsample": 0.7,
    "colsample_bytree": 0.7,
    "min_child_weight": 20,
    "lambda": 2.0,
    "tree_method": "hist",
    "nthread": 2,
}
NORMAL_WEIGHT = 2.0  # a false alarm costs more than a late one
DISTURBED_WEIGHT = 3.0  # and disturbances are rare beside normal traffic
HELD_OUT = 4  # every fourth minute of normal traffic is for the limits
ABOVE = 1.3  # the limit, in log odds, times what held-out normal traffic reached
MOST_LIMIT = 0.99


def table(seen: Seen) -> tuple[Array, Any]:
    """Features and targets of every window."""
    history = History()
    rows = np.empty((len(seen.rows), len(NAMES)), np.float32)
    for index, row in enumerate(seen.rows):
        history.push(row.window)
        rows[index] = history.features()
    return rows, np.array(seen.targets)


def held_out(seen: Seen) -> Any:
    """Which windows are kept from training, for the limits."""
    times = np.array([row.window.time_s for row in seen.rows])
    return ((times - times[0]) // 60).astype(int) % HELD_OUT == HELD_OUT - 1


def train(found: Sequence[Seen], seed: int = 1) -> tuple[Tables, Any]:
    """The tables, and the booster they were made of. Raises ImportError without xgboost."""
    import xgboost

    tables = [table(seen) for seen in found]
    kept = [held_out(seen) & (targets == 0) for seen, (_, targets) in zip(found, tables, strict=True)]
    used = [~keep & (targets != UNSURE) for (_, targets), keep in zip(tables, kept, strict=True)]
    rows = np.concatenate([rows[use] for (rows, _), use in zip(tables, used, strict=True)])
    goals = np.concatenate([targets[use] for (_, targets), use in zip(tables, used, strict=True)])
    disturbed = np.concatenate([np.full(use.sum(), seen.disturbed) for seen, use in zip(found, used, strict=True)])
    counts = np.bincount(goals, minlength=len(OUTPUTS)).clip(1)
    weights = (len(goals) / len(OUTPUTS) / counts)[goals]
    weights[goals == 0] *= NORMAL_WEIGHT
    weights[(goals == 0) & disturbed] *= DISTURBED_WEIGHT
    data = xgboost.DMatrix(rows, goals, weight=weights, feature_names=list(NAMES))
    booster = xgboost.train({**SETTINGS, "seed": seed}, data, ROUNDS)
    raw = booster.save_raw("json")
    first = from_xgboost(raw, NAMES, OUTPUTS, {})
    calm = [
        np.array([first.probabilities(row) for row in rows[keep]]) for (rows, _), keep in zip(tables, kept, strict=True)
    ]
    return from_xgboost(raw, NAMES, OUTPUTS, limits([each for each in calm if len(each)])), booster


def limits(calm: Sequence[Array]) -> dict[str, float]:
    """The probability at which each class is named: beyond what normal traffic reached by mistake."""
    smooth = [
        np.lib.stride_tricks.sliding_window_view(each, SMOOTHED, 0).mean(-1) for each in calm if len(each) >= SMOOTHED
    ]
    found = {}
    for index, kind in enumerate(OUTPUTS[1:], 1):
        most = max((float(each[:, index].max()) for each in smooth), default=0.0)
        found[kind] = round(min(MOST_LIMIT, 1 / (1 + float(np.exp(-ABOVE * log_odds(max(0.5, most)))))), 4)
    return found


def relies_on(booster: Any, most: int = 8) -> list[tuple[str, float]]:
    """The features that gain most, and their shares."""
    gains = booster.get_score(importance_type="total_gain")
    whole = sum(gains.values()) or 1.0
    return [(name, gain / whole) for name, gain in sorted(gains.items(), key=lambda item: -item[1])[:most]]

# SPDX-License-Identifier: Apache-2.0
"""Linear and rank correlation."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd


def spearman(x: Iterable[float], y: Iterable[float]) -> float:
    """Rank correlation (ties share their mean rank); NaN with fewer than two pairs or a constant side."""
    frame = pd.DataFrame({"x": list(x), "y": list(y)}, dtype=float).dropna()
    return pearson(frame["x"].rank(), frame["y"].rank())


def pearson(x: Iterable[float], y: Iterable[float]) -> float:
    """Linear correlation; NaN with fewer than two pairs or a constant side."""
    frame = pd.DataFrame({"x": list(x), "y": list(y)}, dtype=float).dropna()
    if len(frame) < 2 or frame["x"].nunique() < 2 or frame["y"].nunique() < 2:
        return math.nan
    return float(np.corrcoef(frame["x"], frame["y"])[0, 1])

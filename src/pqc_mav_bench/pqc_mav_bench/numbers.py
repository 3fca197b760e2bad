"""Small statistics of the measurements: percentiles, Wilson interval, Phi."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Z_95 = 1.959963984540054  # normal quantile of 0.975


def wilson(failures: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson score interval of a proportion (Wilson, JASA 22, 1927). Raises ValueError for impossible counts."""
    if not 0 <= failures <= trials or trials == 0:
        raise ValueError(f"{failures} of {trials} is no proportion")
    share = failures / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (0.0 if failures == 0 else max(0.0, middle - half), 1.0 if failures == trials else min(1.0, middle + half))


def phi(handshake_s: float, interval_s: float) -> float:
    """Rekey overhead Phi(R) = T_hs / (R + T_hs): share of time spent in handshakes when keys change every R seconds."""
    if handshake_s < 0 or interval_s <= 0:
        raise ValueError("Phi needs a handshake time >= 0 and an interval > 0")
    return handshake_s / (interval_s + handshake_s)


def delays(milliseconds: Sequence[float]) -> dict[str, float | int | None]:
    """count, mean, p50, p95, p99 and max of measured delays; None for all but the count when there are none."""
    if len(milliseconds) == 0:
        return {"count": 0, "mean_ms": None, "p50_ms": None, "p95_ms": None, "p99_ms": None, "max_ms": None}
    values = np.asarray(milliseconds, dtype=np.float64)
    p50, p95, p99 = np.percentile(values, (50, 95, 99))
    return {
        "count": len(values),
        "mean_ms": float(values.mean()),
        "p50_ms": float(p50),
        "p95_ms": float(p95),
        "p99_ms": float(p99),
        "max_ms": float(values.max()),
    }

# SPDX-License-Identifier: Apache-2.0
"""Latency figures in bounded memory: a histogram whose buckets grow by 2 %, so every percentile is within 1 %, and
exact counts in coarser classes."""

import math
from typing import Any

from pqc_mav_common.delay_classes import DelayClasses

_GROWTH = math.log(1.02)
_FLOOR_US = 1.0
_BUCKETS = 1000


class LatencyHistogram:
    """Counts durations in microseconds; below 1 us counts as 1 us, above about 400 s as the last bucket."""

    def __init__(self) -> None:
        self._counts = [0] * _BUCKETS
        self.count = 0
        self.max_us = 0.0
        self._sum = 0.0
        self._classes = DelayClasses()

    def add(self, microseconds: float) -> None:
        """Count one duration."""
        value = max(microseconds, _FLOOR_US)
        self._counts[min(int(math.log(value) / _GROWTH), _BUCKETS - 1)] += 1
        self.count += 1
        self._sum += value
        self._classes.add(value / 1000.0)
        self.max_us = max(self.max_us, value)

    @property
    def mean_us(self) -> float | None:
        """Exact mean in microseconds, None when nothing was measured."""
        return self._sum / self.count if self.count else None

    def percentile(self, q: float) -> float | None:
        """Return the q-th percentile (0 < q <= 100) in microseconds, None when nothing was measured."""
        if not self.count:
            return None
        rank = math.ceil(self.count * q / 100.0)
        total = 0
        for i, n in enumerate(self._counts):
            total += n
            if total >= rank:
                return min(math.exp((i + 0.5) * _GROWTH), self.max_us)
        return self.max_us

    def to_dict(self) -> dict[str, Any]:
        """Return count, mean, p50, p95, p99 and maximum, in microseconds with one decimal, and the counts by class."""
        figures = {
            "mean_us": self.mean_us,
            "p50_us": self.percentile(50),
            "p95_us": self.percentile(95),
            "p99_us": self.percentile(99),
            "max_us": self.max_us if self.count else None,
        }
        rounded = {name: None if value is None else round(value, 1) for name, value in figures.items()}
        return {"count": self.count, **rounded, "classes": self._classes.to_dict()}

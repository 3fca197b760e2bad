# SPDX-License-Identifier: Apache-2.0
"""The few statistics of the page. Pure."""

import math
from collections.abc import Sequence

_Z = 1.959964
_NONE_SEEN = 3.0  # events in all that 0 of them leave possible, at 95 %


def wilson(hits: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    if not trials:
        return 0.0, 1.0
    share = hits / trials
    scale = 1 + _Z**2 / trials
    centre = (share + _Z**2 / (2 * trials)) / scale
    half = _Z * math.sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)


def most_per_hour(events: int, hours: float) -> float:
    """An upper limit of a rate at 95 % (one-sided; Poisson, by the Wilson-Hilferty approximation beyond none)."""
    if not hours:
        return math.inf
    if not events:
        return _NONE_SEEN / hours
    count = events + 1
    return count * (1 - 1 / (9 * count) + 1.644854 / (3 * math.sqrt(count))) ** 3 / hours


def quantile(values: Sequence[float | None], share: float) -> float:
    """Of delays, those that never came counted as infinite."""
    if not values:
        return math.nan
    ordered = sorted(math.inf if value is None else value for value in values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]

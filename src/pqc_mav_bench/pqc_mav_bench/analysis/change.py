# SPDX-License-Identifier: Apache-2.0
"""Differences, ratios and shares: the arithmetic behind "x times", "more by" and "per cent of"."""

import math


def delta(value: float, base: float) -> float:
    """value - base, in their unit."""
    return value - base


def ratio(value: float, base: float) -> float:
    """value / base; NaN when the base is zero."""
    return value / base if base else math.nan


def percent(part: float, whole: float) -> float:
    """part as per cent of whole; NaN when the whole is zero."""
    return 100.0 * ratio(part, whole)


def delta_percent(value: float, base: float) -> float:
    """Change from base to value in per cent of the base; NaN when the base is zero."""
    return 100.0 * ratio(value - base, base)

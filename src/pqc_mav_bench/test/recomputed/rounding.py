# SPDX-License-Identifier: Apache-2.0
"""Does a recomputed value agree with a printed one, given that both come from rounded numbers?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import product

#: Units of things that are counted: they agree when they are equal.
COUNTED = frozenset(
    {"suites", "runs", "count", "measurements", "operations", "packets", "samples", "lines", "rows", "bytes", "tier"}
)


def half_unit(printed: str) -> float:
    """Half of the last significant digit of a printed number. Zeros that end a whole number say nothing: '1900' ->
    50."""
    digits = Decimal(printed.strip())
    if "." not in printed and digits:
        digits = digits.normalize()
    exponent = digits.as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def decimals_half_unit(printed: str) -> float:
    """Half of the last digit of a printed input, its zeros counted: a document's '800 B' is exact to the byte."""
    exponent = Decimal(printed.strip()).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def value_range(function: Callable[[Mapping[str, float]], float], printed: Mapping[str, str]) -> tuple[float, float]:
    """Least and greatest value over the corners of the inputs' rounding.

    Exact for functions that are monotone in each input, as all formulas of the documents are in the range of their
    rounding.
    """
    corners = [
        (float(text) - decimals_half_unit(text), float(text) + decimals_half_unit(text)) for text in printed.values()
    ]
    values = [function(dict(zip(printed, corner, strict=True))) for corner in product(*corners)]
    return min(values), max(values)


def agrees(published: str, low: float, high: float, relation: str = "=", unit: str = "") -> bool:
    """Whether some value in [low, high] rounds to the printed one, or keeps the printed bound ('<', '>')."""
    target = float(published)
    if relation == "<":
        return low < target
    if relation == ">":
        return high > target
    # Sums of rounded decimals miss their exact value by a few units of the last binary digit.
    slack = 1e-9 * max(1.0, abs(target))
    if unit in COUNTED:
        return low - slack <= target <= high + slack
    half = half_unit(published) + slack
    return low <= target + half and high >= target - half

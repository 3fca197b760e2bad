# SPDX-License-Identifier: Apache-2.0
"""One campaign against another: ratio per suite, and the deviations that nothing explains."""

import math
from dataclasses import dataclass

import pandas as pd

#: How far a suite's ratio may lie from the campaign's typical ratio before it is flagged.
DEVIATION_FACTOR = 2.0
#: A flag also needs the ratio to be an outlier of the others: beyond the quartiles by this many interquartile ranges of
#: log ratios, as in a box plot.
DEVIATION_IQR = 1.5


@dataclass(frozen=True)
class Comparison:
    """Ratios of one quantity, campaign `a` over campaign `b`.

    `rows` has one row per common suite and scenario: `a`, `b`, `ratio` and `flagged`. `only_a` and `only_b` name what
    the
    other lacks, so that a missing suite is never silent.
    """

    column: str
    rows: pd.DataFrame
    typical: float
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def flagged(self) -> pd.DataFrame:
        """The rows that deviate without the campaign as a whole doing so."""
        return self.rows[self.rows["flagged"]]


def _keyed(table: pd.DataFrame, column: str) -> pd.Series:
    values = table.dropna(subset=[column]).groupby(["scenario", "suite"], sort=False)[column].median()
    return values[values > 0]


def compare(a: pd.DataFrame, b: pd.DataFrame, column: str = "handshake_ms") -> Comparison:
    """Compares `column` of two tidy tables by scenario and suite, from medians over repetitions.

    A machine that is n times faster shifts every ratio by the same factor. A suite is flagged when its ratio
    differs from the median ratio by more than DEVIATION_FACTOR and is an outlier among the ratios (in log space): the
    machine does not explain it.
    """
    left, right = _keyed(a, column), _keyed(b, column)
    both = left.index.intersection(right.index, sort=False)
    rows = pd.DataFrame({"a": left[both], "b": right[both]}).reset_index()
    rows["ratio"] = rows["a"] / rows["b"]
    logs = rows["ratio"].map(math.log) if len(rows) else pd.Series(dtype=float)
    middle = float(logs.median()) if len(rows) else math.nan
    low, high = (float(logs.quantile(q)) if len(rows) else math.nan for q in (0.25, 0.75))
    reach = DEVIATION_IQR * (high - low)
    outlier = (logs < low - reach) | (logs > high + reach)
    rows["flagged"] = outlier & ((logs - middle).abs() > math.log(DEVIATION_FACTOR))
    return Comparison(
        column,
        rows,
        math.exp(middle) if len(rows) else math.nan,
        tuple(f"{scenario} {suite}" for scenario, suite in left.index.difference(right.index)),
        tuple(f"{scenario} {suite}" for scenario, suite in right.index.difference(left.index)),
    )

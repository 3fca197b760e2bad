# SPDX-License-Identifier: Apache-2.0
"""Which suites are worth having: the Pareto frontier of security level against a cost, and the published one."""

from __future__ import annotations

import pandas as pd


def frontier(table: pd.DataFrame, cost: str = "handshake_ms", gain: str = "nist_level") -> pd.DataFrame:
    """Rows that no other row dominates, by rising gain.

    A row is dominated when another has at least its gain at no higher cost and is strictly better in one of the two.
    Of rows equal in both, all stay. Rows without a cost take no part.
    """
    rows = table.dropna(subset=[cost, gain]).sort_values([gain, cost], ascending=[False, True], kind="stable")
    kept: list[int] = []
    best_above = float("inf")
    for _, group in rows.groupby(gain, sort=False):
        cheapest = group[cost].min()
        if cheapest < best_above:
            kept += list(group.index[group[cost] == cheapest])
            best_above = cheapest
    return table.loc[kept].sort_values([gain, cost], kind="stable")


def fastest_per_level(table: pd.DataFrame, cost: str = "handshake_ms", gain: str = "nist_level") -> pd.DataFrame:
    """The cheapest row of each level, by rising level: what the documents call the Pareto frontier.

    It is a superset of the frontier: a level's best suite is kept even where a higher level has a cheaper one, as in
    the
    published table, whose L5 suite (8.75 ms) dominates both others (12.80 and 12.71 ms).
    """
    rows = table.dropna(subset=[cost, gain])
    if rows.empty:
        return rows
    return rows.loc[rows.groupby(gain)[cost].idxmin()].sort_values(gain)

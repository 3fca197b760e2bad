# SPDX-License-Identifier: Apache-2.0
"""Which suites are worth having: the Pareto frontier of security level against a cost, and the published one."""

import pandas as pd

from pqc_mav_bench.analysis.intervals import HIGH, LOW, is_ranked, tied_with_the_least


def frontier(table: pd.DataFrame, cost: str = "handshake_ms", gain: str = "nist_level") -> pd.DataFrame:
    """Rows that no other row dominates, by rising gain.

    A row is dominated when another has at least its gain at no higher cost and is strictly better in one of the two.
    Of rows equal in both, all stay. Rows without a cost take no part. Where costs have intervals, one is lower than
    another only when they do not overlap, and rows that are too few handshakes take no part either.
    """
    if LOW in table.columns:
        return _told_apart(table[is_ranked(table)], gain).sort_values([gain, cost], kind="stable")
    rows = table.dropna(subset=[cost, gain]).sort_values([gain, cost], ascending=[False, True], kind="stable")
    kept: list[int] = []
    best_above = float("inf")
    for _, group in rows.groupby(gain, sort=False):
        cheapest = group[cost].min()
        if cheapest < best_above:
            kept += list(group.index[group[cost] == cheapest])
            best_above = cheapest
    return table.loc[kept].sort_values([gain, cost], kind="stable")


def _told_apart(rows: pd.DataFrame, gain: str) -> pd.DataFrame:
    """The rows that no other surely dominates."""
    gains, low, high = (rows[name].to_numpy() for name in (gain, LOW, HIGH))
    beaten = ((gains[None, :] >= gains[:, None]) & (high[None, :] < low[:, None])).any(axis=1)
    return rows[~beaten]


def fastest_per_level(table: pd.DataFrame, cost: str = "handshake_ms", gain: str = "nist_level") -> pd.DataFrame:
    """The cheapest row of each level, by rising level: what the documents call the Pareto frontier.

    Where costs have intervals: that row, and those that cannot be told apart from it.

    It is a superset of the frontier: a level's best suite is kept even where a higher level has a cheaper one, as in
    the
    published table, whose L5 suite (8.75 ms) dominates both others (12.80 and 12.71 ms).
    """
    rows = table.dropna(subset=[cost, gain])
    if LOW in rows.columns:
        ranked = rows[is_ranked(rows)]
        levels = [tied_with_the_least(group, cost) for _, group in ranked.groupby(gain)]
        return pd.concat(levels) if levels else ranked
    if rows.empty:
        return rows
    return rows.loc[rows.groupby(gain)[cost].idxmin()].sort_values(gain)

# SPDX-License-Identifier: Apache-2.0
"""Paired comparisons: Wilcoxon's signed ranks, exact, with the estimate and interval that belong to the test, and
Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Paired:
    """The median of the pairwise means of differences (Hodges and Lehmann, 1963), its 95 % interval, and the p of no
    difference, two-sided."""

    effect: float
    low: float
    high: float
    p: float


def signed_ranks(differences: Sequence[float]) -> Paired:
    """Wilcoxon's signed-rank test of differences, one for each pair.

    Equal differences share their mean rank; a difference of zero says nothing and is left out of the test. With fewer
    than six pairs no interval of 95 % exists: it then reaches over all of them. Raises ValueError without a difference.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.size:
        raise ValueError("a paired test needs a pair")
    first, second = np.triu_indices(values.size)
    means = np.sort((values[first] + values[second]) / 2)
    less = np.cumsum(_chances(np.arange(2, 2 * values.size + 1, 2)))[::2]  # of rank sums 0, 1, 2, ...
    beyond = max(0, int(np.searchsorted(less, 0.025, side="right")) - 1)
    return Paired(float(np.median(means)), float(means[beyond]), float(means[means.size - 1 - beyond]), _p(values))


def _chances(twice_ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The chance of each sum of ranks, in halves, if each rank counts or not by the toss of a coin."""
    chances = np.ones(1)
    for rank in twice_ranks:
        more = np.zeros(chances.size + int(rank))
        more[: chances.size] += chances / 2
        more[int(rank) :] += chances / 2
        chances = more
    return chances


def _p(values: NDArray[np.float64]) -> float:
    known = values[values != 0]
    if not known.size:
        return 1.0
    sizes = np.abs(known)
    # Twice the mean rank of equal ones, so that it is a whole number.
    twice = (sizes[:, None] > sizes).sum(axis=1) * 2 + (sizes[:, None] == sizes).sum(axis=1) + 1
    chances = _chances(twice)
    up = int(twice[known > 0].sum())
    least = min(up, int(twice.sum()) - up)
    return float(min(1.0, 2 * chances[: least + 1].sum()))


def holm(chances: Sequence[float]) -> list[float]:
    """The p values of one family of comparisons, corrected (Holm, 1979), in their order."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, floor = [0.0] * len(chances), 0.0
    for done, place in enumerate(order):
        floor = max(floor, min(1.0, (len(chances) - done) * chances[place]))
        corrected[place] = floor
    return corrected

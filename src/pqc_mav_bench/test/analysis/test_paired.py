# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pqc_mav_bench.analysis.paired import holm, signed_ranks


def enumerated(differences):
    """The two-sided p by all signs that the differences could have."""
    sizes = np.abs([d for d in differences if d])
    ranks = (sizes[:, None] > sizes).sum(axis=1) + ((sizes[:, None] == sizes).sum(axis=1) + 1) / 2
    sums = np.array([ranks[np.array(signs)].sum() for signs in product((False, True), repeat=len(ranks))])
    up = ranks[np.array([d for d in differences if d]) > 0].sum()
    return min(1.0, 2 * (sums <= min(up, ranks.sum() - up)).mean())


@pytest.mark.parametrize(
    "differences", [[1, 2, 3, 4, 5, 6], [1, -2, 3, 4, 5, 6, 7], [1, 1, -1, 2, 2, 0, 3], [0.3, -0.2, 0.9, 1.4, -0.5, 2]]
)
def test_p_is_that_of_all_signs_with_ties_and_zeros(differences):
    assert signed_ranks(differences).p == pytest.approx(enumerated(differences))


def test_published_example():
    # Darwin's maize, Wilcoxon's own example of 15 pairs: the rank sum of the negative ones is 24.
    maize = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = signed_ranks(maize)
    assert found.p == pytest.approx(0.04126, abs=1e-5)
    assert found.low <= 24 <= found.high and found.low > 0


def test_the_interval_leaves_zero_out_exactly_when_the_test_does():
    dice = np.random.default_rng(5)
    for _ in range(200):
        found = signed_ranks(dice.normal(0.5, 1, 12))
        assert (found.low > 0 or found.high < 0) == (found.p <= 0.05)


def test_fewer_than_six_pairs_have_an_interval_over_all_of_them():
    found = signed_ranks([1.0, 2.0, 4.0, 8.0, 16.0])
    assert (found.low, found.high) == (1.0, 16.0) and found.p > 0.05
    six = signed_ranks([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert (six.low, six.high) == (1.0, 32.0) and six.p == 2 / 2**6


def test_no_difference_and_no_pair():
    assert signed_ranks([0.0] * 8).p == signed_ranks([1.0, -1.0]).p == 1.0
    with pytest.raises(ValueError, match="needs a pair"):
        signed_ranks([])


def test_holm_corrects_in_order_and_never_downwards():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import warnings

import pytest

from pqc_mav_bench.analysis import correlation


def test_correlations():
    x = [1, 2, 3, 4]
    assert correlation.pearson(x, [2, 4, 6, 8]) == pytest.approx(1)
    assert correlation.spearman(x, [1, 10, 100, 1000]) == pytest.approx(1)
    assert correlation.spearman(x, [4, 3, 2, 1]) == pytest.approx(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy's of a division by zero
        assert math.isnan(correlation.pearson(x, [5, 5, 5, 5])) and math.isnan(correlation.pearson([5, 5, 5, 5], x))
    assert math.isnan(correlation.pearson([1], [2])), "two pairs are the fewest"
    assert correlation.pearson([1, 2], [4, 3]) == pytest.approx(-1)
    assert correlation.pearson([1, 1, 2], [3, 3, 4]) == pytest.approx(1)

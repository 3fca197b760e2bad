# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sim.latency import LatencyHistogram


@given(st.lists(st.floats(1.0, 1e7), min_size=1, max_size=300), st.sampled_from([50, 90, 95, 99, 100]))
def test_percentiles_are_within_two_per_cent(values, q):
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(value)
    truth = sorted(values)[math.ceil(len(values) * q / 100.0) - 1]
    assert histogram.percentile(q) == pytest.approx(truth, rel=0.02)
    assert histogram.mean_us == pytest.approx(sum(values) / len(values))
    assert histogram.max_us == max(values)


def test_nothing_measured():
    figures = LatencyHistogram().to_dict()
    assert figures == {"count": 0, "mean_us": None, "p50_us": None, "p95_us": None, "p99_us": None, "max_us": None}


@pytest.mark.parametrize("value", [-5.0, 0.0, 1e15])
def test_extremes_are_kept_in_the_outer_buckets(value):
    histogram = LatencyHistogram()
    histogram.add(value)
    assert histogram.count == 1
    assert histogram.percentile(50) > 0.0

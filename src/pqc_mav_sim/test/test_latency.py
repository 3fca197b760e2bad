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
    unknown = dict.fromkeys(("mean_us", "p50_us", "p95_us", "p99_us", "max_us"))
    assert figures == {"count": 0, **unknown, "classes": {}}


def test_every_delay_is_in_its_class():
    histogram = LatencyHistogram()
    for microseconds in (500.0, 20_000.0, 20_001.0):
        histogram.add(microseconds)
    assert histogram.to_dict()["classes"] == {"0.5": 1, "20": 1, "25": 1}


@pytest.mark.parametrize("value", [-5.0, 0.0, 1e15])
def test_extremes_are_kept_in_the_outer_buckets(value):
    histogram = LatencyHistogram()
    histogram.add(value)
    assert histogram.count == 1
    assert histogram.percentile(50) > 0.0

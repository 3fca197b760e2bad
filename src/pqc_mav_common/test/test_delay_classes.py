# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_common.delay_classes import EDGES_MS, LONGER, classes_of, within


def test_the_limits_of_control_are_edges_and_no_class_is_wide():
    assert {20.0, 50.0, 100.0} <= set(EDGES_MS)
    assert len(EDGES_MS) == 61
    assert all(1.2 < high / low < 1.3 for low, high in pairwise(EDGES_MS))


def test_a_delay_on_an_edge_is_within_its_class():
    assert classes_of([20.0, 20.0001, -1.0, 20_000.0]) == {"0.01": 1, "20": 1, "25": 1, LONGER: 1}
    assert within(classes_of([20.0, 20.0001, 50.0, 20_000.0]), 20.0) == 0.25


@given(st.lists(st.floats(-1.0, 50_000.0), min_size=1), st.sampled_from(EDGES_MS))
def test_the_share_within_an_edge_is_that_of_the_delays(delays, limit):
    classes = classes_of(delays)
    assert sum(classes.values()) == len(delays)
    assert within(classes, limit) == pytest.approx(sum(ms <= limit for ms in delays) / len(delays))


def test_what_is_no_class_is_refused():
    assert within({}, 20.0) is None
    with pytest.raises(ValueError, match="no edge"):
        within({"20": 1}, 21.0)
    with pytest.raises(ValueError, match="no class '21'"):
        within({"21": 1}, 20.0)

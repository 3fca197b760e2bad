# SPDX-License-Identifier: Apache-2.0
"""Outages counted one by one out of window counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_policy.telemetry.blackouts import WINDOW_S, BlackoutCounter


def reported(ends: list[float], until: int, keep_s: float = 1e9) -> BlackoutCounter:
    """A counter fed once a second with how many outages ended within the window."""
    counter = BlackoutCounter(keep_s)
    for second in range(until + 1):
        counter.report(float(second), sum(1 for end in ends if second - WINDOW_S < end <= second))
    return counter


@given(st.lists(st.integers(11, 600), min_size=0, max_size=40), st.integers(1, 5))
def test_every_outage_is_counted_once(tenths: list[int], gap: int) -> None:
    # Outages last more than a second each, so two never end within the same second.
    ends: list[float] = []
    for tenth in sorted(tenths):
        if not ends or tenth / 10 - ends[-1] > 1.05 + gap / 10:
            ends.append(tenth / 10)
    counter = reported(ends, 70)
    assert counter.since(-1.0, 70.0) == len(ends)


def test_only_outages_after_a_moment_and_not_too_old_count() -> None:
    counter = reported([3.0, 10.0, 20.0], 25, keep_s=30.0)
    assert counter.since(-1.0, 25.0) == 3
    assert counter.since(5.0, 25.0) == 2
    assert counter.since(10.0, 25.0) == 1
    assert counter.since(-1.0, 39.9) == 2
    assert counter.since(-1.0, 60.0) == 0


def test_an_outage_longer_than_the_window_counts_once_per_window() -> None:
    counter = BlackoutCounter(1e9)
    for second in range(12):
        counter.report(float(second), 1)
    assert counter.since(-1.0, 12.0) == pytest.approx(12 / WINDOW_S, abs=1)


def test_the_same_report_again_changes_nothing() -> None:
    counter = BlackoutCounter(1e9)
    for _ in range(5):
        counter.report(7.0, 2)
    assert counter.since(0.0, 7.0) == 2

# SPDX-License-Identifier: Apache-2.0
"""Decisions come once a second and soon after each report of the link."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from pqc_mav_policy.pace import Pace


def decided(reports: list[float], until: float, polls: float = 0.2) -> list[float]:
    """Times of decisions when reports come at these times and the clock is asked every `polls`."""
    pace = Pace(1.0, 0.0)
    events = sorted([(time, True) for time in reports] + [(polls * n, False) for n in range(1, int(until / polls))])
    return [now for now, report in events if (pace.on_report(now) if report else pace.on_clock(now))]


def test_without_reports_once_a_second() -> None:
    times = decided([], 20.0)
    assert len(times) == 19
    assert all(0.99 <= later - earlier <= 1.21 for earlier, later in pairwise(times))


@pytest.mark.parametrize("phase", [0.0, 0.1, 0.35, 0.5, 0.95])
def test_with_reports_right_after_each(phase: float) -> None:
    jitter = random.Random(1)
    reports = [3.0 + phase + second + jitter.uniform(-0.05, 0.05) for second in range(60)]
    times = [time for time in decided(reports, 60.0) if time > 8.0]
    assert set(times) <= set(reports)
    assert len(times) >= 50


def test_a_late_report_does_not_stop_decisions_and_a_lost_one_is_given_up() -> None:
    reports = [float(second) for second in range(1, 11)]
    times = decided(reports, 30.0)
    after = [time for time in times if time > 10.0]
    assert after[0] == pytest.approx(11.3, abs=0.2)
    assert 15 <= len(after) <= 20
    assert max(later - earlier for earlier, later in pairwise(times)) < 1.5


def test_after_three_periods_without_a_report_the_clock_alone_decides() -> None:
    pace = Pace(1.0, 0.0)
    assert pace.on_report(10.0)
    assert not pace.on_clock(11.24) and pace.on_clock(11.25)
    assert not pace.on_clock(12.49) and pace.on_clock(12.5)
    assert not pace.on_clock(13.49) and pace.on_clock(13.5)
    lost = Pace(1.0, 0.0)
    assert lost.on_report(10.0) and lost.on_clock(12.0) and lost.on_clock(13.0)


def test_a_longer_period_is_as_long() -> None:
    pace = Pace(2.0, 0.0)
    assert not pace.on_clock(1.99) and pace.on_clock(2.0)
    assert not pace.on_report(3.49) and pace.on_report(3.5)


def test_reports_in_quick_succession_do_not_hurry_it() -> None:
    reports = [0.1 * n for n in range(1, 100)]
    assert len(decided(reports, 10.0)) <= 13

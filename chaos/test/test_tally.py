# SPDX-License-Identifier: Apache-2.0
"""Counting arrivals: against a plain count of the same numbers, and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tally import Arrival, Tally, longest_gap_ns, percentile, recovered_ns


@given(st.lists(st.integers(0, 9000), max_size=200))
def test_counts_agree_with_a_plain_count(numbers: list[int]) -> None:
    tally = Tally()
    new = [tally.arrive(number, i + 1) for i, number in enumerate(numbers)]
    assert tally.received == len(set(numbers)) == sum(new)
    assert tally.duplicates == len(numbers) - len(set(numbers))
    overtaken, highest, seen = 0, -1, set()
    for number in numbers:
        if number not in seen:
            overtaken += number < highest
            highest = max(highest, number)
        seen.add(number)
    assert tally.reordered == overtaken


def test_gaps_are_between_new_arrivals_and_start_anew_when_taken() -> None:
    tally = Tally()
    for number, now in ((0, 100), (1, 150), (1, 400), (2, 500)):
        tally.arrive(number, now)
    assert tally.take_longest_gap() == 350
    tally.arrive(3, 510)
    assert tally.take_longest_gap() == 10


def arrivals(*times: tuple[int, int, int]) -> list[Arrival]:
    return [Arrival(0, way, i, sent, arrived) for i, (way, sent, arrived) in enumerate(times)]


def test_recovery_counts_only_what_was_sent_after_the_moment() -> None:
    log = arrivals((0, 10, 20), (0, 90, 130), (0, 100, 150), (1, 105, 107))
    assert recovered_ns(log, 0, 100) == 150
    assert recovered_ns(log, 1, 100) == 107
    assert recovered_ns(log, 0, 101) is None


def test_the_longest_gap_is_that_of_one_way() -> None:
    log = arrivals((0, 0, 10), (0, 0, 60), (0, 0, 70), (1, 0, 65), (0, 0, 170))
    assert longest_gap_ns(log, 0) == 100
    assert longest_gap_ns(log, 1) == 0


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.0, 1), (0.05, 1)])
def test_percentile_is_the_nearest_rank(share: float, expected: int) -> None:
    assert percentile(range(20, 0, -1), share) == expected


def test_percentile_of_nothing_is_not_a_number() -> None:
    assert math.isnan(percentile([], 0.5))

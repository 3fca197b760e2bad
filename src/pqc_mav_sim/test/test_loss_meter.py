# SPDX-License-Identifier: Apache-2.0
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_sim.loss_meter import LossMeter

RATE = 320.0


def feed(meter, numbers, start=0.0, rate=RATE):
    """Record numbers (unwrapped) at the times they were sent at."""
    for number in numbers:
        meter.record(number % 256, start + number / rate)


def test_nothing_lost():
    meter = LossMeter()
    feed(meter, range(5000))
    assert meter.stats.to_dict() == {
        "received": 5000,
        "lost": 0,
        "lost_estimated": 0,
        "duplicates": 0,
        "reordered": 0,
        "max_gap": 0,
        "loss_ratio": 0.0,
    }
    assert meter.pace_hz == pytest.approx(RATE, rel=0.01)


def test_gap_at_the_wrap():
    meter = LossMeter()
    feed(meter, [250, 251, 252, 258, 259])
    assert (meter.stats.lost, meter.stats.max_gap) == (5, 5)


def test_late_ones_are_reordered_not_lost():
    meter = LossMeter()
    for seq in (0, 1, 4, 2, 3, 5):
        meter.record(seq, 0.01 * seq)
    assert (meter.stats.reordered, meter.stats.lost, meter.stats.duplicates) == (2, 0, 0)


def test_same_number_twice_is_a_duplicate():
    meter = LossMeter()
    for seq in (0, 1, 1, 2, 3, 2, 0):
        meter.record(seq, 0.0)
    assert (meter.stats.duplicates, meter.stats.reordered, meter.stats.lost) == (3, 0, 0)


def test_earlier_than_the_first_one():
    meter = LossMeter()
    for seq in (10, 7, 11, 9, 7):
        meter.record(seq, 0.0)
    # 8 is missing, 7 and 9 came late, 7 came twice
    assert (meter.stats.lost, meter.stats.reordered, meter.stats.duplicates) == (1, 2, 1)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.0, 0.3), st.floats(0.0, 0.1), st.integers(0, 40))
def test_counts_match_the_truth_under_loss_doubling_and_reordering(seed, loss, double, spread):
    rng = random.Random(seed)
    arrivals = []
    for number in range(100, 3000):
        if rng.random() < loss:
            continue
        for _ in range(2 if rng.random() < double else 1):
            arrivals.append((number + rng.randrange(spread + 1), number))
    arrivals.sort(key=lambda pair: pair[0])
    numbers = [number for _, number in arrivals]
    meter = LossMeter()
    for place, number in arrivals:
        meter.record(number % 256, place / RATE)
    stats, distinct = meter.stats, set(numbers)
    assert stats.received == len(numbers)
    assert stats.duplicates == len(numbers) - len(distinct)
    assert stats.lost == max(distinct) - min(distinct) + 1 - len(distinct)
    assert stats.lost_estimated == 0
    assert stats.received - stats.duplicates + stats.lost == max(distinct) - min(distinct) + 1
    highest, seen, late = -1, set(), 0
    for number in numbers:
        late += number < highest and number not in seen
        highest = max(highest, number)
        seen.add(number)
    assert stats.reordered == late


@pytest.mark.parametrize("missing", [130, 200, 255, 257, 300, 511, 900, 3000])
def test_long_outages_are_counted_through_wraps(missing):
    meter = LossMeter()
    feed(meter, range(1000))
    feed(meter, range(1000 + missing, 2000 + missing))
    assert meter.stats.lost == missing
    assert meter.stats.lost_estimated == (missing if missing >= 127 else 0)
    assert meter.stats.reordered == meter.stats.duplicates == 0


def test_outages_are_counted_at_a_lossy_sender_too():
    rng = random.Random(8)
    meter = LossMeter()
    sent = [n for n in [*range(2000), *range(3000, 5000)] if rng.random() > 0.2]
    feed(meter, sent)
    assert meter.stats.received + meter.stats.lost == max(sent) - min(sent) + 1


@pytest.mark.parametrize("pause", [0.3, 0.8, 30.0])
def test_a_pause_of_the_sender_is_no_loss(pause):
    """Nor is an outage of exactly 256 messages, which eight bits cannot tell from a pause."""
    meter = LossMeter()
    feed(meter, range(1000))
    feed(meter, range(1000, 2000), start=pause)
    assert (meter.stats.lost, meter.stats.duplicates) == (0, 0)


def test_random_sequence_never_breaks_the_sum():
    rng = random.Random(3)
    meter = LossMeter()
    for i in range(5000):
        meter.record(rng.randrange(256), i * 0.01)
    stats = meter.stats
    assert stats.lost >= 0
    assert stats.received == 5000
    assert 0.0 <= stats.loss_ratio <= 1.0

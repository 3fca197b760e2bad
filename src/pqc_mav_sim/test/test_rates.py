# SPDX-License-Identifier: Apache-2.0
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.rates import DEFAULT_TOTAL_HZ, STALE_S, STREAMS, StreamScheduler, allocate

HEARTBEAT = mavlink.MAVLINK_MSG_ID_HEARTBEAT
ATTITUDE = mavlink.MAVLINK_MSG_ID_ATTITUDE
START = 123_456.789


def collect(scheduler, start, seconds, wake=0.003, jitter=None):
    """Wake up every few milliseconds (or as a jitter iterator says) and count what is due."""
    counts, t, turns = Counter(), start, 0
    while t < start + seconds:
        t += wake if jitter is None else next(jitter)
        ready = scheduler.due(min(t, start + seconds - 1e-9))
        counts.update(ready)
        turns = max(turns, len(ready))
    return counts, turns


def test_default_is_320_in_realistic_proportion():
    assert DEFAULT_TOTAL_HZ == 320
    rates = allocate(320.0)
    assert rates[HEARTBEAT] == 1.0
    assert {s.msg_id: s.hz for s in STREAMS} == pytest.approx(rates)
    for name in ("ATTITUDE", "GPS_RAW_INT", "SYS_STATUS", "BATTERY_STATUS", "VFR_HUD", "RC_CHANNELS", "SYSTEM_TIME"):
        assert getattr(mavlink, f"MAVLINK_MSG_ID_{name}") in rates


@settings(deadline=None)
@given(st.floats(5.0, 10_000.0))
def test_streams_sum_to_the_total_and_the_heartbeat_stays_at_1_hz(total):
    rates = allocate(total)
    assert sum(rates.values()) == pytest.approx(total)
    assert rates[HEARTBEAT] == 1.0
    assert all(hz > 0.0 for hz in rates.values())


@pytest.mark.parametrize("total", [0.0, -1.0, 4.9, 10_001.0, float("nan"), float("inf")])
def test_impossible_totals_are_refused(total):
    with pytest.raises(ValueError, match="out of range"):
        allocate(total)


@pytest.mark.parametrize("total", [20.0, 320.0, 4000.0])
def test_total_rate_is_exact_over_a_minute(total):
    counts, _ = collect(StreamScheduler(total, START), START, 60.0)
    # every stream may be off by one message at each end
    assert sum(counts.values()) == pytest.approx(60.0 * total, abs=len(STREAMS))
    assert counts[HEARTBEAT] in (59, 60, 61)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_late_wake_ups_do_not_add_up(seed):
    rng = random.Random(seed)

    def jitter():
        while True:
            yield rng.choice((0.0005, 0.003, 0.011, 0.04, 0.2))

    counts, _ = collect(StreamScheduler(320.0, START), START, 30.0, jitter=jitter())
    assert sum(counts.values()) == pytest.approx(9600, abs=len(STREAMS))


def test_messages_do_not_bunch():
    _, turns = collect(StreamScheduler(320.0, START), START, 20.0)
    assert turns <= 6


def test_order_is_that_of_the_deadlines():
    scheduler = StreamScheduler(320.0, START)
    whole = scheduler.due(START + 0.2)
    stepped = StreamScheduler(320.0, START)
    pieces = [msg for i in range(1, 2001) for msg in stepped.due(START + i * 0.0001)]
    assert whole == pieces


def test_after_a_stall_late_messages_are_skipped_not_sent_in_a_burst():
    scheduler = StreamScheduler(320.0, START)
    collect(scheduler, START, 1.0)
    assert scheduler.skipped == 0
    ready = scheduler.due(START + 11.0)
    assert len(ready) <= 320 * STALE_S + len(STREAMS)
    assert len(ready) + scheduler.skipped == pytest.approx(3200, abs=len(STREAMS))
    counts, _ = collect(scheduler, START + 11.0, 10.0)
    assert sum(counts.values()) == pytest.approx(3200, abs=2 * len(STREAMS))


def test_interval_changes_one_stream_only():
    scheduler = StreamScheduler(320.0, START)
    assert scheduler.set_interval(ATTITUDE, 100_000.0, START)
    assert scheduler.interval_us(ATTITUDE) == 100_000
    assert scheduler.total_hz == pytest.approx(280.0)
    counts, _ = collect(scheduler, START, 10.0)
    assert counts[ATTITUDE] == pytest.approx(100, abs=1)
    assert counts[mavlink.MAVLINK_MSG_ID_ATTITUDE_QUATERNION] == pytest.approx(500, abs=1)
    assert scheduler.set_interval(ATTITUDE, 0, START + 10.0)
    assert scheduler.total_hz == pytest.approx(320.0)


def test_stream_can_be_switched_off_and_on():
    scheduler = StreamScheduler(320.0, START)
    assert scheduler.set_interval(ATTITUDE, -1, START)
    assert scheduler.interval_us(ATTITUDE) == -1
    counts, _ = collect(scheduler, START, 5.0)
    assert counts[ATTITUDE] == 0
    assert scheduler.set_interval(ATTITUDE, 20_000.0, START + 5.0)
    counts, _ = collect(scheduler, START + 5.0, 5.0)
    assert counts[ATTITUDE] == pytest.approx(250, abs=1)


@pytest.mark.parametrize(
    ("msg_id", "interval"),
    [(ATTITUDE, 10.0), (ATTITUDE, -2), (ATTITUDE, 1e12), (HEARTBEAT, -1), (99_999, 1000.0), (ATTITUDE, float("nan"))],
)
def test_bad_intervals_change_nothing(msg_id, interval):
    scheduler = StreamScheduler(320.0, START)
    assert not scheduler.set_interval(msg_id, interval, START)
    assert scheduler.total_hz == pytest.approx(320.0)
    assert scheduler.interval_us(99_999) == 0


def test_nothing_left_to_send():
    only = tuple(s for s in STREAMS if s.msg_id == ATTITUDE)
    scheduler = StreamScheduler(50.0, START, only)
    scheduler.set_interval(ATTITUDE, -1, START)
    assert scheduler.next_deadline() is None
    assert scheduler.due(START + 10.0) == []


def test_on_request_only_heartbeats_are_sent_until_somebody_asks():
    scheduler = StreamScheduler(320.0, START, on_request=True)
    counts, _ = collect(scheduler, START, 5.0)
    assert counts == {HEARTBEAT: 5} and scheduler.interval_us(ATTITUDE) == -1
    assert scheduler.set_interval(ATTITUDE, 100_000, START + 5.0)
    counts, _ = collect(scheduler, START + 5.0, 5.0)
    assert counts == {HEARTBEAT: 5, ATTITUDE: 50}
    assert scheduler.set_interval(ATTITUDE, 0, START + 10.0)
    assert scheduler.interval_us(ATTITUDE) == 20_000

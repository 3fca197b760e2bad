# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_bench.collectors.counters import COUNTERS, DEPTH, balanced, difference


def reading(packets: int, seal_ns: float = 0.0, open_ns: float = 0.0, **changes) -> dict:
    values = dict.fromkeys(COUNTERS, 0)
    values |= {"plain_rx_packets": packets, "enc_rx_packets": packets, "delivered": packets}
    return {**values, "seal_mean_ns": seal_ns, "open_mean_ns": open_ns, DEPTH: [0] * 13, **changes}


def test_a_run_has_the_differences():
    delta = difference(reading(100), reading(350))
    assert (delta["plain_rx_packets"], delta["delivered"], delta["drop_replay"]) == (250, 250, 0)


def test_the_mean_of_the_run_is_taken_out_of_the_running_mean():
    # 3,200 packets at 1,000 ns, then 3,200 at 2,000 ns: 100 of each were timed.
    delta = difference(reading(3200, 1000.0, 500.0), reading(6400, 1500.0, 500.0))
    assert delta["seal_mean_ns"] == pytest.approx(2000.0)
    assert delta["open_mean_ns"] == pytest.approx(500.0)


def test_too_few_timed_packets_give_no_mean():
    assert difference(reading(0), reading(90, 1000.0, 1000.0))["seal_mean_ns"] is None


def test_counters_that_began_anew_are_refused():
    with pytest.raises(ValueError, match="started anew"):
        difference(reading(100), reading(5))


def test_the_balance():
    good = reading(10)
    assert balanced(good)
    assert not balanced({**good, "drop_replay": 1})


def test_what_came_late_has_its_class_and_the_rest_of_the_overtaken_is_missing():
    first = reading(10, window_skipped=3, window_depth=[2, 1, *[0] * 11])
    delta = difference(first, reading(100, window_skipped=43, window_depth=[7, 1, 30, *[0] * 10]))
    assert delta["window_classes"] == {"1": 5, "7": 30}
    assert (delta["window_late"], delta["window_deepest"], delta["window_missing"]) == (35, 7, 5)


def test_one_that_was_overtaken_before_the_run_is_not_missing_in_it():
    delta = difference(reading(10, window_skipped=3), reading(20, window_skipped=3, window_depth=[1, *[0] * 12]))
    assert (delta["window_late"], delta["window_missing"]) == (1, 0)


def test_in_order_nothing_is_late():
    delta = difference(reading(10), reading(20))
    assert (delta["window_classes"], delta["window_deepest"], delta["window_missing"]) == ({}, 0, 0)

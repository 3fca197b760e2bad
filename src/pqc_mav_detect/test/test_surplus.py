# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_detect.rules.surplus import MOST, REST_S, Surplus, Threshold


def fed(surplus: Surplus, value: float, seconds: float, start_s: float = 0.0) -> float:
    for turn in range(round(seconds * 10)):
        surplus.add(value, 0.1, start_s + (turn + 1) * 0.1)
    return surplus.pressure


def test_it_reaches_the_limit_when_the_surplus_does() -> None:
    surplus = Surplus(Threshold(2.0, 10.0))
    assert fed(surplus, 7.0, 1.9) < 1.0
    assert fed(surplus, 7.0, 0.2, 1.9) > 1.0
    assert surplus.since_s == pytest.approx(0.0)


def test_what_is_allowed_never_adds_up() -> None:
    assert fed(Surplus(Threshold(2.0, 10.0)), 2.0, 100.0) == 0.0


def test_it_is_over_soon_after_however_long_it_lasted() -> None:
    surplus = Surplus(Threshold(0.2, 3.0))
    assert fed(surplus, 1e6, 60.0) == MOST
    assert fed(surplus, 0.0, REST_S - 0.5, 60.0) > 1.0
    assert fed(surplus, 0.0, 1.0, 60.0 + REST_S) == 0.0


def test_single_events_far_apart_do_not_add_up() -> None:
    surplus, most = Surplus(Threshold(0.2, 3.0)), 0.0
    for turn in range(60):
        most = max(most, surplus.add(10.0, 0.1, turn * 5.0), surplus.add(0.0, 4.9, turn * 5.0 + 4.9))
    assert most < 1.0


def test_it_is_over_when_nothing_was_above_the_allowance_for_more_than_four_seconds() -> None:
    surplus = Surplus(Threshold(1.0, 10.0))
    assert surplus.add(101.0, 0.1, 10.0) == 1.0, "one that need not last presses at once"
    assert surplus.add(1.0, 0.1, 14.0) == 1.0
    assert surplus.add(1.0, 0.1, 14.1) == 0.0


def test_reset() -> None:
    surplus = Surplus(Threshold(0.2, 3.0))
    fed(surplus, 100.0, 1.0)
    surplus.reset()
    assert surplus.pressure == 0.0


def test_what_is_over_soon_does_not_press() -> None:
    surplus = Surplus(Threshold(0.0, 1.0), lasts_s=1.0)
    assert [surplus.add(1.0, 0.5, now_s) for now_s in (0.5, 1.0)] == [0.0, 1.0], "once it has grown so long"
    surplus = Surplus(Threshold(0.0, 1.0), lasts_s=1.0)
    assert max(surplus.add(10.0, 0.1, 100 + turn / 10) for turn in range(1, 10)) == 0.0
    for turn in range(10, 14):
        surplus.add(-1.0, 0.1, 100 + turn / 10)
    assert surplus.value > 1.0 and surplus.pressure == 0.0, "it no longer grows"
    assert surplus.add(10.0, 0.1, 101.5) > 1.0

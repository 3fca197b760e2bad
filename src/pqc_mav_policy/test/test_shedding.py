# SPDX-License-Identifier: Apache-2.0
"""When the proxy has to shape, and when it is let go again."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import change, well

from pqc_mav_policy import shedding
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.shedding import Shedding
from pqc_mav_policy.telemetry.inputs import DecisionInput, Link

P = PolicyParameters(shed_kbit=64)
FULL: dict[str, Any] = {"link": {"loss": 0.2, "queue_s": 0.8}}
BUSY: dict[str, Any] = {"system": {"cpu_percent": 97.0, "valid": True, "age_s": 0.5}}


def after(seconds: int, seen: DecisionInput, before: Shedding | None = None, begin: float = 0.0) -> Shedding:
    """After some seconds of the same snapshot."""
    state = before or Shedding()
    for second in range(seconds):
        state = shedding.observe(state, seen, P, begin + second)
    return state


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (FULL, "20.0 % of the packets are lost, and a round trip takes 800 ms more"),
        ({"link": {"loss": 0.2, "queue_s": 0.5}}, ""),
        ({"link": {"loss": 0.02, "queue_s": 0.8}}, ""),
        ({"link": {"loss": 0.2, "queue_s": None}}, ""),
        ({"link": {"loss": 0.2, "queue_s": 0.8, "valid": False}}, ""),
        (BUSY, "the processor is at 97 %, limit 95 %"),
        ({"system": {"cpu_percent": 95.0, "valid": True}}, ""),
        ({"system": {"cpu_percent": 99.0, "valid": False}}, ""),
        ({"system": {"cpu_percent": 99.0, "valid": True, "age_s": 2.1}}, ""),
    ],
)
def test_what_counts_as_saturated(seen: dict[str, Any], said: str) -> None:
    found = shedding.saturated(well(**seen), P)
    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize("seen", [FULL, BUSY])
def test_it_has_to_last_for_five_seconds(seen: dict[str, Any]) -> None:
    assert not after(5, well(**seen)).on
    state = after(6, well(**seen))
    assert state.on
    assert (state.times, state.changed_s) == (1, 5.0)


def test_without_a_rate_nothing_is_ever_shed() -> None:
    state = Shedding()
    for second in range(60):
        state = shedding.observe(state, well(**FULL), PolicyParameters(), float(second))
    assert state == Shedding()


def test_it_is_let_go_on_trial_after_a_time_that_doubles_with_each_relapse() -> None:
    now, state, waits = 0.0, Shedding(), []
    for _ in range(8):
        state = after(6, well(**FULL), state, now)
        now += 6
        assert state.on
        calm = now
        while state.on:
            state = shedding.observe(state, well(), P, now)
            now += 1.0
        waits.append(round(now - 1.0 - calm))
    assert waits == [30, 60, 120, 240, 480, 960, 960, 960]
    assert after(6, well(**FULL), state, now + shedding.FORGET_S).times == 1


def test_a_silent_ground_station_does_not_say_that_there_is_room() -> None:
    state = after(6, well(**FULL))
    assert after(300, change(well(), link=Link()), state, 6.0).on
    state = after(30, well(), state, 306.0)
    assert state.on
    assert not after(1, well(), state, 336.0).on

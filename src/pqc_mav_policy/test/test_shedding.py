# SPDX-License-Identifier: Apache-2.0
"""When the proxy has to shape, and when it is let go again."""

from __future__ import annotations

from typing import Any

import pytest
from scenes import change, well

from pqc_mav_policy import shedding
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.shedding import Shedding
from pqc_mav_policy.telemetry.inputs import DecisionInput, Link, Threat

P = PolicyParameters(shed_kbit=64)
FULL: dict[str, Any] = {"link": {"loss": 0.2, "queue_s": 0.8}}
VOLUMETRIC: dict[str, Any] = {
    "threat": Threat.ATTACK,
    "threat_kind": "volumetric",
    "threat_response": "light_handshakes",
}
BUSY: dict[str, Any] = {"system": {"cpu_percent": 97.0, "valid": True, "age_s": 0.5}}


def after(seconds: int, seen: DecisionInput, before: Shedding | None = None, begin: float = 0.0) -> Shedding:
    """After some seconds of the same snapshot."""
    state = before or Shedding()
    for second in range(seconds):
        state = shedding.observe(state, seen, P, begin + second)
    return state


def relapses(seen: dict[str, Any]) -> tuple[list[int], Shedding, float]:
    """Eight times 6 s of a reason and calm until the proxy is let go: how long each calm lasted, and what is then."""
    now, state, waits = 0.0, Shedding(), []
    for _ in range(8):
        state = after(6, well(**seen), state, now)
        now += 6
        assert state.on
        calm = now
        while state.on:
            state = shedding.observe(state, well(), P, now)
            now += 1.0
        waits.append(round(now - 1.0 - calm))
    return waits, state, now


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (FULL, "20.0 % of the packets are lost, and a round trip takes 800 ms more"),
        ({"link": {"loss": 0.2, "queue_s": 0.5}}, ""),
        ({"link": {"loss": 0.021, "queue_s": 0.8}}, "2.1 % of the packets are lost"),
        ({"link": {"loss": 0.02, "queue_s": 0.8}}, ""),
        ({"link": {"loss": 0.2, "queue_s": None}}, ""),
        ({"link": {"loss": 0.2, "queue_s": 0.8, "valid": False}}, ""),
        (BUSY, "the processor is at 97 %, limit 95 %"),
        ({"system": {"cpu_percent": 95.0, "valid": True}}, ""),
        ({"system": {"cpu_percent": 99.0, "valid": False}}, ""),
        ({"system": {"cpu_percent": 99.0, "valid": True, "age_s": 2.0}}, "the processor is at 99 %"),
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


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (VOLUMETRIC, "a detector reports traffic at other ports (volumetric)"),
        ({**VOLUMETRIC, "threat": Threat.SUSPICIOUS}, ""),
        ({**VOLUMETRIC, "threat_kind": "flood"}, ""),
        ({"threat_kind": "volumetric"}, ""),
    ],
)
def test_only_a_sure_volumetric_attack_is_a_reason(seen: dict[str, Any], said: str) -> None:
    assert shedding.alarmed(well(**seen)) == said
    state = after(6, well(**seen))
    assert (state.on, state.why, state.alarms, state.times) == (bool(said), said, int(bool(said)), 0)


def test_an_alarm_has_to_last_and_its_end_is_the_profile_s_end_after_calm() -> None:
    assert not after(5, well(**VOLUMETRIC)).on
    state = after(600, well(**VOLUMETRIC))
    assert state.on and state.by_alarm
    state = after(30, well(), state, 600.0)
    assert state.on
    state = after(1, well(), state, 630.0)
    assert (state.on, state.by_alarm, state.alarms) == (False, False, 1)


def test_alarms_that_are_provoked_again_and_again_are_counted_and_last_no_longer() -> None:
    """Nor do they make the trials after a saturated link any longer."""
    waits, state, now = relapses(VOLUMETRIC)
    assert (waits, state.alarms, state.times) == ([30] * 8, 8, 0)
    state = after(6, well(**FULL), state, now)
    assert (state.times, shedding.trial_s(state, P)) == (1, 30.0)


def test_an_alarm_between_two_relapses_keeps_no_relapse_in_mind() -> None:
    state = after(6, well(**FULL))
    state = after(31, well(), state, 6.0)
    assert (state.on, state.times, state.changed_s) == (False, 1, 36.0)
    for begin in (1000.0, 1800.0):
        state = after(31, well(), after(6, well(**VOLUMETRIC), state, begin), begin + 6)
    assert (state.on, state.alarms, state.changed_s) == (False, 2, 36.0)
    assert after(6, well(**FULL), state, 36.0 + shedding.FORGET_S).times == 1


def test_an_alarm_that_ends_while_the_link_is_full_leaves_the_profile_on() -> None:
    state = after(6, well(**VOLUMETRIC))
    state = after(1, well(**VOLUMETRIC, **FULL), state, 6.0)
    assert state.on and "saturated" in state.why
    assert after(60, well(**FULL), state, 7.0).on
    assert not after(31, well(), state, 7.0).on


def test_the_end_of_an_alarm_shows_though_the_ground_station_is_silent() -> None:
    state = after(6, well(**VOLUMETRIC))
    assert not after(31, change(well(), link=Link()), state, 6.0).on


def test_without_a_rate_nothing_is_ever_shed() -> None:
    state = Shedding()
    for second in range(60):
        state = shedding.observe(state, well(**FULL, **VOLUMETRIC), PolicyParameters(), float(second))
    assert state == Shedding()


def test_it_is_let_go_on_trial_after_a_time_that_doubles_with_each_relapse() -> None:
    waits, state, now = relapses(FULL)
    assert waits == [30, 60, 120, 240, 480, 960, 960, 960]
    # It was let go at now - 1, and a relapse counts after 5 s; half an hour later it is a new trouble.
    assert after(6, well(**FULL), state, now - 1 + 1794).times == 9
    assert after(6, well(**FULL), state, now - 1 + 1795).times == 1


def test_a_silent_ground_station_does_not_say_that_there_is_room() -> None:
    state = after(6, well(**FULL))
    assert after(300, change(well(), link=Link()), state, 6.0).on
    state = after(30, well(), state, 306.0)
    assert state.on
    assert not after(1, well(), state, 336.0).on

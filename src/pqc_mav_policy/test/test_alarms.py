# SPDX-License-Identifier: Apache-2.0
"""Which alarm stands, what it has led to, and when it must not lead to more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scenes import CATALOGUE, change, suite, well

from pqc_mav_policy import alarms
from pqc_mav_policy.alarms import Alarm
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import begin
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.telemetry.inputs import Threat

BEST, HQC = suite("ML-1024-AG-FA-1024"), suite("HQC-256-AG-MD-87")
FORGED: dict[str, Any] = {"threat": Threat.ATTACK, "threat_kind": "forgery", "threat_response": "renew_keys"}


def at(now: float, rekeys: tuple[float, ...] = (), switched: float | None = None, **parameters: Any) -> Situation:
    memory = replace(begin(0.0), rekeys=rekeys, last_switch_s=switched)
    return Situation(well(BEST), memory, PolicyParameters(**parameters), Ladder(CATALOGUE), now)


def test_an_alarm_stands_from_the_first_sure_report_to_the_first_without_a_threat() -> None:
    alarm = alarms.observe(Alarm(renewed_s=3.0), change(well(), **FORGED), 10.0)
    assert alarm == Alarm("renew_keys", "forgery", 10.0, renewed_s=3.0)
    fading = change(well(), **{**FORGED, "threat": Threat.SUSPICIOUS})
    assert alarms.observe(alarm, fading, 12.0) == replace(alarm, response="")
    assert alarms.observe(alarm, change(well(), **FORGED), 14.0).since_s == 10.0
    assert alarms.observe(alarm, well(), 15.0) == Alarm(renewed_s=3.0)


@pytest.mark.parametrize(
    ("level", "response", "stands"),
    [
        (Threat.ATTACK, "hold", True),
        (Threat.SUSPICIOUS, "hold", True),
        (Threat.SUSPICIOUS, "defer_renewals", False),
        (Threat.ATTACK, "defer_renewals", True),
        (Threat.ATTACK, "light_handshakes", True),
        (Threat.ATTACK, "land_at_once", False),
        (Threat.ATTACK, "", False),
    ],
)
def test_only_known_responses_count_and_only_those_to_hold_while_not_sure(
    level: Threat, response: str, stands: bool
) -> None:
    heard = alarms.observe(Alarm(), change(well(), threat=level, threat_response=response), 1.0)
    assert heard.response == (response if stands else "")


def test_one_renewal_an_episode_and_one_every_minute() -> None:
    alarm = alarms.observe(Alarm(), change(well(), **FORGED), 100.0)
    assert alarms.why_not(alarm, at(100.0, switched=99.0), BEST) == ""
    asked = Decision(Action.REKEY, "alarm", "", BEST, BEST)
    after = alarms.settle(alarm, asked, "alarm", 100.0)
    assert (after.renewed, after.changed, after.renewed_s) == (True, False, 100.0)
    assert "have been renewed since" in alarms.why_not(after, at(400.0), BEST)
    again = alarms.observe(alarms.observe(after, well(), 101.0), change(well(), **FORGED), 110.0)
    assert not again.renewed
    assert alarms.why_not(again, at(159.9), BEST).startswith("an alarm renewed them 60 s ago")
    assert alarms.why_not(again, at(160.0), BEST) == ""


def test_keys_that_are_younger_than_the_episode_need_no_renewal() -> None:
    alarm = Alarm("renew_keys", "forgery", 100.0)
    assert alarms.why_not(alarm, at(130.0, switched=100.0), BEST)
    assert not alarms.why_not(alarm, at(130.0, switched=99.9), BEST)


def test_a_change_of_suite_is_noted_and_a_hold_is_not() -> None:
    flood = Alarm("light_handshakes", "flood", 1.0)
    changed = Decision(Action.DOWN, "renew", "", HQC, BEST)
    assert alarms.settle(flood, changed, "alarm", 2.0) == replace(flood, changed=True)
    assert alarms.settle(flood, replace(changed, to_suite=HQC), "alarm", 2.0) == flood
    assert alarms.settle(flood, replace(changed, action=Action.HOLD), "alarm", 2.0) == flood
    assert alarms.settle(Alarm(), changed, "alarm", 2.0) == Alarm()


@pytest.mark.parametrize(
    ("rekeys", "suite_id", "room"),
    [
        ((), BEST, True),
        ((60.0,), BEST, True),  # now is 120 s; by age at 180, 240, 300, and at 360 s the first one is forgotten
        ((61.0,), BEST, False),
        ((0.0, 10.0), BEST, True),
        ((0.0, 10.0, 20.0), BEST, False),
        ((30.0, 60.0, 90.0), HQC, True),  # renewed every 300 s
        ((30.0, 60.0, 90.0, 110.0), HQC, True),
        ((30.0, 60.0, 90.0, 110.0, 115.0), HQC, False),
        ((30.0, 60.0, 90.0, 110.0), suite("MC-460-AG-MD-65"), True),  # by events only
        ((30.0, 60.0, 90.0, 110.0, 115.0), suite("MC-460-AG-MD-65"), False),
    ],
)
def test_an_alarm_leaves_the_rate_limit_s_room_to_renewals_by_age(
    rekeys: tuple[float, ...], suite_id: str, room: bool
) -> None:
    alarm = Alarm("renew_keys", "replay", 119.0)
    why = alarms.why_not(alarm, at(120.0, rekeys, rekeys[-1] if rekeys else None), suite_id)
    assert (not why) is room, why

# SPDX-License-Identifier: Apache-2.0
"""What is asked for, when, how often, and when no more."""

import math
from itertools import pairwise

import pytest

from pqc_mav_sensing.stream_requests import AGAIN_S, WANTED_US, StreamRequests

BATTERY, POSITION, HUD, LANDED, SYS_STATUS = 147, 33, 74, 245, 1


def ticks(
    requests: StreamRequests, begin: int, end: int, *, answers: int | None = None, heard: tuple[int, ...] = ()
) -> list[tuple[float, int, int]]:
    """A heartbeat and some messages every second; what was asked for, and when."""
    asked = []
    for second in range(begin, end):
        for message in (0, *heard):
            requests.heard(message, float(second))
        for fifth in range(5):
            now = second + fifth / 5
            due = requests.due(now)
            if due is not None:
                asked.append((now, *due))
                if answers is not None:
                    requests.answered(answers, now + 0.1)
    return asked


def test_an_autopilot_that_sends_everything_is_asked_for_nothing() -> None:
    requests = StreamRequests()
    assert ticks(requests, 0, 60, heard=(BATTERY, POSITION, HUD, LANDED)) == []
    assert requests.said == ""


def test_after_five_seconds_each_message_that_stays_away_is_asked_for_and_then_once_a_minute() -> None:
    requests = StreamRequests()
    asked = ticks(requests, 0, 65, answers=0)
    assert [(message, interval) for _, message, interval in asked] == list(WANTED_US.items())
    assert asked[0][0] == 5.0 and asked[-1][0] < 6.0
    again = ticks(requests, 65, 120, answers=0)
    assert [message for _, message, _ in again] == list(WANTED_US) and again[0][0] == 65.2
    assert requests.said.startswith("BATTERY_STATUS accepted, GLOBAL_POSITION_INT accepted, ")


def test_only_what_is_missing_and_sys_status_tells_the_battery_too() -> None:
    assert {each[1] for each in ticks(StreamRequests(), 0, 30, heard=(SYS_STATUS, POSITION))} == {HUD, LANDED}


def test_who_does_not_answer_is_asked_with_growing_gaps_of_a_minute_at_last() -> None:
    requests = StreamRequests()
    asked = [now for now, message, _ in ticks(requests, 0, 300) if message == BATTERY]
    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert AGAIN_S == (5.0, 15.0, 60.0) and len(gaps) == 6
    for gap, least in zip(gaps, (*AGAIN_S, 60.0, 60.0, 60.0), strict=True):
        assert least - 1e-6 <= gap < least + 6.0
    assert requests.said.startswith("BATTERY_STATUS not answered (7)")


def test_a_refusal_is_an_answer() -> None:
    requests = StreamRequests()
    assert len(ticks(requests, 0, 300, answers=3)) == len(WANTED_US)
    assert requests.said.startswith("BATTERY_STATUS refused (3)")


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    requests = StreamRequests()
    requests.answered(0, 1.0)
    requests.heard(0, 0.0)
    for second in range(1, 6):
        requests.heard(0, float(second))
    assert requests.due(5.0) == (BATTERY, 500_000)
    requests.answered(0, 7.0)  # too late to tell what it is about
    assert "not answered" in requests.said


def test_without_heartbeats_nothing_is_asked_and_after_a_restart_all_is_asked_anew() -> None:
    requests = StreamRequests()
    assert requests.due(math.inf) is None
    assert len(ticks(requests, 0, 60, answers=0)) == len(WANTED_US)
    assert requests.due(70.0) is None
    asked = ticks(requests, 70, 120, answers=0)
    assert len(asked) == len(WANTED_US) and asked[0][0] == 75.0


def test_a_stream_that_ends_later_is_asked_for() -> None:
    requests = StreamRequests()
    assert ticks(requests, 0, 60, heard=(BATTERY, POSITION, HUD, LANDED)) == []
    asked = ticks(requests, 60, 120, answers=0, heard=(POSITION, HUD, LANDED))
    assert [(now, message) for now, message, _ in asked] == [(64.0, BATTERY)]


@pytest.mark.parametrize("kept", [(), (BATTERY, HUD)], ids=["restarted", "lost rates"])
def test_an_autopilot_that_forgets_what_it_was_asked_for_is_asked_again(kept: tuple[int, ...]) -> None:
    """It restarts too quickly for a heartbeat to be missed, or somebody else sets its rates to nothing."""
    requests, every = StreamRequests(), (BATTERY, POSITION, HUD, LANDED)
    assert len(ticks(requests, 0, 6, answers=0)) == len(WANTED_US)
    assert ticks(requests, 6, 80, answers=0, heard=every) == []
    asked = ticks(requests, 82, 140, answers=0, heard=kept)
    assert [message for _, message, _ in asked] == [message for message in WANTED_US if message not in kept]
    assert asked[0][0] == 84.0, "5 s after the last one came"
    assert ticks(requests, 140, 144, answers=0, heard=every) == []


def test_what_comes_less_than_once_a_second_is_asked_for_once_a_minute() -> None:
    requests, asked = StreamRequests(), []
    for tenth in range(0, 600, 2):
        now = tenth / 10
        for message, every in ((0, 10), (SYS_STATUS, 10), (BATTERY, 20), (POSITION, 2), (HUD, 2), (LANDED, 10)):
            if tenth % every == 0:
                requests.heard(message, now)
        if (due := requests.due(now)) is not None:
            asked.append((now, *due))
            requests.answered(0, now + 0.1)
    assert asked == [(5.0, BATTERY, 500_000)]

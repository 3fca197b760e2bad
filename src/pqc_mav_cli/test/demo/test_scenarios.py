# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_cli.demo.scenarios import SCENARIOS, Scenario, Schedule
from pqc_mav_policy import alarms
from pqc_mav_policy.strategies.cascade import rules
from pqc_mav_sim.board_thermal import BoardThermal
from pqc_mav_sim.impairment.settings import Impairment

EACH = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))


@EACH
def test_flights_fit_into_their_time(scenario: Scenario) -> None:
    assert 5.0 <= scenario.take_off_s < scenario.land_s < scenario.duration_s - 25.0 and scenario.duration_s <= 120.0
    assert list(scenario.events) == sorted(scenario.events, key=lambda event: event.at_s)
    assert all(scenario.take_off_s < event.at_s < scenario.land_s for event in scenario.events)


@EACH
def test_guards_are_rules_of_the_policy_and_the_response_is_one_that_is_judged(scenario: Scenario) -> None:
    assert scenario.guards <= {rule.__name__ for rule in rules.CASCADE}
    assert bool(scenario.guards) is not bool(scenario.response) and scenario.response in ("", alarms.RENEW_KEYS)


@EACH
def test_events_can_be_applied(scenario: Scenario) -> None:
    settings: dict[str, object] = {}
    for event in scenario.events:
        assert event.text and sum(each is not None for each in (event.board_w, event.link, event.flood_hz)) == 1
        assert (event.link is None and event.flood_hz is None) or scenario.relayed
        settings |= event.link or {}
        Impairment.from_dict(settings)
    last = scenario.events[-1] if scenario.events else None
    assert last is None or last.flood_hz in (None, 0.0)
    assert not settings or Impairment.from_dict(settings) == Impairment(), "the link is clean in the end"


def test_the_board_of_the_hot_flight_gets_hot_but_not_off_and_cools_down() -> None:
    board, schedule, hottest = BoardThermal(3.5), Schedule(SCENARIOS["hot"].events), 0.0
    for tenth in range(int(SCENARIOS["hot"].duration_s * 10)):
        for event in schedule.due(tenth / 10):
            board.power_w = event.board_w or 0.0
        board.advance(tenth / 10)
        hottest = max(hottest, board.temperature_c)
        if tenth / 10 > SCENARIOS["hot"].land_s:
            assert board.temperature_c < 70.0
    assert 82.0 < hottest < 100.0


def test_the_schedule_hands_each_event_out_once() -> None:
    events = SCENARIOS["bad-link"].events
    schedule = Schedule(events)
    assert schedule.due(0.0) == []
    assert schedule.due(events[1].at_s) == list(events[:2])
    assert schedule.due(events[1].at_s) == [] and schedule.due(1e9) == list(events[2:]) and schedule.due(1e9) == []

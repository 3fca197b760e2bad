# SPDX-License-Identifier: Apache-2.0
"""The list of conditions is sound: every event can be done, every time fits, every name selects."""

from __future__ import annotations

import conditions
import pqc_mav_tunnel
import pytest
from conditions import CONDITIONS, Condition

from pqc_mav_sim.impairment.settings import Impairment

ACTIONS = {"impair", "kill", "restart", "move", "rebind", "step_clock", "attack", "stop_attack"}


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda each: each.name)
def test_a_condition_is_sound(condition: Condition) -> None:
    Impairment.from_dict(condition.impair)
    for event in condition.events:
        assert event.do in ACTIONS
        assert 0 < event.at_s < condition.seconds
    assert condition.rekeys
    assert all(0 < rekey.at_s < condition.seconds for rekey in condition.rekeys)
    heals = [event for event in condition.events if event.heals]
    assert len(heals) <= 1
    assert (condition.expect.recover_s is not None) == bool(heals)
    if condition.expect.loss:
        assert condition.impair["loss"] == condition.expect.loss


def test_the_suites_exist() -> None:
    for name in (*conditions.SUITES, conditions.SLOW_TO_SIGN):
        assert pqc_mav_tunnel.find_suite(name).id == name


def test_names_are_unique_and_titles_too() -> None:
    assert len({each.name for each in CONDITIONS}) == len(CONDITIONS)
    assert len({each.title for each in CONDITIONS}) == len(CONDITIONS)


def test_the_issue_list_is_covered() -> None:
    names = {each.name for each in CONDITIONS}
    wanted = {f"loss-{p}" for p in (0, 1, 5, 10, 20, 30)} | {f"delay-{ms}" for ms in (50, 150, 300)}
    wanted |= {f"cut-{s}" for s in (1, 5, 30)} | {f"mtu-{mtu}" for mtu in (576, 1280, 1500)}
    wanted |= {f"clock-{end}{day}" for end in ("drone", "gcs") for day in ("+1d", "-1d")}
    wanted |= {"reorder", "duplicate", "rate-64k", "roam", "nat-rebind", "gcs-kill", "gcs-kill-dark", "drone-kill"}
    wanted |= {
        f"attack-{name}" for name in ("flood", "replay", "forge", "handshakes", "hellos", "hello-replay", "rekeys")
    }
    assert wanted <= names


def test_the_whole_run_stays_below_ten_minutes() -> None:
    assert sum(each.seconds + 3 for each in CONDITIONS) < 600


def test_selection() -> None:
    assert conditions.select() == list(CONDITIONS)
    assert {each.name for each in conditions.select(quick=True)} == set(conditions.QUICK)
    assert [each.name for each in conditions.select("roam, cut")] == ["cut-1", "cut-5", "cut-30", "roam"]
    assert [each.name for each in conditions.select("rate-64k")] == ["rate-64k", "rate-64k-over"]
    with pytest.raises(ValueError, match="no condition 'los'; there are: loss-0"):
        conditions.select("los")

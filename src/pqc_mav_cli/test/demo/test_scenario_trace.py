# SPDX-License-Identifier: Apache-2.0
import json
import math

from scenario_flights import HEAVY, LIGHT, flown

from pqc_mav_cli.demo.scenario_trace import FloodRule


def test_requests_and_tiers() -> None:
    trace = flown("hot").trace
    assert [row.action for row in trace.requests] == ["DOWN", "DOWN_0", "UPGRADE"]
    assert trace.rank(HEAVY) == 81 and trace.rank(LIGHT) == 3 and trace.rank("cs-none") is None


def test_json_has_no_nan() -> None:
    text = json.dumps(flown("hot").trace.as_json())
    assert "NaN" not in text and json.loads(text)["thermal"][40]["celsius"] is None


def test_the_rule_sees_a_flood_by_what_is_refused() -> None:
    rule = FloodRule()
    assert rule.update(0.0, 1000) == FloodRule.NONE, "the first reading has nothing to count from"
    assert rule.update(1.0, 1000) == FloodRule.NONE
    assert rule.update(2.0, 1010) == FloodRule.SUSPICIOUS
    assert rule.update(3.0, 1060) == FloodRule.ATTACK and math.isclose(rule.refused_per_s, 50.0)
    assert rule.update(4.0, 0) == FloodRule.NONE, "a proxy that was started anew counts from zero"
    assert rule.update(4.0, 5000) == FloodRule.NONE

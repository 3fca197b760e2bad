# SPDX-License-Identifier: Apache-2.0
"""The learned strategies on whole missions: no invariant breaks, even with the worst table; the shipped one pays."""

from __future__ import annotations

import pytest
from random_flights import LADDER, PARAMETERS
from scenes import CATALOGUE, CORE, DEFAULT
from whims import Whim

from pqc_mav_policy import memory as memories
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.hybrid.hybrid import Hybrid
from pqc_mav_policy.strategies.rl.strategy import RlStrategy
from pqc_mav_policy.telemetry.inputs import DecisionInput
from pqc_mav_policy_lab.compare.comparison import compare
from pqc_mav_policy_lab.compare.invariants import violations
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.fly import Simulation, fly
from pqc_mav_policy_lab.missions.simulated import NAMES, mission

COSTS = published_costs(CATALOGUE)


@pytest.mark.parametrize("name", NAMES)
def test_the_worst_table_breaks_no_invariant_on_any_mission(name: str) -> None:
    for seed in (1, 2):
        simulation = Simulation(mission(name, seed).world(), DEFAULT, CORE, CATALOGUE, COSTS)
        flight = fly(simulation, RlStrategy(CATALOGUE, PARAMETERS, Whim(seed)))
        assert sum(second.decision.acts for second in flight) > 5
        assert violations(flight, LADDER, PARAMETERS) == dict.fromkeys(violations([], LADDER, PARAMETERS), 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_hybrid_breaks_no_invariant_with_the_shipped_table_or_with_the_worst(name: str) -> None:
    flown = make("hybrid", CATALOGUE, Settings(policy=PARAMETERS))
    worst = Hybrid(flown.expert, Whim(3))  # type: ignore[attr-defined]
    for strategy in (flown, worst):
        simulation = Simulation(mission(name, 3).world(), DEFAULT, CORE, CATALOGUE, COSTS)
        found = violations(fly(simulation, strategy), LADDER, PARAMETERS)
        assert not any(found.values()), found


def test_the_shipped_table_beats_holding_still() -> None:
    """On missions it was not trained on, by the reward it was trained for."""

    class Hold:
        def initial_state(self, now: float) -> None:
            return None

        def decide(self, inputs: DecisionInput, state: None, now: float) -> tuple[object, None]:
            it = Situation(inputs, memories.begin(now), PARAMETERS, LADDER, now)
            return it.hold("none", 0, ""), None

    rl = make("rl", CATALOGUE, Settings())
    flown = {"hold": Hold(), "rl": rl}
    found = compare(
        [mission("nominal"), mission("bad-link")],
        flown,
        catalogue=CATALOGUE,
        costs=COSTS,
        available=CORE,
        settings=Settings(),
    )
    worth = {name: sum(row.reward for row in found.rows if row.strategy == name) for name in flown}
    assert worth["rl"] > worth["hold"] + 0.05

# SPDX-License-Identifier: Apache-2.0
"""The missions that the strategy is trained on: battery, temperature, link and attacks, all simulated."""

from collections.abc import Sequence

import numpy as np

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.rl.state import LEVEL_OF
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.flight_model.costs import Costs
from pqc_mav_policy_lab.missions.fly import Simulation
from pqc_mav_policy_lab.missions.simulated import NAMES, mission
from pqc_mav_policy_lab.training.episode import Episode

# Missions an episode may draw, those with the most to learn from more often.
DRAWN = (*NAMES, "bad-link", "attack", "bad-link")
# Variants an episode may draw; 0 stays unseen, for judging.
VARIANTS = 1_000_000


class Draw:
    """Draws mission, variant and the suite to begin with, by a seed."""

    def __init__(
        self,
        catalogue: Catalogue,
        costs: Costs,
        available: Sequence[str],
        parameters: PolicyParameters | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._costs = costs
        self._available = tuple(available)
        self._parameters = parameters or PolicyParameters()
        self._ladder = Ladder(catalogue, self._parameters.order)
        known = self._ladder.known(available)
        self._starts = [
            next(name for name in known if catalogue[name].level == level)
            for level in LEVEL_OF.values()
            if any(catalogue[name].level == level for name in known)
        ]

    def __call__(self, seed: int, name: str = "") -> Episode:
        """A mission at its first choice; `name` fixes which one."""
        generator = np.random.default_rng(seed)
        drawn = DRAWN[int(generator.integers(len(DRAWN)))]
        variant = int(generator.integers(1, VARIANTS))
        start = self._starts[int(generator.integers(len(self._starts)))]
        flown = mission(name or drawn, variant)
        simulation = Simulation(flown.world(), start, self._available, self._catalogue, self._costs)
        return Episode(simulation, self._ladder, self._parameters)

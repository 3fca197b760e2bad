# SPDX-License-Identifier: Apache-2.0
"""The Gymnasium environment the strategy is trained in: battery, temperature, link and attacks, all simulated.

Needed for training only. Observations are the bins of a state of the strategy rl, actions its choices; a step lasts
until the next choice is due (five seconds, longer while the cascade's protection is in charge).
https://gymnasium.farama.org/api/env/
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.rl.state import LEVEL_OF, SIZES, Choice
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy_lab.flight_model.costs import Costs
from pqc_mav_policy_lab.missions.fly import Simulation
from pqc_mav_policy_lab.missions.simulated import NAMES, mission
from pqc_mav_policy_lab.training.episode import Episode

Observation = NDArray[np.int64]
# Missions an episode may draw, those with the most to learn from more often.
DRAWN = (*NAMES, "bad-link", "attack", "bad-link")
# Variants an episode may draw; 0 stays unseen, for judging.
VARIANTS = 1_000_000


class MissionEnv(gymnasium.Env[Observation, np.int64]):
    """Missions under the cascade's protection.

    `reset(seed=...)` draws mission, variant and the suite to begin with; `options` may fix `mission` (a name) and
    `variant`. `info["safe"]` holds, per action, whether it is safe now; an unsafe one holds instead. `info["seconds"]`
    is how long the last step took, by which the discount goes.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's own declaration

    def __init__(
        self,
        catalogue: Catalogue,
        costs: Costs,
        available: Sequence[str],
        parameters: PolicyParameters | None = None,
    ) -> None:
        self.observation_space = gymnasium.spaces.MultiDiscrete(np.array(SIZES, dtype=np.int64), dtype=np.int64)
        self.action_space = gymnasium.spaces.Discrete(len(Choice))
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
        self._episode: Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """A new mission at its first choice."""
        super().reset(seed=seed)
        given = options or {}
        drawn = DRAWN[int(self.np_random.integers(len(DRAWN)))]
        variant = int(self.np_random.integers(1, VARIANTS))
        start = self._starts[int(self.np_random.integers(len(self._starts)))]
        flown = mission(given.get("mission", drawn), int(given.get("variant", variant)))
        simulation = Simulation(flown.world(), start, self._available, self._catalogue, self._costs)
        self._episode = Episode(simulation, self._ladder, self._parameters)
        return self._observation(), self._info(0)

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One choice and the seconds until the next."""
        assert self._episode is not None, "reset comes first"
        gain, seconds = self._episode.choose(Choice(int(action)))
        return self._observation(), gain, self._episode.over, False, self._info(seconds)

    def _observation(self) -> Observation:
        assert self._episode is not None
        return np.array(self._episode.state, dtype=np.int64)

    def _info(self, seconds: int) -> dict[str, Any]:
        assert self._episode is not None
        safe = self._episode.safe
        return {"safe": tuple(choice in safe for choice in Choice), "seconds": seconds}

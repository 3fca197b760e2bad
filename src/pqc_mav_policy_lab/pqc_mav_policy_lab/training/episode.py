# SPDX-License-Identifier: Apache-2.0
"""One mission as a sequence of choices: the protection of the cascade flies until the next one is due."""

from collections.abc import Mapping

from pqc_mav_policy import memory as memories
from pqc_mav_policy.decision import Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade.cascade import settle
from pqc_mav_policy.strategies.cascade.rules import protect
from pqc_mav_policy.strategies.rl import safe as rl_safe
from pqc_mav_policy.strategies.rl.state import Choice, State, encode
from pqc_mav_policy.strategies.rl.strategy import CHOOSE_EVERY_S
from pqc_mav_policy.telemetry.inputs import TunnelState
from pqc_mav_policy_lab.missions.fly import Simulation
from pqc_mav_policy_lab.training.reward import of_second, security_score

# Worth of a second later against one now: what matters is the next two or three minutes.
DISCOUNT_PER_S = 0.99


class Episode:
    """A mission at its first choice. `choose` until `over`."""

    def __init__(self, simulation: Simulation, ladder: Ladder, parameters: PolicyParameters) -> None:
        self._simulation = simulation
        self._ladder = ladder
        self._parameters = parameters
        self._memory = memories.begin(0.0)
        self._next_choice_s = 0.0
        self._gain = 0.0
        self._seconds = 0
        self.over = False
        self._situation = self._fly_on()

    @property
    def state(self) -> State:
        """What the chooser sees."""
        return encode(self._situation)

    @property
    def safe(self) -> Mapping[Choice, str]:
        """What it may choose, with the suite behind it."""
        return rl_safe.choices(self._situation)

    def choose(self, choice: Choice) -> tuple[float, int]:
        """Does it (an unsafe choice holds) and flies on to the next choice.

        Returns what the seconds in between were worth at the first of them, and how many they were (0 once it is over:
        a mission may pass without a single choice, when the protection is in charge all the way).
        """
        if self.over:
            return 0.0, 0
        safe = self.safe
        it = self._situation
        if choice is Choice.HOLD or choice not in safe:
            decision = it.hold("rl", 0, "")
        else:
            decision = rl_safe.decision(it, safe[choice], "rl", "")
        self._gain, self._seconds = 0.0, 0
        self._next_choice_s = it.now + CHOOSE_EVERY_S
        self._second(decision)
        self._situation = self._fly_on()
        return self._gain, self._seconds

    def _fly_on(self) -> Situation:
        while True:
            now = float(self._simulation.index)
            inputs = self._simulation.inputs()
            self._memory = memories.observe(inputs, self._memory, self._parameters, now)
            it = Situation(inputs, self._memory, self._parameters, self._ladder, now)
            if self._simulation.done:
                self.over = True
                return it
            decision = protect(it)
            if decision is None:
                if now >= self._next_choice_s:
                    return it
                decision = it.hold("rl", 0, "")
            self._second(decision)

    def _second(self, decision: Decision) -> None:
        simulation = self._simulation
        self._memory = settle(decision, self._memory)
        conditions = simulation.world.conditions(simulation.index)
        work = simulation.advance(decision)
        session = simulation.session.session(float(simulation.index))
        security = 0.0
        if session.state in (TunnelState.UP, TunnelState.REKEYING) and not conditions.silent:
            level = self._ladder.catalogue[session.suite].level
            security = security_score(level, session.key_age_s or 0.0, conditions.danger)
        worth = of_second(conditions.phase, security, work.under_way_s, simulation.power_w)
        self._gain += DISCOUNT_PER_S**self._seconds * worth
        self._seconds += 1

# SPDX-License-Identifier: Apache-2.0
"""Everything a rule looks at: the snapshot, the memory after it, the parameters, and which suites may be chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property

from pqc_mav_policy.bands import BANDS, EVERYTHING, Band
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase

# Chooses among suites; None where none of them is better than the present one.
Pick = Callable[[Collection[str]], "str | None"]

FIRST_RETRY_S = 2.0

_INTERVALS = {
    "ML-KEM": "rekey_mlkem_s",
    "HQC": "rekey_hqc_s",
    "Classic-McEliece": "rekey_mceliece_s",
    "FrodoKEM": "rekey_frodokem_s",
}


@dataclass(frozen=True)
class Situation:
    """One moment of decision; `now` [s]."""

    inputs: DecisionInput
    memory: Memory
    parameters: PolicyParameters
    ladder: Ladder
    now: float

    @property
    def current(self) -> str:
        """The suite in use, "" without a session."""
        return self.inputs.session.suite

    @property
    def airborne(self) -> bool:
        """True unless the vehicle is known to be disarmed: not knowing counts as flying."""
        return not (self.inputs.vehicle.valid and self.inputs.vehicle.armed is False)

    @property
    def band(self) -> Band:
        """The phase's band; on the ground, or with bands switched off, everything."""
        if not self.parameters.phase_bands or not self.airborne:
            return EVERYTHING
        phase = self.inputs.vehicle.phase
        # A vehicle armed on the ground is about to take off.
        return BANDS[Phase.UNKNOWN if phase is Phase.DISARMED else phase]

    @property
    def unfit(self) -> bool:
        """Whether the suite in use is unfit for the phase, as far as that is known, and another one would be fit."""
        allows, catalogue = self.band.allows, self.ladder.catalogue
        if not self.inputs.vehicle.valid or allows(catalogue[self.current]):
            return False
        return any(allows(catalogue[name]) for name in self.allowed)

    @property
    def floor(self) -> int:
        """The lowest NIST level that may be chosen: the parameter's, else that of the proxy's configured suite.

        While that is not known, the suite in use stands for it, and without a session nothing low may be chosen.
        """
        catalogue = self.ladder.catalogue
        known = (catalogue[n].level for n in (self.inputs.configured_suite, self.current) if n in catalogue)
        return self.parameters.minimum_level or next(known, max(suite.level for suite in catalogue.values()))

    def choosable(self, suite: str) -> bool:
        """Whether a standard specifies the suite, or its owner wants it all the same: what is configured or in use was
        asked for by somebody."""
        named = suite in (self.inputs.configured_suite, self.current)
        return named or self.parameters.allow_drafts or self.ladder.catalogue[suite].standard

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """Suites that could be chosen if none were avoided, from light to heavy.

        Available, not below the floor, of published standards (see `choosable`), fit for the phase and not left because
        of blackouts lately. Where the phase would leave nothing, it does not count.
        """
        catalogue, floor = self.ladder.catalogue, self.floor
        names = tuple(n for n in self.ladder.known(self.inputs.available) if catalogue[n].level >= floor)
        names = tuple(n for n in names if self.choosable(n))
        names = tuple(n for n in names if self.band.allows(catalogue[n])) or names
        return tuple(n for n in names if n != self.memory.abandoned)

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """Suites that may be chosen now, from light to heavy: the allowed ones that the engine does not avoid.

        None may be left: then the running suite is kept.
        """
        avoided = frozenset(self.inputs.blacklisted)
        return tuple(n for n in self.allowed if n not in avoided)

    def choose(self, pick: Pick) -> str | None:
        """`pick` among the candidates of at least the level it would pick if the engine avoided none.

        The engine's list grows when handshakes fail, and a failed handshake is never a reason for a lower level.
        """
        free = pick(self.allowed)
        if free is None or free in self.candidates:
            return free
        return pick([name for name in self.candidates if self._level(name) >= self._level(free)])

    def no_lower(self, decide: Callable[[Situation], Decision]) -> Decision:
        """What `decide` says, or a hold where its level is below what it would say if the engine avoided none."""
        decision = decide(self)
        if not decision.acts or not self.inputs.blacklisted:
            return decision
        free = decide(replace(self, inputs=replace(self.inputs, blacklisted=())))
        if self._level(decision.to_suite) >= self._level(free.to_suite):
            return decision
        why = "Holding: handshakes of every suite of that level are refused, and a lower level is no answer to that"
        return self.hold(decision.guard, decision.priority, f"{why}.")

    def _level(self, suite: str) -> int:
        return self.ladder.catalogue[suite].level

    @property
    def rekey_interval_s(self) -> float | None:
        """Age at which the present keys are due [s]; 0 = on events only, None = not at all in this phase."""
        factor = self.band.rekey_factor
        return None if factor is None else self.interval_s(self.current) * factor

    def interval_s(self, suite: str) -> float:
        """Age at which keys of a suite are renewed where nothing speaks against it [s]; 0 = on events only."""
        return float(getattr(self.parameters, _INTERVALS[self.ladder.catalogue[suite].kem_family]))

    @property
    def shortest_interval_s(self) -> float:
        """The youngest age at which any family's keys are renewed [s]."""
        intervals = (float(getattr(self.parameters, name)) for name in _INTERVALS.values())
        return min(filter(None, intervals), default=math.inf)

    @property
    def key_age_s(self) -> float:
        """Age of the keys [s], as the engine reports it or since the last switch."""
        if self.inputs.session.key_age_s is not None:
            return self.inputs.session.key_age_s
        return self.now - (self.memory.last_switch_s if self.memory.last_switch_s is not None else self.now)

    @property
    def calm_s(self) -> float:
        """For how long nothing disturbed and nothing changed [s]."""
        return self.now - self.memory.calm_since_s

    @property
    def retry_in_s(self) -> float:
        """How long what cannot wait for the cooldown waits after failed requests [s]; 0 = it may ask."""
        memory = self.memory
        if not memory.failures or memory.last_failure_s is None:
            return 0.0
        wait = min(self.parameters.retry_most_s, FIRST_RETRY_S * 2.0 ** min(memory.failures - 1, 16))
        return max(0.0, memory.last_failure_s + wait - self.now)

    @property
    def rate_limited(self) -> bool:
        """Whether the window holds as many successful rekeys as it may."""
        return len(self.memory.rekeys) >= self.parameters.rate_limit_count

    def hold(self, guard: str, priority: int, reason: str) -> Decision:
        """Nothing changes."""
        return Decision(Action.HOLD, guard, reason, self.current, self.current, priority)

    def change(self, action: Action, guard: str, priority: int, reason: str, to: str) -> Decision:
        """Asks for a suite (the present one for fresh keys)."""
        return Decision(action, guard, reason, self.current, to, priority)

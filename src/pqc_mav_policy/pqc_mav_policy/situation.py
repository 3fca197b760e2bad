# SPDX-License-Identifier: Apache-2.0
"""Everything a rule looks at: the snapshot, the memory after it, the parameters, and which suites may be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pqc_mav_policy.bands import BANDS, EVERYTHING, Band
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.telemetry.inputs import DecisionInput, Phase

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

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        """Suites that may be chosen now, from light to heavy.

        Available, not avoided by engine or policy, at least of the minimum level and fit for the phase. A condition
        that would leave nothing is dropped, so that no run of failures can shut out every suite.
        """
        names = self.ladder.known(self.inputs.available)
        catalogue = self.ladder.catalogue
        engine = frozenset(self.inputs.blacklisted)
        names = tuple(n for n in names if n not in engine and not self.memory.avoids(n)) or _soonest(names, self)
        names = tuple(n for n in names if catalogue[n].level >= self.parameters.minimum_level) or names
        return tuple(n for n in names if self.band.allows(catalogue[n])) or names

    @property
    def rekey_interval_s(self) -> float | None:
        """Age at which the present keys are due [s]; 0 = on events only, None = not at all in this phase."""
        factor = self.band.rekey_factor
        family = self.ladder.catalogue[self.current].kem_family
        interval = float(getattr(self.parameters, _INTERVALS[family]))
        return None if factor is None else interval * factor

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
    def rate_limited(self) -> bool:
        """Whether the window holds as many successful rekeys as it may."""
        return len(self.memory.rekeys) >= self.parameters.rate_limit_count

    def hold(self, guard: str, priority: int, reason: str) -> Decision:
        """Nothing changes."""
        return Decision(Action.HOLD, guard, reason, self.current, self.current, priority)

    def change(self, action: Action, guard: str, priority: int, reason: str, to: str) -> Decision:
        """Asks for a suite (the present one for fresh keys)."""
        return Decision(action, guard, reason, self.current, to, priority)


def _soonest(names: tuple[str, ...], situation: Situation) -> tuple[str, ...]:
    """When all are avoided: the one that the policy itself would release first, otherwise every one."""
    until = dict(situation.memory.avoided)
    own = [name for name in names if name in until]
    return (min(own, key=lambda name: until[name]),) if own else names

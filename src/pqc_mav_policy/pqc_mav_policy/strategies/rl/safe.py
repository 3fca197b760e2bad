# SPDX-License-Identifier: Apache-2.0
"""The safe set: what a learned strategy may choose from. The cascade's protection overrules it (rules.protect).

* Nothing at all while the rate limit is exhausted, and no fresh keys while the present ones are fresh: the limit's
  budget is for when they are needed.
* Under stress, on a bad link or during an attack, never a heavier suite (invariant I3).
* Upwards only after tau_up of calm, and only on the ground or hovering, the static phase of [endurance-paper] 6.2.
* Only suites that are available, not avoided, not below the lowest level, and fit for the phase
  (Situation.candidates).
"""

from collections.abc import Mapping

from pqc_mav_policy import renewal
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategies.rl.state import LEVEL_OF, Choice
from pqc_mav_policy.telemetry.inputs import Phase

# Half the shortest published rekey interval.
LEAST_KEY_AGE_S = 30.0


def disturbed(it: Situation) -> str:
    """Why no heavier suite may be chosen now, as a clause; "" when one may."""
    return (
        signs.emergency(it.inputs, it.parameters)
        or signs.blackouts(it.inputs, it.parameters)
        or signs.bad_link(it.inputs, it.parameters)
        or signs.stress(it.inputs, it.parameters)
    )


def may_climb(it: Situation) -> bool:
    """Whether a heavier suite may be chosen."""
    if disturbed(it) or it.calm_s < it.parameters.tau_up_s:
        return False
    hovering = it.inputs.vehicle.valid and it.inputs.vehicle.phase is Phase.HOVER
    return not it.airborne or hovering


def is_safe(it: Situation, suite_id: str) -> bool:
    """Whether a strategy may ask for this suite now; the one in use means fresh keys."""
    if it.rate_limited or suite_id not in it.candidates:
        return False
    return not it.ladder.lighter(it.current, suite_id) or may_climb(it)


def choices(it: Situation) -> Mapping[Choice, str]:
    """The suite behind every choice that is safe now; HOLD always is."""
    found = {Choice.HOLD: it.current}
    if it.rate_limited:
        return found
    if it.current in it.candidates and it.key_age_s >= LEAST_KEY_AGE_S:
        found[Choice.REKEY] = it.current
    here = it.ladder.catalogue[it.current].level
    climb = may_climb(it)
    for choice, level in LEVEL_OF.items():
        if level == here or (level > here and not climb):
            continue
        suite = next((name for name in it.candidates if it.ladder.catalogue[name].level == level), None)
        # The lightest suite of a lower level may still be heavier than this one where only slow signatures are left.
        if suite is not None and (climb or it.ladder.lighter(suite, it.current)):
            found[choice] = suite
    return found


def decision(it: Situation, suite_id: str, guard: str, reason: str) -> Decision:
    """Asking for `suite_id` as one of the cascade's actions."""
    if suite_id == it.current:
        return renewal.eased(it, it.change(Action.REKEY, guard, 0, reason, suite_id))
    action = Action.DOWN if it.ladder.lighter(suite_id, it.current) else Action.UPGRADE
    return it.change(action, guard, 0, reason, suite_id)

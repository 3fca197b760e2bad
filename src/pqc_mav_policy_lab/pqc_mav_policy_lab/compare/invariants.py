# SPDX-License-Identifier: Apache-2.0
"""Counts where a flight broke the policy's invariants ([pqcmav-paper] IV-A and IV-D), no matter who decided.

* I1 safety: something was requested without telemetry, or an emergency was left unanswered, on a suite that is not the
  lightest, for longer than a handshake may take.
* I2 liveness: a request stayed unanswered for longer than the engine waits for any handshake.
* I3 monotonic degradation: a heavier suite was requested during stress, an emergency or on a bad link.
* Limits: a change within the cooldown of the one before, or beyond the rate limit; answers to an emergency and
  rollbacks are exempt from both.
* Drafts: a suite was requested that no published standard specifies, though 'allow_drafts' is off and nobody named it.

I4, determinism, is a property of two flights and counted by the comparison.
"""

from collections.abc import Sequence

from pqc_mav_policy import senses
from pqc_mav_policy.decision import Action
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.telemetry.inputs import DecisionInput
from pqc_mav_policy_lab.flight_model.session import HANDSHAKE_TIMEOUT_S
from pqc_mav_policy_lab.missions.fly import Second

KINDS = ("I1", "I2", "I3", "cooldown", "rate", "drafts")
# An emergency is answered once the switch has been made: two seconds are enough for a light handshake.
ANSWER_S = 2
_ABOVE_LIMITS = (Action.DOWN_0, Action.ROLLBACK)


def violations(flight: Sequence[Second], ladder: Ladder, parameters: PolicyParameters) -> dict[str, int]:
    """How often each invariant was broken; a lasting violation counts once."""
    found = dict.fromkeys(KINDS, 0)
    unanswered = pending = 0
    switches: list[float] = []
    before: tuple[str, int] | None = None
    for second in flight:
        inputs = senses.usable(second.inputs, parameters)
        decision, now = second.decision, float(second.index)
        session = inputs.session
        identity = (session.suite, session.epoch)
        if before is not None and identity != before and session.epoch > 0:
            switches.append(session.last_switch_s if session.last_switch_s is not None else now)
        before = identity

        unanswered = unanswered + 1 if _owed(second, ladder, parameters) else 0
        pending = pending + 1 if session.pending_suite is not None else 0
        found["I1"] += unanswered == ANSWER_S + 1
        found["I2"] += pending == round(HANDSHAKE_TIMEOUT_S) + 2
        if not decision.acts:
            continue
        found["I1"] += bool(senses.blind(inputs, parameters))
        found["I3"] += _heavier_under_stress(second, ladder, parameters)
        found["drafts"] += not _allowed(decision.to_suite, inputs, ladder, parameters)
        if decision.action not in _ABOVE_LIMITS:
            recent = [at for at in switches if now - at < parameters.rate_limit_window_s]
            found["cooldown"] += bool(switches) and now - switches[-1] < parameters.cooldown_s
            found["rate"] += len(recent) >= parameters.rate_limit_count
    return found


def _owed(second: Second, ladder: Ladder, parameters: PolicyParameters) -> bool:
    """There is an emergency, and the suite in use is not the lightest that could be used."""
    inputs = senses.usable(second.inputs, parameters)
    if not inputs.session.alive or not signs.emergency(inputs, parameters):
        return False
    asked = inputs.session.pending_suite or second.decision.to_suite
    least = parameters.minimum_level or ladder.catalogue[inputs.configured_suite].level
    usable = [name for name in inputs.available if name not in inputs.blacklisted]
    usable = [name for name in usable if _allowed(name, inputs, ladder, parameters)]
    return ladder.lightest_below(asked, [name for name in usable if ladder.catalogue[name].level >= least]) is not None


def _allowed(suite: str, inputs: DecisionInput, ladder: Ladder, parameters: PolicyParameters) -> bool:
    """By standard, by parameter, or because it is the proxy's own or in use."""
    named = suite in (inputs.configured_suite, inputs.session.suite)
    return named or parameters.allow_drafts or ladder.catalogue[suite].standard


def _heavier_under_stress(second: Second, ladder: Ladder, parameters: PolicyParameters) -> bool:
    inputs, decision = senses.usable(second.inputs, parameters), second.decision
    if not ladder.lighter(decision.from_suite, decision.to_suite):
        return False
    return bool(
        signs.emergency(inputs, parameters) or signs.bad_link(inputs, parameters) or signs.stress(inputs, parameters)
    )

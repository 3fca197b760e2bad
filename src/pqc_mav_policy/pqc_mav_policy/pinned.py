# SPDX-License-Identifier: Apache-2.0
"""Mode manual: the operator's suite is kept, whatever the telemetry says. Pure."""

from __future__ import annotations

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import rules

GUARD = "pinned"


def decide(it: Situation, suite: str) -> Decision:
    """Changes to the pinned suite when it is not in use, and otherwise only renews its keys.

    It waits without a session, while a request is under way, and shortly after a switch or a failure. The rate limit
    and the lowest level stay in force. Missing telemetry does not hold up an operator's choice, only the renewal of
    keys.
    """
    waiting = rules.first((rules.session, rules.pending, rules.cooldown), it)
    if waiting is not None:
        return waiting
    if it.current != suite:
        level = it.ladder.catalogue[suite].level
        if level < it.floor:
            return it.hold(
                GUARD, 0, f"Holding: the pinned suite is of level {level}, below the lowest allowed, {it.floor}."
            )
        action = Action.DOWN if it.ladder.lighter(suite, it.current) else Action.UPGRADE
        return rules.limited(it, action, GUARD, 0, "The operator pinned this suite.", suite)
    blind = rules.safety(it)
    due = None if blind is not None else rules.rekey(it)
    if due is not None and due.action is Action.REKEY:
        return due
    return it.hold(GUARD, 0, "Keeping the suite the operator pinned.")

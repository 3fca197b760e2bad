# SPDX-License-Identifier: Apache-2.0
"""An operator's suite is kept, whatever the telemetry says: in mode manual, and as long as a rekey pinned it. Pure."""

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import rules

GUARD = "pinned"


def decide(it: Situation, suite: str, for_s: float | None = None) -> Decision:
    """Changes to the pinned suite when it is not in use, and otherwise only renews its keys.

    It waits without a session, while a request is under way, and shortly after a switch or a failure. The rate limit
    and the lowest level stay in force. Missing telemetry does not hold up an operator's choice, only the renewal of
    keys. An emergency leads to no other suite either: whoever pinned one knows better. `for_s` [s] is how long the pin
    lasts yet; None = until the operator says otherwise.
    """
    lasts = "" if for_s is None else f", for {for_s:.0f} s yet"
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
        return rules.limited(it, action, GUARD, 0, f"The operator pinned this suite{lasts}.", suite)
    blind = rules.safety(it)
    due = None if blind is not None else rules.rekey(it)
    if due is not None and due.action is Action.REKEY:
        return due
    return it.hold(GUARD, 0, f"Keeping the suite the operator pinned{lasts}.")

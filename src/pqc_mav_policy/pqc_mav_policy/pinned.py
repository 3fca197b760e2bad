# SPDX-License-Identifier: Apache-2.0
"""An operator's suite is kept, whatever the telemetry says: in mode manual, and as long as a rekey pinned it. Pure."""

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import rules

GUARD = "pinned"


def decide(it: Situation, suite: str, for_s: float | None = None) -> Decision:
    """Changes to the pinned suite when it is not in use, and otherwise only renews the keys of the one that is.

    It waits without a session, while a request is under way, and shortly after a switch or a failure. The rate limit
    and the lowest level stay in force. Missing telemetry does not hold up an operator's choice, only the renewal of
    keys. An emergency leads to no other suite either: whoever pinned one knows better. `for_s` [s] is how long the pin
    lasts yet; None = until the operator says otherwise.
    """
    lasts = "" if for_s is None else f", for {for_s:.0f} s yet"
    waiting = rules.first((rules.session, rules.pending, rules.cooldown), it)
    if waiting is not None:
        return waiting
    why = "" if it.current == suite else _why_not(it, suite)
    if it.current != suite and not why:
        action = Action.DOWN if it.ladder.lighter(suite, it.current) else Action.UPGRADE
        return rules.limited(it, action, GUARD, 0, f"The operator pinned this suite{lasts}.", suite)
    blind = rules.safety(it)
    due = None if blind is not None else rules.rekey(it)
    if due is not None and due.action is Action.REKEY:
        return due
    return it.hold(GUARD, 0, f"Holding: {why}." if why else f"Keeping the suite the operator pinned{lasts}.")


def _why_not(it: Situation, suite: str) -> str:
    """Why the pinned suite is not asked for now, one clause; "" where it is."""
    level = it.ladder.catalogue[suite].level
    if level < it.floor:
        return f"the pinned suite is of level {level}, below the lowest allowed, {it.floor}"
    wait_s = it.retry_in_s
    if suite in it.inputs.blacklisted and it.memory.last_failure_s is not None:
        # Refused, which is counted by the engine's list alone.
        wait_s = max(wait_s, it.memory.last_failure_s + it.parameters.retry_most_s - it.now)
    return f"the request for the pinned suite failed, asking again in {wait_s:.0f} s" if wait_s > 0 else ""

# SPDX-License-Identifier: Apache-2.0
"""The rules of the cascade, in order. Each looks at a situation and either decides or passes (None).

Priorities 1 to 9 are those of [pqcmav-paper] Table II. Rules 1 to 4 and the two preconditions protect the link
whatever the strategy wants: every strategy passes through them first (see `protect`).
"""

from collections.abc import Callable, Sequence

from pqc_mav_policy import renewal, senses
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import signs

Rule = Callable[[Situation], Decision | None]


def safety(it: Situation) -> Decision | None:
    """Priority 1: without any sense, or without one that is required, nothing is changed."""
    why = senses.blind(it.inputs, it.parameters)
    return it.hold("safety", 1, f"Holding: {why}.") if why else None


def session(it: Situation) -> Decision | None:
    """Precondition: there is a session to change, with a suite this version knows."""
    if not it.inputs.session.alive:
        return it.hold("session", 1, "Holding: there is no session; the tunnel connects on its own.")
    if it.current not in it.ladder.catalogue:
        return it.hold("session", 1, f"Holding: {it.current} is not in the registry of suites.")
    return None


def pending(it: Situation) -> Decision | None:
    """Precondition: one request at a time."""
    suite = it.inputs.session.pending_suite
    return (
        it.hold("pending", 1, f"Holding: the rekey to {it.ladder.code(suite)} is under way.")
        if suite is not None
        else None
    )


def emergency(it: Situation) -> Decision | None:
    """Priority 2: the lightest suite at once. Neither cooldown nor hysteresis nor the rate limit delays it; after a
    failed request it waits, for longer each time, since asking again would find the same closed path."""
    why = signs.emergency(it.inputs, it.parameters)
    if not why:
        return None
    to = it.choose(lambda names: it.ladder.lightest_below(it.current, names))
    if to is None:
        return it.hold("emergency", 2, f"Emergency, and no lighter suite may be chosen: {why}.")
    if it.retry_in_s > 0:
        return it.hold("emergency", 2, f"Emergency: {why}; {_closed(it)}.")
    return it.change(Action.DOWN_0, "emergency", 2, f"Emergency: {why}; the lightest suite at once.", to)


def blackout(it: Situation) -> Decision | None:
    """Priority 3: back to the suite before the last change, unless it is heavier and the drone is under stress."""
    why = signs.blackouts(it.inputs, it.parameters)
    previous = it.memory.previous_suite
    if not why or previous not in it.candidates:
        return None
    if it.memory.stress_since_s is not None and it.ladder.lighter(it.current, previous):
        return None
    if it.retry_in_s > 0:
        return it.hold("blackout", 3, f"Holding: {why}; {_closed(it)}.")
    return it.change(Action.ROLLBACK, "blackout", 3, f"Going back to the previous suite: {why}.", previous)


def cooldown(it: Situation) -> Decision | None:
    """Priority 4: nothing changes shortly after a switch or a failed request."""
    limit = it.parameters.cooldown_s
    for what, when in (("switch", it.memory.last_switch_s), ("failed request", it.memory.last_failure_s)):
        if when is not None and it.now - when < limit:
            return it.hold(
                "cooldown", 4, f"Holding: {it.now - when:.1f} s since the last {what}, cooldown is {limit:g} s."
            )
    return None


def link(it: Situation) -> Decision | None:
    """Priority 5: a bad link that persists leads one step down."""
    why = signs.bad_link(it.inputs, it.parameters)
    return _step_down(it, "link", 5, why) if why else None


def stress(it: Situation) -> Decision | None:
    """Priority 6: stress that persists leads one step down."""
    why = signs.stress(it.inputs, it.parameters)
    return _step_down(it, "stress", 6, why) if why else None


def phase(it: Situation) -> Decision | None:
    """Within priority 6: a suite unfit for the phase of flight is left once the phase has lasted long enough.

    Not during a manoeuvre: the session that runs costs nothing there, the handshake that leaves it does. In cruise it
    is left, because a session that is lost would begin anew with its handshake.
    """
    suite = it.ladder.catalogue[it.current]
    if it.band.rekey_factor is None or not it.unfit:
        return None
    if it.now - it.memory.phase_since_s < it.parameters.tau_down_s:
        return None
    fit = it.band.allows
    to = it.choose(lambda names: it.ladder.down(it.current, [n for n in names if fit(it.ladder.catalogue[n])]))
    if to is None:
        return None
    name = it.inputs.vehicle.phase.name.lower()
    why = f"{suite.short_code} is unfit for phase {name} ({it.band.why})"
    return limited(it, Action.DOWN, "phase", 6, f"One step down: {why}.", to)


def rekey(it: Situation) -> Decision | None:
    """Priority 7: fresh keys when it has been calm and the keys are due by age or by an event."""
    if it.calm_s <= it.parameters.rekey_stable_s:
        return None
    interval, age = it.rekey_interval_s, it.key_age_s
    if interval is None or it.unfit:
        return None
    by_age = interval > 0 and age > interval
    if not by_age and not (interval == 0 and it.memory.event):
        return None
    suite = it.ladder.catalogue[it.current]
    due = f"keys are {age:.0f} s old, due at {interval:g} s" if by_age else "the phase of flight changed"
    why = f"Calm for {it.calm_s:.0f} s and {due}"
    fresh = limited(it, Action.REKEY, "rekey", 7, f"{why}.", it.current)
    if it.current not in it.inputs.blacklisted:
        return renewal.eased(it, fresh)
    # The ground station refuses this suite: a handshake renews keys only by leaving it, and never for a lower level.
    to = it.ladder.down(it.current, [name for name in it.candidates if it.ladder.catalogue[name].level >= suite.level])
    if to is None and renewal.possible(it):
        return renewal.by_ratchet(fresh, "its handshakes are refused and no lighter suite of its level is left")
    if to is None:
        return it.hold("rekey", 7, f"{why}, but its handshakes are refused and no lighter suite of its level is left.")
    return limited(it, Action.DOWN, "rekey", 7, f"{why}, but handshakes of this suite are refused.", to)


def upgrade(it: Situation) -> Decision | None:
    """Priority 8: disarmed and calm, back up to the target suite."""
    if it.airborne or it.calm_s < it.parameters.tau_up_s:
        return None
    to = it.choose(lambda names: it.ladder.target(it.parameters.target_suite, names))
    if to is None or not it.ladder.lighter(it.current, to):
        return None
    return limited(it, Action.UPGRADE, "upgrade", 8, f"Disarmed and calm for {it.calm_s:.0f} s.", to)


def nominal(it: Situation) -> Decision:
    """Priority 9: all is well."""
    return it.hold("nominal", 9, f"Nothing to do: calm for {it.calm_s:.0f} s, keys {it.key_age_s:.0f} s old.")


def limited(it: Situation, action: Action, guard: str, priority: int, reason: str, to: str) -> Decision:
    """The change, or a hold while the rate limit is exhausted."""
    if not it.rate_limited:
        return it.change(action, guard, priority, reason, to)
    limit = it.parameters
    used = f"{len(it.memory.rekeys)} rekeys within {limit.rate_limit_window_s:g} s, limit {limit.rate_limit_count}"
    return it.hold(guard, priority, f"Holding at the rate limit ({used}): {reason}")


def _closed(it: Situation) -> str:
    return f"{it.memory.failures} requests in a row failed, asking again in {it.retry_in_s:.0f} s"


def _step_down(it: Situation, guard: str, priority: int, why: str) -> Decision:
    lasted = it.memory.stressed_for(it.now)
    if lasted < it.parameters.tau_down_s:
        return it.hold(guard, priority, f"Watching for {lasted:.0f} of {it.parameters.tau_down_s:g} s: {why}.")
    to = it.choose(lambda names: it.ladder.down(it.current, names))
    if to is None:
        return it.hold(guard, priority, f"No lighter suite to step down to: {why}.")
    return limited(it, Action.DOWN, guard, priority, f"One step down after {lasted:.0f} s: {why}.", to)


PROTECTION: Sequence[Rule] = (safety, session, pending, emergency, blackout, cooldown)
CASCADE: Sequence[Rule] = (*PROTECTION, link, stress, phase, rekey, upgrade, nominal)


def first(rules: Sequence[Rule], it: Situation) -> Decision | None:
    """The first rule's decision; None when all pass."""
    for rule in rules:
        decision = rule(it)
        if decision is not None:
            return decision
    return None


def decide(it: Situation) -> Decision:
    """The whole cascade."""
    return first(CASCADE, it) or nominal(it)


def protect(it: Situation) -> Decision | None:
    """Rules 1 to 4, which overrule every strategy; None when the strategy may decide."""
    return first(PROTECTION, it)

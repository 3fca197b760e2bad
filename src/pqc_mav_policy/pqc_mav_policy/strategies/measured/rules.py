# SPDX-License-Identifier: Apache-2.0
"""The rules of the strategy measured. Each decides or passes (None).

Only an emergency, and strain under which no suite of the level fits, lead to a lower level: both are the drone's own
telemetry. A bad link, blackouts, an attack and failing handshakes, which anybody in the path can bring about, lead to a
cheaper suite of the same level, or to none. What a detector's `response` asks for (alarms.py) has the same limits.
"""

from collections.abc import Collection
from dataclasses import dataclass

from pqc_mav_policy import alarms, renewal
from pqc_mav_policy.alarms import Alarm
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.situation import Pick, Situation
from pqc_mav_policy.strategies.cascade import rules, signs
from pqc_mav_policy.strategies.measured.costs import CostModel, Seen

# Costs that differ by less than this are the same to a link; then the order of suites decides.
SAME_S = 0.005
HIGHEST = 5  # NIST level
ALARM = "alarm"  # guard of what a detector's response leads to


@dataclass(frozen=True)
class View:
    """A situation with what handshakes cost in it; `climbed_s` is when a stronger suite was last asked for, `alarm`
    what a detector asks for."""

    it: Situation
    costs: CostModel
    seen: Seen
    climbed_s: float | None
    alarm: Alarm

    @property
    def trouble(self) -> str:
        """What makes the budget tight now, as a clause; "" while nothing does."""
        inputs, parameters = self.it.inputs, self.it.parameters
        return (
            signs.emergency(inputs, parameters)
            or signs.strain(inputs, parameters)
            or signs.bad_link(inputs, parameters)
            or signs.attack(inputs, parameters)
        )

    @property
    def urgent(self) -> str:
        """The trouble for which a handshake that is not due is made. An alarm that says what to do is none; during a
        flood of handshakes, only the drone's own telemetry is one."""
        inputs, parameters = self.it.inputs, self.it.parameters
        own = signs.emergency(inputs, parameters) or signs.strain(inputs, parameters)
        if self.alarm.response == alarms.DEFER_RENEWALS:
            return own
        if self.alarm.response:
            return own or signs.bad_link(inputs, parameters)
        return self.trouble

    @property
    def calm_s(self) -> float:
        """What a handshake may take while nothing is wrong [s]."""
        return self.costs.parameters.budget_ms / 1e3

    @property
    def budget_s(self) -> float:
        """What a handshake may take now [s]."""
        return self.costs.parameters.tight_ms / 1e3 if self.trouble else self.calm_s

    @property
    def climb_s(self) -> float:
        """What a handshake of a stronger suite may take [s]."""
        return self.costs.parameters.climb_share * self.calm_s

    @property
    def climb_wait_s(self) -> float:
        """For how long no further step up follows the last one [s]."""
        every = self.costs.parameters.climb_every_s
        return 0.0 if self.climbed_s is None else max(0.0, self.climbed_s + every - self.it.now)

    @property
    def manoeuvre(self) -> bool:
        """Take-off and landing: nothing is changed for less than an emergency."""
        return self.it.band.rekey_factor is None

    def level(self, suite: str) -> int:
        """NIST level."""
        return self.it.ladder.catalogue[suite].level

    def cost_s(self, suite: str) -> float:
        """What its handshake is expected to take now [s]."""
        return self.costs.cost_s(suite, self.it.inputs.link, self.seen)

    def fits(self, suite: str, budget_s: float) -> bool:
        """Whether its handshake is within this budget."""
        return self.costs.fits(suite, self.it.inputs.link, self.seen, budget_s)

    def best(self, names: Collection[str], budget_s: float) -> str | None:
        """The strongest that fits: the highest level, then the least cost, then the order of suites."""
        fitting = [name for name in names if self.fits(name, budget_s)]
        return min(
            fitting, key=lambda n: (-self.level(n), round(self.cost_s(n) / SAME_S), *self._alike_by(n)), default=None
        )

    def smallest(self, names: Collection[str], budget_s: float) -> str | None:
        """That with the fewest bytes that fits."""
        fitting = [name for name in names if self.fits(name, budget_s)]
        size = {name: self.it.ladder.catalogue[name].handshake_bytes for name in fitting}
        return min(fitting, key=lambda n: (size[n], self.cost_s(n), *self._alike_by(n)), default=None)

    def _alike_by(self, suite: str) -> tuple[bool, int]:
        """Sorts suites whose handshakes are alike: the owner's cipher first, which suits the processor."""
        ladder, catalogue = self.it.ladder, self.it.ladder.catalogue
        owners = catalogue.get(self.it.inputs.configured_suite, catalogue[self.it.current])
        return catalogue[suite].aead_token != owners.aead_token, ladder.order.rank(suite)

    def fresh(self, budget_s: float) -> Pick:
        """With which suite keys are renewed now: the best of the level in use. During a flood, the one with the
        smallest handshake, and once one was changed to, that one for the rest of the episode."""
        if self.alarm.response != alarms.LIGHT_HANDSHAKES:
            return lambda names: self.best(self.alike(names), budget_s)
        if self.alarm.changed:
            return lambda names: self.smallest([n for n in names if n == self.it.current], budget_s)
        return lambda names: self.smallest(self.alike(names), budget_s)

    @property
    def none_fresh(self) -> str:
        """Why no full handshake renews the keys now, one clause."""
        if self.fresh(self.budget_s)(self.it.allowed) is not None:
            return "handshakes of every suite of its level that fits are refused"
        return f"{self.said(self.it.current, self.budget_s)}, and no other of its level fits"

    def ratchet(self, to: str | None) -> str:
        """Why keys that are due come from a ratchet, one clause; "" where from a full handshake of `to`.

        It has to fit the budget of calm only: it is what a link in trouble can bear, and old keys are no help.
        """
        it, response = self.it, self.alarm.response
        if not renewal.possible(it) or self.costs.ratchet_s(it.current, it.inputs.link) > self.calm_s:
            return ""
        if to is None:
            return self.none_fresh
        if response in (alarms.DEFER_RENEWALS, alarms.LIGHT_HANDSHAKES):
            return self.alarm.said if renewal.regular(it) else ""
        return "" if response == alarms.RENEW_KEYS or to != it.current else renewal.instead(it)

    def alike(self, names: Collection[str]) -> list[str]:
        """Those of the level in use; in trouble none that is heavier than the suite in use (I3)."""
        it, level = self.it, self.level(self.it.current)
        found = [name for name in names if self.level(name) == level]
        return [n for n in found if not it.ladder.lighter(it.current, n)] if self.trouble else found

    def said(self, suite: str, budget_s: float) -> str:
        """Its cost in words."""
        code = self.it.ladder.code(suite)
        return f"{code} (level {self.level(suite)}) costs {1e3 * self.cost_s(suite):.0f} of {1e3 * budget_s:.0f} ms"


def blackout(view: View) -> Decision | None:
    """As published, but never back to a lower level (blackouts are easily brought about), nor up in an emergency."""
    it = view.it
    decision = rules.blackout(it)
    if decision is None or not decision.acts:
        return decision
    up = it.ladder.lighter(it.current, decision.to_suite)
    lower = view.level(decision.to_suite) < view.level(it.current)
    return None if lower or (up and view.trouble) else decision


def emergency(view: View) -> Decision | None:
    """As published; on the lightest suite the other rules go on, within the tight budget."""
    decision = rules.emergency(view.it)
    return decision if decision is None or decision.acts or view.it.retry_in_s > 0 else None


def protect(view: View) -> Decision | None:
    """Rules 1 to 4 of the cascade."""
    first = rules.first((rules.safety, rules.session, rules.pending), view.it)
    return first or emergency(view) or blackout(view) or rules.cooldown(view.it)


def backoff(view: View) -> Decision | None:
    """What failed is not asked for again every few seconds."""
    it = view.it
    if it.retry_in_s <= 0:
        return None
    failed = f"{it.memory.failures} requests in a row failed, asking again in {it.retry_in_s:.0f} s"
    return it.hold("backoff", 0, f"Holding: {failed}.")


def save(view: View) -> Decision | None:
    """Trouble that lasts: a suite too expensive for the tight budget is left for one that fits."""
    it, why = view.it, view.urgent
    if not why or view.manoeuvre or it.memory.stressed_for(it.now) < it.parameters.tau_down_s:
        return None
    budget_s = view.budget_s
    if view.fits(it.current, budget_s):
        return None
    to = it.choose(lambda names: view.best(view.alike(names), budget_s))
    if to is None and signs.strain(it.inputs, it.parameters):
        to = it.choose(lambda names: view.best([n for n in names if it.ladder.lighter(n, it.current)], budget_s))
    if to is None or to == it.current or not it.ladder.lighter(to, it.current):
        return None
    return rules.limited(it, Action.DOWN, "save", 0, f"To a cheaper suite, {view.said(to, budget_s)}: {why}.", to)


def alarm(view: View) -> Decision | None:
    """Forged or replayed packets: fresh keys at once, within the bounds of alarms.py."""
    it, heard = view.it, view.alarm
    if heard.response != alarms.RENEW_KEYS or view.manoeuvre:
        return None
    budget_s = view.budget_s
    to = it.choose(view.fresh(budget_s))
    if to is None or alarms.why_not(heard, it, to):
        return None
    return _with_fresh_keys(view, ALARM, f"Renewing the keys, since {heard.said}; {view.said(to, budget_s)}.", to)


def silence(view: View) -> Decision | None:
    """A detector suspects that the link is gone, and no report comes from the ground: no handshake would get through,
    so none is begun. Keys do not grow older than twice their interval by that."""
    it, heard = view.it, view.alarm
    if heard.response != alarms.HOLD or it.inputs.link.valid:
        return None
    interval = it.interval_s(it.current) or it.shortest_interval_s
    if it.key_age_s >= 2.0 * interval:
        return None
    return it.hold(ALARM, 0, f"Holding: {heard.said}, and the ground station is not heard; nothing would get through.")


def phase(view: View) -> Decision | None:
    """As in the cascade; during a flood of handshakes a suite that is unfit is left with the next renewal."""
    return None if view.alarm.response == alarms.DEFER_RENEWALS else rules.phase(view.it)


def renew(view: View) -> Decision | None:
    """Keys that are due: with the best suite of the level in use, if its handshake fits the budget now; else, and where
    that is long, by a ratchet."""
    it = view.it
    if view.manoeuvre or it.key_age_s < it.shortest_interval_s:
        return None
    budget_s = view.budget_s
    to = it.choose(view.fresh(budget_s))
    interval = it.interval_s(it.current if to is None else to)
    if not interval or it.key_age_s < interval:
        return None
    due = f"Keys are {it.key_age_s:.0f} s old, due at {interval:g} s"
    why = view.ratchet(to)
    if why:
        return renewal.by_ratchet(rules.limited(it, Action.REKEY, "renew", 0, f"{due}.", it.current), why)
    if to is None:
        return it.hold("renew", 0, f"{due}, but {view.none_fresh}.")
    light = view.alarm.response == alarms.LIGHT_HANDSHAKES
    small = f", the smallest handshake of its level, since {view.alarm.said}" if light else ""
    return _with_fresh_keys(view, "renew", f"{due}; {view.said(to, budget_s)}{small}.", to)


def _with_fresh_keys(view: View, guard: str, reason: str, to: str) -> Decision:
    it = view.it
    if to == it.current:
        return rules.limited(it, Action.REKEY, guard, 0, reason, to)
    action = Action.DOWN if it.ladder.lighter(to, it.current) else Action.UPGRADE
    return rules.limited(it, action, guard, 0, reason, to)


def climb(view: View) -> Decision | None:
    """Up to the strongest suite that fits, on the ground and in flight, once it has been calm for long enough."""
    it = view.it
    to = stronger(view)
    if to is None or not_yet(view):
        return None
    near = _near_an_emergency(view)
    if near:
        return it.hold("climb", 0, f"Holding, though {view.said(to, view.climb_s)}: {near}.")
    return rules.limited(
        it, Action.UPGRADE, "climb", 0, f"Calm for {it.calm_s:.0f} s, and {view.said(to, view.climb_s)}.", to
    )


def stronger(view: View) -> str | None:
    """The suite of a higher level that fits the budget of a step up; None without."""
    if view.level(view.it.current) == HIGHEST:
        return None
    to = view.it.choose(lambda names: view.best(names, view.climb_s))
    return to if to is not None and view.level(to) > view.level(view.it.current) else None


def not_yet(view: View) -> str:
    """What a step up waits for, one clause; "" while it waits for nothing."""
    it = view.it
    if view.manoeuvre or not it.inputs.vehicle.valid:
        return "not in a manoeuvre" if view.manoeuvre else "not while the phase is unknown"
    calm, since = it.parameters.tau_up_s - it.calm_s, view.climb_wait_s
    return f"not for another {max(calm, since):.0f} s" if max(calm, since) > 0 else ""


def _why_kept(view: View) -> str:
    """Why nothing stronger is asked for now: what is true, not what is usual."""
    it = view.it
    calm = f"calm for {it.calm_s:.0f} s"
    if view.level(it.current) == HIGHEST:
        return f"{calm}, and no level is higher"
    to = stronger(view)
    if to is None:
        return f"{calm}, and {_none_stronger(view)}"
    return f"{calm}; {view.said(to, view.climb_s)}, but {not_yet(view) or 'the proxy does not take it now'}"


def _none_stronger(view: View) -> str:
    """Why there is nothing to climb to, one clause."""
    it, limits = view.it, view.costs.parameters
    higher = [name for name in it.allowed if view.level(name) > view.level(it.current)]
    if not higher:
        return "no suite of a higher level may be chosen now"
    best = view.best(higher, view.climb_s)
    if best is None:
        energy = f" and {limits.budget_j:g} J" if view.costs.energy_j else ""
        return f"nothing stronger fits {1e3 * view.climb_s:.0f} ms{energy}"
    return f"handshakes of every suite of level {view.level(best)} that fits are refused"


def _near_an_emergency(view: View) -> str:
    inputs, parameters, limits = view.it.inputs, view.it.parameters, view.costs.parameters
    battery, thermal = inputs.battery, inputs.thermal
    low_v = battery.scaled(parameters.battery_emergency_v + limits.recover_v)
    if battery.valid and battery.voltage_v is not None and low_v is not None and battery.voltage_v < low_v:
        return f"battery at {battery.voltage_v:.2f} V, to climb it takes {low_v:g} V"
    low = parameters.battery_emergency_charge + limits.recover_charge
    if battery.valid and battery.state_of_charge is not None and battery.state_of_charge < low:
        return f"{100 * battery.state_of_charge:.3g} % of the charge left, to climb it takes {100 * low:g} %"
    high_c = parameters.temperature_emergency_c - limits.recover_c
    if thermal.valid and thermal.temperature_c is not None and thermal.temperature_c > high_c:
        return f"processor at {thermal.temperature_c:.1f} C, to climb it must be below {high_c:g} C"
    return ""


def decide(view: View) -> Decision:
    """The first rule that decides."""
    it = view.it
    for rule in (protect, backoff, save, alarm, silence, phase, climb, renew):
        decision = rule(view)
        if decision is not None:
            return decision
    kept = f"Keeping {it.ladder.code(it.current)}, keys {it.key_age_s:.0f} s old"
    final = rules.emergency(it)
    if final is not None or not view.alarm.response:
        why = view.trouble or _why_kept(view)
        return final or it.hold("kept", 0, f"{kept}: {why}.")
    return it.hold(ALARM, 0, f"{kept}: {view.alarm.said}, so {_answer(view)}.")


def _answer(view: View) -> str:
    """What an alarm for which nothing is done now leads to, one clause."""
    heard = view.alarm
    if heard.response == alarms.DEFER_RENEWALS:
        return "only renewals that are due are made"
    if heard.response == alarms.LIGHT_HANDSHAKES:
        small = "is a ratchet" if renewal.regular(view.it) else "takes the smallest handshake of the level"
        return f"the next renewal {small}"
    if heard.response == alarms.HOLD:
        return "nothing is changed for it"
    if view.manoeuvre:
        return "the keys are renewed after the manoeuvre"
    to = view.it.choose(view.fresh(view.budget_s))
    why = alarms.why_not(heard, view.it, to or view.it.current) or view.none_fresh
    return f"they would be renewed, but {why}"

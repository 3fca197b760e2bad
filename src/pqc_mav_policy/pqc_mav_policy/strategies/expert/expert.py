# SPDX-License-Identifier: Apache-2.0
"""The expert strategy of the documents' older generation: guards that look suites up in measured performance.

Rules 1 to 4 of the cascade overrule it. Then the first active guard decides ([endurance-paper] 6.1):

* heartbeat missing, or an attack: among the suites with a fast handshake, the highest level, then the least loss
  (published: ML-1024-CP-MD-87); where that one is in use and a detector says what it found, fresh keys (published as
  preemptive rekeying), within the bounds of alarms.py;
* battery low: the lowest measured power (published: HQC-256-AG-MD-87);
* thermal elevated: at the same level, a suite of ML-KEM or HQC that takes less time and less power, the least power
  first (published: away from MC-460-AG-MD-65, "for cheaper ML-KEM or HQC options");
* loss: at the same level, a fast handshake with less measured loss.

While all are clear the suite stays as requested; keys are renewed, and the target suite comes back on the ground, as
in the cascade. Before it acts, a guard has to be active for as long as stress has to last there.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pqc_mav_policy import alarms, senses
from pqc_mav_policy import memory as memories
from pqc_mav_policy.alarms import Alarm
from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.memory import Memory
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.settings import Settings
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import rules
from pqc_mav_policy.strategies.cascade.cascade import settle
from pqc_mav_policy.strategies.expert.parameters import ExpertParameters
from pqc_mav_policy.strategies.expert.performance import Performance, PerformanceTable
from pqc_mav_policy.strategy import Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput, Threat

CHEAP_FAMILIES = frozenset({"ML-KEM", "HQC"})
HEARTBEAT = "heartbeat"


@dataclass(frozen=True)
class ExpertState:
    """The cascade's memory, the active guard and since when it has been active, and what a detector asks for."""

    memory: Memory
    guard: str = ""
    since_s: float = 0.0
    alarm: Alarm = alarms.NONE


@dataclass(frozen=True)
class Guard:
    """`stands` gives the reason if it is active, else ""; `choose` a suite among some, None where none is better."""

    name: str
    stands: Callable[[DecisionInput, ExpertParameters], str]
    choose: Callable[[Situation, Collection[str], PerformanceTable, ExpertParameters], str | None]


class Expert:
    """Looks suites up by measured performance."""

    name = "expert"

    def __init__(
        self, catalogue: Catalogue, parameters: PolicyParameters, expert: ExpertParameters, table: PerformanceTable
    ) -> None:
        self.parameters = parameters
        self.expert = expert
        self.table = table
        self.ladder = Ladder(catalogue, parameters.order)

    def initial_state(self, now: float) -> ExpertState:
        """Nothing seen yet."""
        return ExpertState(memories.begin(now))

    def decide(self, inputs: DecisionInput, state: ExpertState, now: float) -> tuple[Decision, ExpertState]:
        """The first guard's decision."""
        inputs = senses.usable(inputs, self.parameters)
        memory = memories.observe(inputs, state.memory, self.parameters, now)
        it = Situation(inputs, memory, self.parameters, self.ladder, now)
        guard, why = self._standing(inputs)
        name = guard.name if guard else ""
        watched = name == state.guard and now - state.memory.last_s <= self.parameters.stale_s
        since = state.since_s if watched else now
        alarm = alarms.observe(state.alarm, inputs, now)

        def decided(it: Situation) -> Decision:
            protected = rules.protect(it)
            if protected is not None or guard is None:
                return protected or self._clear(it)
            return self._guarded(it, guard, why, now - since, alarm)

        decision = it.no_lower(decided)
        alarm = alarms.settle(alarm, decision, HEARTBEAT, now)
        return decision, ExpertState(settle(decision, memory), name, since, alarm)

    def _standing(self, inputs: DecisionInput) -> tuple[Guard | None, str]:
        for guard in GUARDS:
            why = guard.stands(inputs, self.expert)
            if why:
                return guard, why
        return None, ""

    def _guarded(self, it: Situation, guard: Guard, why: str, lasted: float, alarm: Alarm) -> Decision:
        if lasted < self.parameters.tau_down_s:
            wait = f"Watching for {lasted:.0f} of {self.parameters.tau_down_s:g} s: {why}."
            return it.hold(guard.name, 0, wait)
        to = it.choose(lambda names: guard.choose(it, names, self.table, self.expert))
        if to is None or to == it.current:
            asked = guard.name == HEARTBEAT and alarm.response and it.current in it.candidates
            if asked and not alarms.why_not(alarm, it, it.current):
                reason = f"Fresh keys before anything comes of it: {why}."
                return rules.limited(it, Action.REKEY, guard.name, 0, reason, it.current)
            return it.hold(guard.name, 0, f"{why[0].upper()}{why[1:]}; no measured suite is better.")
        row = self.table[to]
        figures = f"{row.handshake_ms:.1f} ms" + (f", {row.power_w:.3f} W" if row.power_w is not None else "")
        reason = f"{why[0].upper()}{why[1:]}; {it.ladder.catalogue[to].short_code} was measured at {figures}."
        action = Action.DOWN if it.ladder.lighter(to, it.current) else Action.UPGRADE
        return rules.limited(it, action, guard.name, 0, reason, to)

    def _clear(self, it: Situation) -> Decision:
        return rules.first((rules.phase, rules.rekey, rules.upgrade), it) or it.hold(
            "clear", 0, "All guards are clear: keeping the requested suite."
        )


def _measured(names: Collection[str], table: PerformanceTable) -> list[Performance]:
    """Rows of those suites that were measured."""
    return [table[name] for name in names if name in table]


def _rank(it: Situation, row: Performance) -> int:
    """Breaks the last ties, so that the choice never depends on the order of the file."""
    return it.ladder.order.rank(row.suite)


def _silent(inputs: DecisionInput, limits: ExpertParameters) -> str:
    if inputs.threat is Threat.ATTACK:
        return f"an attack is reported{f' ({inputs.threat_kind})' if inputs.threat_kind else ''}"
    silence = inputs.link.longest_silence_s if inputs.link.valid else None
    if silence is not None and silence > limits.heartbeat_missing_s:
        return f"the link was silent for {silence:.1f} s, limit {limits.heartbeat_missing_s:g} s"
    return ""


def _fast(it: Situation, names: Collection[str], table: PerformanceTable, limits: ExpertParameters) -> str | None:
    rows = [row for row in _measured(names, table) if row.handshake_ms <= limits.fast_handshake_ms]
    if not rows:
        return None
    level = it.ladder.catalogue

    def merit(row: Performance) -> tuple[float, ...]:
        loss = 1.0 if row.loss is None else row.loss
        return (-level[row.suite].level, loss, row.handshake_ms, _rank(it, row))

    return min(rows, key=merit).suite


def _battery(inputs: DecisionInput, limits: ExpertParameters) -> str:
    battery = inputs.battery
    if not battery.valid:
        return ""
    low_v = battery.scaled(limits.battery_low_v)
    if battery.voltage_v is not None and low_v is not None and battery.voltage_v < low_v:
        return f"battery at {battery.voltage_v:.2f} V, below {low_v:g} V"
    if battery.state_of_charge is not None and battery.state_of_charge < limits.battery_low_charge:
        return f"{100 * battery.state_of_charge:.0f} % of the charge left, below {100 * limits.battery_low_charge:g} %"
    return ""


def _frugal(it: Situation, names: Collection[str], table: PerformanceTable, _limits: ExpertParameters) -> str | None:
    rows = [(row.power_w, _rank(it, row), row.suite) for row in _measured(names, table) if row.power_w is not None]
    return min(rows)[2] if rows else None


def _thermal(inputs: DecisionInput, limits: ExpertParameters) -> str:
    temperature = inputs.thermal.temperature_c if inputs.thermal.valid else None
    if temperature is not None and temperature > limits.thermal_elevated_c:
        return f"processor at {temperature:.1f} C, above {limits.thermal_elevated_c:g} C"
    return ""


def _cool(it: Situation, names: Collection[str], table: PerformanceTable, _limits: ExpertParameters) -> str | None:
    catalogue = it.ladder.catalogue
    here, suite = table.get(it.current), catalogue[it.current]
    rows = [
        (row.power_w, _rank(it, row), row.suite)
        for row in _measured(names, table)
        if row.power_w is not None
        and catalogue[row.suite].level == suite.level
        and catalogue[row.suite].kem_family in CHEAP_FAMILIES
        and (here is None or row.handshake_ms < here.handshake_ms)
    ]
    frugal = [row for row in rows if here is None or here.power_w is None or row[0] < here.power_w]
    # To leave another family, less time is enough; between these two it would only lead back and forth.
    chosen = frugal or (rows if suite.kem_family not in CHEAP_FAMILIES else [])
    return min(chosen)[2] if chosen else None


def _lossy(inputs: DecisionInput, limits: ExpertParameters) -> str:
    loss = inputs.link.loss if inputs.link.valid else None
    if loss is None or loss <= limits.loss:
        return ""
    return f"{100 * loss:.1f} % of the packets are lost, limit {100 * limits.loss:g} %"


def _robust(it: Situation, names: Collection[str], table: PerformanceTable, limits: ExpertParameters) -> str | None:
    here = table.get(it.current)
    rows = [
        (row.loss, _rank(it, row), row.suite)
        for row in _measured(names, table)
        if row.loss is not None
        and it.ladder.catalogue[row.suite].level == it.ladder.catalogue[it.current].level
        and row.handshake_ms <= limits.fast_handshake_ms
        and (here is None or here.loss is None or row.loss < here.loss)
    ]
    return min(rows)[2] if rows else None


GUARDS: Sequence[Guard] = (
    Guard(HEARTBEAT, _silent, _fast),
    Guard("battery-low", _battery, _frugal),
    Guard("thermal-elevated", _thermal, _cool),
    Guard("loss", _lossy, _robust),
)


def make(catalogue: Catalogue, settings: Settings) -> Strategy[ExpertState]:
    """The expert over the table of measured performance. Raises PerformanceError."""
    return Expert(catalogue, settings.policy, settings.expert, settings.performance())

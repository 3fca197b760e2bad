# SPDX-License-Identifier: Apache-2.0
"""What the node does once a second, without ROS: snapshot, decision, and which rekey to ask for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pqc_mav_policy import loss_alert, pinned, senses, shedding
from pqc_mav_policy import memory as memories
from pqc_mav_policy.decision import Action, Condition, Decision, Kind
from pqc_mav_policy.ladder import Ladder
from pqc_mav_policy.node_parameters import Mode
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.situation import Situation
from pqc_mav_policy.strategies.cascade import signs
from pqc_mav_policy.strategy import Explained, Strategy
from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome
from pqc_mav_policy.telemetry.telemetry import Telemetry

AUTO = -1  # shape_kbit of a proxy whose configuration does not name it


@dataclass(frozen=True)
class Request:
    """A rekey to ask the proxy for; "" as `suite` keeps the present one, as every ratchet does."""

    suite: str
    reason: str
    kind: Kind = Kind.REKEY


@dataclass(frozen=True)
class Tick:
    """One decision with what it saw; `request` None when the proxy is not asked for anything.

    `lacking` says which senses' rules are out, and why, one clause each; the decision's reason names them. `shape_kbit`
    is the rate that the proxy is to shape to, None when it may stay as it is. `conditions` are the strategy's own.
    `emergency` is what the drone's emergency is, one clause, whatever was decided; "" without.
    """

    now: float
    inputs: DecisionInput
    decision: Decision
    mode: Mode
    request: Request | None
    lacking: tuple[str, ...] = ()
    shape_kbit: int | None = None
    conditions: tuple[Condition, ...] = ()
    emergency: str = ""


class Controller:
    """Holds the strategy's state between ticks. Not thread-safe: one thread calls everything."""

    def __init__(
        self,
        strategy: Strategy[Any],
        catalogue: Catalogue,
        parameters: PolicyParameters,
        telemetry: Telemetry,
        now: float,
    ) -> None:
        self.strategy = strategy
        self.telemetry = telemetry
        self.mode: Mode = "auto"
        self.pin = ""
        self.available: tuple[str, ...] = ()
        self.configured = ""  # the proxy's own suite, "" while it is not known
        self.own_kbit = AUTO  # the proxy's own shape_kbit
        self._rate_kbit = 0  # to which the proxy said last that it shapes
        self.shedding = shedding.Shedding()
        self.loss_alert = loss_alert.LossAlert()
        self.shaped = False  # the proxy has been told to shape
        self.last_outcome: Outcome | None = None
        self.pending: tuple[str, float] | None = None  # suite asked for, since when
        self._asked = Kind.REKEY  # of what is pending
        self.ladder = Ladder(catalogue, parameters.order)
        self._parameters = parameters
        self._state = strategy.initial_state(now)
        self._memory = memories.begin(now)
        self._outcomes: list[Outcome] = []

    def tick(self, now: float) -> Tick:
        """Decides on everything heard so far."""
        pending = self.pending[0] if self.pending else None
        inputs = self.telemetry.snapshot(now, self.available, pending, self._outcomes, self.configured)
        self._outcomes.clear()
        seen = senses.usable(inputs, self._parameters)
        decision, self._state = self.strategy.decide(seen, self._state, now)
        explained: object = self.strategy
        conditions: tuple[Condition, ...] = ()
        if isinstance(explained, Explained):
            conditions = tuple(explained.conditions(seen, self._state, now))
        # What an operator pins has its own memory, so that it is up to date when the mode changes.
        self._memory = memories.observe(seen, self._memory, self._parameters, now)
        if self.mode == "manual":
            decision = self._manual(seen, now)
        elif seen.session.pinned_suite in self.ladder.catalogue:
            decision = pinned.decide(self._situation(seen, now), seen.session.pinned_suite, seen.session.pin_for_s)
        until_s = self._memory.cooldown_until_s(self._parameters.cooldown_s)
        inputs = replace(inputs, session=replace(inputs.session, cooldown_until_s=until_s))
        lacking = senses.lacking(seen)
        if lacking:
            decision = replace(decision, reason=f"{decision.reason} Rules out of use: {'; '.join(lacking)}.")
        self.shedding = shedding.observe(self.shedding, seen, self._parameters, now)
        self.loss_alert = loss_alert.observe(self.loss_alert, seen, self._parameters, now)
        if self._sheds:
            to = f"MAVLink is shaped to {self._parameters.shed_kbit} kbit/s"
            decision = replace(decision, reason=f"{decision.reason} Shedding load, {to}: {self.shedding.why}.")
        request = None
        if decision.acts and self.mode != "hold":
            suite = "" if decision.action is Action.REKEY else decision.to_suite
            request = Request(suite, f"policy: {decision.guard}: {decision.reason}", decision.kind)
            self.pending, self._asked = (decision.to_suite, now), decision.kind
        emergency = signs.emergency(seen, self._parameters)
        return Tick(now, inputs, decision, self.mode, request, lacking, self._shape_kbit(), conditions, emergency)

    @property
    def _sheds(self) -> bool:
        """Whether the proxy is to shape, to less than what the owner shapes to anyway."""
        less = not 0 < self.own_kbit <= self._parameters.shed_kbit
        return self.shedding.on and less and self.mode != "hold"

    def _shape_kbit(self) -> int | None:
        if self._sheds == self.shaped:
            return None
        return self._parameters.shed_kbit if self._sheds else self.own_kbit

    def answered(
        self, ok: bool, message: str, now: float, error: str = "", took_s: float | None = None
    ) -> Outcome | None:
        """The proxy's answer to the pending request; None when there is none, as after it was given up."""
        if self.pending is None:
            return None
        suite, _ = self.pending
        self.pending = None
        before = self.telemetry.snapshot(now, ()).session.suite
        outcome = Outcome(suite, ok, now, before, message, error, took_s, str(self._asked))
        self._outcomes.append(outcome)
        self.last_outcome = outcome
        return outcome

    def rank(self, suite: str) -> int:
        """Place of a suite in the order of cost; 0 for none, too."""
        return self.ladder.order.rank(suite) if suite in self.ladder.catalogue else 0

    def allow(self, suites: Sequence[str], configured: str = "", own_kbit: int = AUTO) -> None:
        """Which suites may be chosen from now on, and which one and which `shape_kbit` the proxy is configured with."""
        self.available, self.configured = tuple(suites), configured
        if not self.shaped:
            self.own_kbit = own_kbit
            self.on_rate(self._rate_kbit)

    def on_rate(self, kbit: int) -> None:
        """What the proxy says it shapes to: it or this policy may have been started again since it was told to."""
        self._rate_kbit, shed = kbit, self._parameters.shed_kbit
        if self.shaped:
            self.shaped = 0 < kbit <= shed  # a radio may carry less
        elif self.available:  # `own_kbit` is known then
            self.shaped = 0 < kbit == shed != self.own_kbit

    def too_low(self, suite: str) -> str:
        """Why a suite is below the lowest level that may be chosen, one clause; "" when it is not."""
        catalogue, minimum = self.ladder.catalogue, self._parameters.minimum_level
        if minimum:
            least, what = int(minimum), f"minimum_level {minimum}"
        elif self.configured in catalogue:
            least = catalogue[self.configured].level
            what = f"level {least} of the proxy's suite; 'minimum_level' of the policy can allow less"
        else:
            return ""
        return f"it is of level {catalogue[suite].level}, below {what}" if catalogue[suite].level < least else ""

    def _manual(self, inputs: DecisionInput, now: float) -> Decision:
        if not self.pin and inputs.session.suite:
            self.pin = inputs.session.suite
        return pinned.decide(self._situation(inputs, now), self.pin or inputs.session.suite)

    def _situation(self, inputs: DecisionInput, now: float) -> Situation:
        return Situation(inputs, self._memory, self._parameters, self.ladder, now)

# SPDX-License-Identifier: Apache-2.0
"""What the strategies are compared with: one suite for the whole flight, its keys renewed at a fixed interval."""

from pqc_mav_policy.decision import Action, Decision
from pqc_mav_policy.telemetry.inputs import DecisionInput


class StaticSuite:
    """Looks at nothing but the age of the keys: no telemetry, no guard, no limit."""

    def __init__(self, suite: str, rekey_every_s: float, name: str = "static") -> None:
        self.name = name
        self.suite = suite
        self._every_s = rekey_every_s

    def initial_state(self, now: float) -> None:
        """It remembers nothing."""

    def decide(self, inputs: DecisionInput, state: None, now: float) -> tuple[Decision, None]:
        """Fresh keys when they are due."""
        session = inputs.session
        due = session.alive and session.pending_suite is None and (session.key_age_s or 0.0) >= self._every_s
        action = Action.REKEY if due else Action.HOLD
        reason = f"Keys are renewed every {self._every_s:g} s."
        return Decision(action, "static", reason, session.suite, session.suite), None

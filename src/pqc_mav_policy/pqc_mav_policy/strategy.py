# SPDX-License-Identifier: Apache-2.0
"""What a strategy is: a pure function with a name and an immutable state."""

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

from pqc_mav_policy.decision import Condition, Decision
from pqc_mav_policy.telemetry.inputs import DecisionInput

StateT = TypeVar("StateT")


class Strategy(Protocol[StateT]):
    """Decides once a second. No I/O, no clock, no randomness: the same arguments give the same result.

    Everything that happened reaches it through `inputs`, including the proxy's answers (`inputs.outcomes`), so that a
    recorded sequence of inputs replays to the same decisions.
    """

    @property
    def name(self) -> str:
        """The name that the node's parameter `strategy` takes."""
        ...

    def initial_state(self, now: float) -> StateT:
        """State before the first decision; `now` [s] is the monotonic clock the inputs use."""
        ...

    def decide(self, inputs: DecisionInput, state: StateT, now: float) -> tuple[Decision, StateT]:
        """The decision and the state to hand in next time; `state` itself is never changed."""
        ...


@runtime_checkable
class Explained(Protocol):
    """A strategy with conditions of its own, beside those of the cascade."""

    def conditions(self, inputs: DecisionInput, state: object, now: float) -> Sequence[Condition]:
        """Each with its figure and limit, as they are after the decision that left `state`."""
        ...

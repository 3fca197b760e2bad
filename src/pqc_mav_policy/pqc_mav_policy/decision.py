# SPDX-License-Identifier: Apache-2.0
"""What a strategy decides."""

from dataclasses import dataclass
from enum import Enum


class Action(str, Enum):
    """The six outputs of the published cascade."""

    HOLD = "HOLD"  # nothing changes
    DOWN = "DOWN"  # one step to a lighter suite
    DOWN_0 = "DOWN_0"  # the lightest suite at once
    ROLLBACK = "ROLLBACK"  # back to the previous suite
    REKEY = "REKEY"  # fresh keys, same suite
    UPGRADE = "UPGRADE"  # back up to the suite aimed at

    def __str__(self) -> str:
        return self.value


class Kind(str, Enum):
    """How keys are changed: `kind` of the proxy's action."""

    REKEY = "rekey"  # a full handshake
    RATCHET = "ratchet"  # two small messages, for fresh keys of the suite in use only

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Condition:
    """One condition of a rule. `value` and `limit` are written with units; `met` is None where the figure is unknown.

    `priority` is the rule's place in the cascade, 0 for a rule outside it.
    """

    priority: int
    guard: str
    what: str
    value: str
    limit: str
    met: bool | None


@dataclass(frozen=True)
class Decision:
    """One decision: `guard` names the rule, `reason` says why in words with the figures that mattered.

    `to_suite` equals `from_suite` for HOLD and REKEY. `priority` is the rule's place in the cascade (1-9), 0 for a
    decision made outside it. `kind` says how a request's keys are made, and nothing for HOLD.
    """

    action: Action
    guard: str
    reason: str
    from_suite: str
    to_suite: str
    priority: int = 0
    kind: Kind = Kind.REKEY

    @property
    def acts(self) -> bool:
        """Whether something has to be asked of the proxy."""
        return self.action is not Action.HOLD

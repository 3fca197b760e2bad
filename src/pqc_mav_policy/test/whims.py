# SPDX-License-Identifier: Apache-2.0
"""A table for the tests of the learned strategies that no training would give."""

from __future__ import annotations

import random

from pqc_mav_policy.strategies.rl.state import Choice
from pqc_mav_policy.strategies.rl.table import Table


class Whim(Table):
    """A table that values every choice in every state, and differently each time: the worst teacher there is."""

    def __init__(self, seed: int) -> None:
        super().__init__({})
        object.__setattr__(self, "_rng", random.Random(seed))

    def value(self, state: object, choice: Choice) -> float:
        return float(self._rng.uniform(-1.0, 1.0)) - (3.0 if choice is Choice.HOLD else 0.0)  # type: ignore[attr-defined]

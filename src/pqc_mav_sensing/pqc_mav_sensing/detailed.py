# SPDX-License-Identifier: Apache-2.0
"""For how long BATTERY_STATUS outweighs SYS_STATUS, which repeats what that one says in less detail. Pure.

PX4 sends the one every 2 s and the other every second: two sources that take turns would look like a pack that changes.
"""

from __future__ import annotations

import math

LEAST_S, MOST_S = 2.0, 6.0
GAPS = 1.5  # of the last gap between two of them


class Detailed:
    """Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._heard_s = -math.inf
        self.limit_s = LEAST_S

    def heard(self, at_s: float) -> None:
        """A BATTERY_STATUS that tells a voltage."""
        if math.isfinite(self._heard_s):
            self.limit_s = min(max(LEAST_S, GAPS * (at_s - self._heard_s)), MOST_S)
        self._heard_s = at_s

    def counts(self, at_s: float) -> bool:
        """Whether SYS_STATUS is left alone."""
        return at_s - self._heard_s <= self.limit_s

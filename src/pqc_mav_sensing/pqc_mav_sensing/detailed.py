# SPDX-License-Identifier: Apache-2.0
"""For how long BATTERY_STATUS outweighs SYS_STATUS, which repeats what that one says in less detail. Pure.

PX4 sends the one every 2 s and the other every second: two sources that take turns would look like a pack that changes.
"""

from pqc_mav_sensing.rhythm import Rhythm

LEAST_S, MOST_S = 2.0, 6.0
GAPS = 1.5  # usual ones between two of them


class Detailed:
    """Times are seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._rhythm = Rhythm()

    def heard(self, at_s: float) -> None:
        """A BATTERY_STATUS that tells a voltage."""
        self._rhythm.heard(at_s)

    def counts(self, at_s: float) -> bool:
        """Whether SYS_STATUS is left alone."""
        return at_s - self._rhythm.came_s <= self._rhythm.limit_s(GAPS, LEAST_S, MOST_S)

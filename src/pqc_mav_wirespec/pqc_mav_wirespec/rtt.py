# SPDX-License-Identifier: Apache-2.0
"""Round-trip time and time-outs (docs/protocol.md section 5, rules 4 and 6). All times are seconds."""

from __future__ import annotations

from dataclasses import dataclass

GROWTH, LEVEL_TIMEOUTS, LARGEST_PTO_S = 1.5, 6, 2.0
FIRST_PTO_DRONE_S, FIRST_PTO_GCS_S = 0.2, 0.6
QUIET_S = 0.010
ACK_REPEAT_S, ACK_REPEAT_LEAST_S, ACK_REPEAT_MOST_S = 0.25, 0.05, 1.0


@dataclass
class Rtt:
    """Smoothed as in RFC 6298, but the variation starts at an eighth of the first sample."""

    first_pto_s: float
    srtt: float | None = None
    rttvar: float = 0.0
    least: float = float("inf")

    def sample(self, rtt: float) -> None:
        """Takes a sample."""
        rtt = max(rtt, 0.0)
        self.least = min(self.least, rtt)
        if self.srtt is None:
            self.srtt, self.rttvar = rtt, rtt / 8
        else:
            self.rttvar += (abs(self.srtt - rtt) - self.rttvar) / 4
            self.srtt += (rtt - self.srtt) / 8

    def pto(self, timeouts: int = 0) -> float:
        """The next time-out after so many without progress."""
        base = self.first_pto_s
        if self.srtt is not None:
            base = self.srtt + max(2 * self.rttvar, self.srtt / 4, QUIET_S) + QUIET_S
        return min(max(base, LARGEST_PTO_S), base * GROWTH ** max(0, timeouts - LEVEL_TIMEOUTS))

    def ack_repeat(self, repeats: int = 0) -> float:
        """When an ACK is sent again while nothing comes."""
        base = ACK_REPEAT_S if self.srtt is None else max(1.25 * self.srtt, ACK_REPEAT_LEAST_S)
        return min(max(base, ACK_REPEAT_MOST_S), base * GROWTH ** max(0, repeats - LEVEL_TIMEOUTS))

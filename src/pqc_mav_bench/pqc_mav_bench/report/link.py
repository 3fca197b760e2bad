# SPDX-License-Identifier: Apache-2.0
"""Links on which the report says how long a handshake takes at least."""

import math
from dataclasses import dataclass

_FRAGMENT_BYTES = 1200
_FRAGMENT_OVERHEAD_BYTES = 28 + 22  # IP and UDP, and the header of a fragment


@dataclass(frozen=True)
class Link:
    """A rate and a round trip."""

    name: str
    bit_s: float
    rtt_s: float

    def seconds(self, size: float) -> float:
        """Two round trips, and what it takes to send that many bytes in fragments."""
        fragments = math.ceil(size / _FRAGMENT_BYTES)
        return 2 * self.rtt_s + 8 * (size + fragments * _FRAGMENT_OVERHEAD_BYTES) / self.bit_s


LINKS = (Link("1 Mbit/s, RTT 40 ms", 1e6, 0.04), Link("64 kbit/s, RTT 100 ms", 64e3, 0.1))

# SPDX-License-Identifier: Apache-2.0
"""Clock synchronisation: four time stamps per exchange, the exchange with the shortest round trip counts.

t1 and t4 are the controller's monotonic clock when it sent the request and got the answer, t2 and t3 the agent's when
it got the request and sent the answer (RFC 5905 section 8): offset = ((t2 - t1) + (t3 - t4)) / 2.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Exchange:
    """One exchange; nanoseconds."""

    t1: int
    t2: int
    t3: int
    t4: int

    @property
    def offset_ns(self) -> float:
        """Agent's clock minus controller's; wrong by at most half the round trip."""
        return ((self.t2 - self.t1) + (self.t3 - self.t4)) / 2

    @property
    def round_trip_ns(self) -> int:
        """Time on the way, without the agent's."""
        return (self.t4 - self.t1) - (self.t3 - self.t2)


@dataclass(frozen=True)
class ClockEstimate:
    """What several exchanges say together."""

    offset_ns: float
    round_trip_ns: int
    exchanges: int
    spread_ns: float


def estimate(exchanges: Iterable[Exchange]) -> ClockEstimate:
    """The estimate of the best exchange. Raises ValueError without one whose round trip is possible."""
    good = [exchange for exchange in exchanges if exchange.round_trip_ns >= 0]
    if not good:
        raise ValueError("no usable exchange of time stamps")
    best = min(good, key=lambda exchange: exchange.round_trip_ns)
    offsets = [exchange.offset_ns for exchange in good]
    return ClockEstimate(best.offset_ns, best.round_trip_ns, len(good), max(offsets) - min(offsets))

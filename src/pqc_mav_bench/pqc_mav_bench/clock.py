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
    """What several exchanges say together; `at_ns` on the controller's clock."""

    offset_ns: float
    round_trip_ns: int
    exchanges: int
    spread_ns: float
    at_ns: int
    drift_ns: float = 0.0

    @property
    def uncertainty_ns(self) -> float:
        """The offset is wrong by no more during a run between two estimates."""
        return (self.round_trip_ns + self.drift_ns) / 2


def estimate(exchanges: Iterable[Exchange]) -> ClockEstimate:
    """The estimate of the best exchange. Raises ValueError without one whose round trip is possible."""
    good = [exchange for exchange in exchanges if exchange.round_trip_ns >= 0]
    if not good:
        raise ValueError("no usable exchange of time stamps")
    best = min(good, key=lambda exchange: exchange.round_trip_ns)
    offsets = [exchange.offset_ns for exchange in good]
    return ClockEstimate(best.offset_ns, best.round_trip_ns, len(good), max(offsets) - min(offsets), best.t1)


def between(before: ClockEstimate, after: ClockEstimate, at_ns: float) -> ClockEstimate:
    """The estimate for a moment of a run, during which the clocks drift."""
    change = after.offset_ns - before.offset_ns
    return ClockEstimate(
        before.offset_ns + change * (at_ns - before.at_ns) / (after.at_ns - before.at_ns),
        max(before.round_trip_ns, after.round_trip_ns),
        before.exchanges + after.exchanges,
        max(before.spread_ns, after.spread_ns, abs(change)),
        round(at_ns),
        abs(change),
    )

# SPDX-License-Identifier: Apache-2.0
"""What periodic rekeying costs in time: the overhead Phi(R) and its relatives."""

from collections.abc import Iterable

from pqc_mav_bench.analysis.statistics import phi

#: Rekey intervals of the published tables [s].
PUBLISHED_INTERVALS_S = (60.0, 300.0, 3600.0)


def phi_percent(handshake_ms: float, interval_s: float) -> float:
    """Share of a rekey cycle spent in the handshake, 100 T / (R + T) [%]. Raises ValueError for a negative time or R
    <= 0."""
    return 100.0 * phi(handshake_ms / 1e3, interval_s)


def phi_curve(handshake_ms: float, intervals_s: Iterable[float]) -> list[tuple[float, float]]:
    """(R [s], Phi [%]) for each interval."""
    return [(interval, phi_percent(handshake_ms, interval)) for interval in intervals_s]


def rekeys(flight_s: float, interval_s: float) -> float:
    """Rekeys of a flight, one per interval. Raises ValueError for an interval <= 0."""
    if interval_s <= 0:
        raise ValueError("the number of rekeys needs an interval > 0")
    return flight_s / interval_s


def interval_for(handshake_ms: float, phi_limit_percent: float) -> float:
    """Shortest interval R [s] at which Phi(R) stays within a limit. Raises ValueError outside 0 < limit < 100."""
    if not 0 < phi_limit_percent < 100:
        raise ValueError("the limit of Phi must lie between 0 and 100 %")
    return handshake_ms / 1e3 * (100.0 / phi_limit_percent - 1.0)

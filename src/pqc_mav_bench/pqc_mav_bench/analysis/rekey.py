# SPDX-License-Identifier: Apache-2.0
"""What periodic rekeying costs in time: the overhead Phi(R) and its relatives."""

from __future__ import annotations

from collections.abc import Iterable

from pqc_mav_bench.analysis.statistics import phi

#: Rekey intervals of the published tables [s].
PUBLISHED_INTERVALS_S = (60.0, 300.0, 3600.0)

#: Time the published system needs to restart its proxies at a suite change [s] (PQC-MAV paper, III-E).
PUBLISHED_STARTUP_S = 3.0


def phi_percent(handshake_ms: float, interval_s: float) -> float:
    """Share of a rekey cycle spent in the handshake, 100 T / (R + T) [%]. Raises ValueError for a negative time or R
    <= 0."""
    return 100.0 * phi(handshake_ms / 1e3, interval_s)


def interval_share_percent(handshake_ms: float, interval_s: float) -> float:
    """100 T / R [%]: what one published figure (0.84 %) uses in place of Phi. Raises ValueError for R <= 0."""
    if interval_s <= 0:
        raise ValueError("a share of the interval needs an interval > 0")
    return 0.1 * handshake_ms / interval_s


def remaining_ms(handshake_ms: float, interval_s: float) -> float:
    """Telemetry time left of an interval that contains its handshake, R - T [ms] (the published text's view)."""
    return 1e3 * interval_s - handshake_ms


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


def blackout_s(startup_s: float, handshake_s: float) -> float:
    """Interruption of a suite change that restarts the proxies, T_startup + T_hs [s] (published system)."""
    return startup_s + handshake_s

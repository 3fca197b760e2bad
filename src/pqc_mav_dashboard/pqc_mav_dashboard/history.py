# SPDX-License-Identifier: Apache-2.0
"""Points of the charts: of drones somebody looks at, for ten minutes, bounded."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence

from pqc_mav_dashboard.picture import End

KEPT_S = 600
DRONES = 32
# What a point holds after its time: seconds since 1970, bit/s, bit/s, fraction, fraction, ms, ms.
SERIES = ("time_s", "tx_bit_s", "rx_bit_s", "loss", "peer_loss", "rtt_ms", "gap_p95_ms")

Point = list[float | None]


def point(time_s: float, ends: Sequence[End]) -> Point:
    """One point from the end that tells most; unknown figures are None, so the line has a gap there."""
    if not ends:
        return [time_s, *[None] * (len(SERIES) - 1)]
    end = ends[0]
    stats, link = end.stats or {}, end.quality
    local, peer = link.get("local") or {}, link.get("peer") or {}
    tx, rx = stats.get("tx_bytes_per_s"), stats.get("rx_bytes_per_s")
    return [
        round(time_s, 3),
        None if tx is None else round(tx * 8, 1),
        None if rx is None else round(rx * 8, 1),
        local.get("loss"),
        peer.get("loss"),
        link.get("rtt_ms"),
        local.get("gap_p95_ms"),
    ]


class History:
    """The newest points of some drones; the one nobody has looked at for longest is forgotten first."""

    def __init__(self) -> None:
        self._points: OrderedDict[str, deque[Point]] = OrderedDict()

    def add(self, drone: str, made: Point) -> None:
        """One more point of a drone."""
        points = self._points.setdefault(drone, deque(maxlen=KEPT_S))
        self._points.move_to_end(drone)
        points.append(made)
        time_s = made[0] or 0.0
        while points and (points[0][0] or 0.0) < time_s - KEPT_S:
            points.popleft()
        while len(self._points) > DRONES:
            self._points.popitem(last=False)

    def of(self, drone: str) -> list[Point]:
        """Oldest first."""
        return list(self._points.get(drone, ()))

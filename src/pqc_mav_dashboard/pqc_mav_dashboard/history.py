# SPDX-License-Identifier: Apache-2.0
"""Points of the charts, the plan and the exports: of drones somebody looks at, for ten minutes, bounded."""

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence

from pqc_mav_dashboard.picture import End, Sense, fresh

KEPT_S = 600
DRONES = 32
GAP_S = 10.0  # twice the longest time between two looks: beyond it nobody knows what was in between
# What a point holds after its time: seconds since 1970, bit/s, bit/s, fraction, fraction, ms, ms, fraction, m, m, m.
SERIES = (
    *("time_s", "tx_bit_s", "rx_bit_s", "loss", "peer_loss", "rtt_ms", "gap_p95_ms"),
    *("charge", "north_m", "east_m", "height_m"),
)

Point = list[float | None]


def empty(time_s: float) -> Point:
    """A moment of which nothing is known: lines end before it."""
    return [round(time_s, 3), *[None] * (len(SERIES) - 1)]


def point(time_s: float, clock_s: float, ends: Sequence[End], senses: Mapping[str, Sense]) -> Point:
    """One point from the end that tells most. What is not known, or is too old, is None."""
    made = empty(time_s)
    if ends and ends[0].silent_s(clock_s) is None:
        stats, link = ends[0].stats or {}, ends[0].quality
        local, peer = link.get("local") or {}, link.get("peer") or {}
        rates = (stats.get(name) for name in ("tx_bytes_per_s", "rx_bytes_per_s"))
        made[1:3] = [None if rate is None else rate * 8 for rate in rates]
        made[3:7] = [local.get("loss"), peer.get("loss"), link.get("rtt_ms"), local.get("gap_p95_ms")]
    battery, vehicle = (fresh(senses, kind, clock_s) for kind in ("battery", "vehicle"))
    if battery.get("valid"):
        made[7] = battery.get("state_of_charge")
    if vehicle.get("valid"):
        made[8:11] = [vehicle.get(name) for name in ("north_m", "east_m", "relative_altitude_m")]
    return [None if value is None else round(value, 4) for value in made]


def append(points: deque[Point] | list[Point], made: Point, gap_s: float = GAP_S) -> None:
    """One more; after a while without any, one before it that is empty."""
    if points and (made[0] or 0.0) - (points[-1][0] or 0.0) > gap_s:
        points.append(empty((points[-1][0] or 0.0) + 1.0))
    points.append(made)


class History:
    """The newest points of some drones; the one nobody has looked at for longest is forgotten first."""

    def __init__(self) -> None:
        self._points: OrderedDict[str, deque[Point]] = OrderedDict()

    def add(self, drone: str, made: Point) -> None:
        """One more point of a drone."""
        points = self._points.setdefault(drone, deque(maxlen=KEPT_S))
        self._points.move_to_end(drone)
        time_s = made[0] or 0.0
        while points and (points[-1][0] or 0.0) > time_s:  # the clock was set back
            points.pop()
        append(points, made)
        while points and (points[0][0] or 0.0) < time_s - KEPT_S:
            points.popleft()
        while len(self._points) > DRONES:
            self._points.popitem(last=False)

    def of(self, drone: str) -> list[Point]:
        """Oldest first."""
        return list(self._points.get(drone, ()))

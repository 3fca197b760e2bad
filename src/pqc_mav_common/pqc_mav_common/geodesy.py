# SPDX-License-Identifier: Apache-2.0
"""Flat-earth frame around an origin: metres north/east/down to and from WGS84 degrees.

The frame is the tangent plane with the WGS84 radii of curvature at the origin. Within 10 km of the origin
its error is below one metre, which is all a small multirotor ever sees.
"""

import math
from dataclasses import dataclass, field

WGS84_A_M = 6_378_137.0
WGS84_E2 = 6.694_379_990_14e-3


@dataclass(frozen=True)
class LocalFrame:
    """Tangent plane at (lat_deg, lon_deg, alt_m); raises ValueError for an origin outside the earth's range.

    Args:
        lat_deg: latitude in degrees, -85 to 85 (the plane degenerates at the poles).
        lon_deg: longitude in degrees, -180 to 180.
        alt_m: height above mean sea level in metres.
    """

    lat_deg: float
    lon_deg: float
    alt_m: float
    _north_m_per_deg: float = field(init=False, repr=False)
    _east_m_per_deg: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (-85.0 <= self.lat_deg <= 85.0 and -180.0 <= self.lon_deg <= 180.0 and -500.0 <= self.alt_m <= 9000.0):
            raise ValueError(
                f"origin {self.lat_deg},{self.lon_deg},{self.alt_m} is out of range: latitude -85..85 degrees, "
                "longitude -180..180 degrees, altitude -500..9000 m"
            )
        lat = math.radians(self.lat_deg)
        w = math.sqrt(1.0 - WGS84_E2 * math.sin(lat) ** 2)
        meridian = WGS84_A_M * (1.0 - WGS84_E2) / w**3
        normal = WGS84_A_M / w
        object.__setattr__(self, "_north_m_per_deg", math.radians(meridian + self.alt_m))
        object.__setattr__(self, "_east_m_per_deg", math.radians((normal + self.alt_m) * math.cos(lat)))

    def to_local(self, lat_deg: float, lon_deg: float) -> tuple[float, float]:
        """Return (north, east) in metres; longitudes are taken the short way round."""
        dlon = (lon_deg - self.lon_deg + 180.0) % 360.0 - 180.0
        return (lat_deg - self.lat_deg) * self._north_m_per_deg, dlon * self._east_m_per_deg

    def to_geodetic(self, north_m: float, east_m: float) -> tuple[float, float]:
        """Return (latitude, longitude) in degrees, longitude within -180 to 180."""
        lon = self.lon_deg + east_m / self._east_m_per_deg
        return self.lat_deg + north_m / self._north_m_per_deg, (lon + 180.0) % 360.0 - 180.0


def wrap_pi(angle: float) -> float:
    """Return the angle (rad) wrapped to [-pi, pi)."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi

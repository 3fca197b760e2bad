# SPDX-License-Identifier: Apache-2.0
"""Reads the kernel's thermal tree: zones with trip points, and the cooling devices that slow the processor down.

Layout: Documentation/driver-api/thermal/sysfs-api.rst of the Linux kernel. Temperatures are in thousandths of a degree
Celsius.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_sensing import sysfs

ROOT = Path("/sys/class/thermal")
# Zones of processors, best first: Raspberry Pi, x86 package, ACPI, other ARM boards. Matched by beginning.
CPU_ZONES = ("cpu-thermal", "cpu_thermal", "x86_pkg_temp", "soc-thermal", "soc_thermal", "cpu", "acpitz")
# Cooling devices that work by slowing the processor; fans and displays cool too and throttle nothing.
SLOWING = ("processor", "cpufreq", "thermal-cpufreq", "cpu-", "intel_powerclamp", "thermal-devfreq")
_ZONE = "thermal_zone"
_MAX_TRIPS = 16
_TRIP_RANGE_C = (0.0, 150.0)


@dataclass(frozen=True)
class Zone:
    """One thermal zone as it is now; NaN where something is missing or cannot be read.

    Several may have one type, as those of two processors: `number` tells them apart.
    """

    type: str
    temperature_c: float
    passive_c: float
    critical_c: float
    number: int

    @property
    def rank(self) -> int:
        """How surely it is the processor's, 0 = most: its type's place in CPU_ZONES."""
        found = (place for place, beginning in enumerate(CPU_ZONES) if self.type.lower().startswith(beginning))
        return next(found, len(CPU_ZONES))

    def same(self, other: "Zone") -> bool:
        """Whether it is the other one at another time."""
        return (self.type, self.number) == (other.type, other.number)


@dataclass(frozen=True)
class Cooling:
    """One cooling device that slows the processor; state 0 = does nothing."""

    type: str
    state: int
    max_state: int


@dataclass(frozen=True)
class Tree:
    """All zones and slowing devices, in the order of their numbers."""

    zones: tuple[Zone, ...]
    cooling: tuple[Cooling, ...]

    def zone(self, wanted: str = "") -> Zone | None:
        """The first zone of that type; with "" the processor's, else the first. None when there is none."""
        zones = (zone for zone in self.zones if not wanted or zone.type == wanted)
        return min(zones, key=lambda zone: zone.rank, default=None)


def read(root: Path) -> Tree:
    """The tree as it is now. Never raises: what cannot be read is left out or NaN."""
    zones = [_zone(path) for path in sysfs.numbered(root, _ZONE)]
    cooling = [_cooling(path) for path in sysfs.numbered(root, "cooling_device")]
    return Tree(tuple(zone for zone in zones if zone is not None), tuple(each for each in cooling if each is not None))


def _zone(path: Path) -> Zone | None:
    kind = sysfs.text(path / "type")
    if not kind:
        return None
    passive = critical = math.nan
    for index in range(_MAX_TRIPS):
        name = sysfs.text(path / f"trip_point_{index}_type")
        if name is None:
            break
        trip_c = _celsius(sysfs.number(path / f"trip_point_{index}_temp"))
        if not _TRIP_RANGE_C[0] < trip_c <= _TRIP_RANGE_C[1]:
            continue  # an unused trip point is 0 or far below
        if name == "passive" and not passive <= trip_c:
            passive = trip_c
        elif name == "critical" and not critical <= trip_c:
            critical = trip_c
    # 0 is what a sensor that is off, or a driver that is not ready, has for a temperature.
    temperature_c = _celsius(sysfs.number(path / "temp") or None)
    return Zone(kind, temperature_c, passive, critical, int(path.name.removeprefix(_ZONE)))


def _celsius(thousandths: int | None) -> float:
    return math.nan if thousandths is None else thousandths / 1000.0


def _cooling(path: Path) -> Cooling | None:
    kind = sysfs.text(path / "type") or ""
    state = sysfs.number(path / "cur_state")
    if state is None or not kind.lower().startswith(SLOWING):
        return None
    return Cooling(kind, state, sysfs.number(path / "max_state") or 0)

# SPDX-License-Identifier: Apache-2.0
"""From looks at the thermal tree to what `thermal` publishes: choice of the zone, validation, rate. Pure."""

import math
from dataclasses import dataclass

from pqc_mav_sensing.gate import Gate, GateLimits
from pqc_mav_sensing.slope import SlidingSlope
from pqc_mav_sensing.thermal_tree import Cooling, Tree
from pqc_mav_sensing.vcgencmd import Throttling

NAN = math.nan
STALE_S = 3.0
RANGE_C = (-40.0, 125.0)
# A processor under sudden load rises by some 10 K in a second; what jumps further was misread.
JUMP_C = 8.0
JUMP_C_PER_S = 10.0


@dataclass(frozen=True)
class ThermalView:
    """What is known at one moment; fields as in ThermalState.msg."""

    at_s: float | None
    valid: bool
    reason: str
    temperature_c: float = NAN
    zone: str = ""
    rate_c_per_min: float = NAN
    trip_passive_c: float = NAN
    trip_critical_c: float = NAN
    throttled: bool = False
    throttle_reason: str = ""
    zone_types: tuple[str, ...] = ()
    zone_temperatures_c: tuple[float, ...] = ()


class ThermalMonitor:
    """Takes looks in the order of time; `zone` "" = the processor's. Times are seconds of a monotonic clock."""

    def __init__(self, zone: str = "", *, stale_s: float = STALE_S, rate_window_s: float = 30.0) -> None:
        self._wanted = zone
        self._stale_s = stale_s
        self._gate = Gate("temperature", "Cel", GateLimits(*RANGE_C, JUMP_C, JUMP_C_PER_S, stale_s=stale_s))
        self._slope = SlidingSlope(rate_window_s, min(5.0, rate_window_s / 2))
        self._tree = Tree((), ())
        self._throttling: Throttling | None = None
        self._temperature_c = NAN
        self._zone_type = ""
        self._trips = (NAN, NAN)
        self._reason = "no thermal zone has been read yet"

    @property
    def refused(self) -> int:
        """Readings that were refused so far."""
        return self._gate.refused

    def look(self, at_s: float, tree: Tree, throttling: Throttling | None = None) -> bool:
        """Take one look. Returns whether the temperature counts."""
        self._tree, self._throttling = tree, throttling
        # Once a zone has been believed it is kept: when it vanishes, another's temperature must not replace it.
        wanted = self._wanted or self._zone_type
        zone = tree.zone(wanted)
        if zone is None:
            name = f"no zone of type '{wanted}'" if wanted else "no thermal zone"
            types = ", ".join(each.type for each in tree.zones)
            self._reason = self._gate.refuse(f"there is {name} here" + (f"; there are: {types}" if types else ""))
            return False
        if math.isnan(zone.temperature_c):
            self._reason = self._gate.refuse(f"zone {zone.type} could not be read")
            return False
        previous_s = self._gate.last_s
        self._reason = self._gate.judge(at_s, zone.temperature_c)
        if self._reason:
            return False
        if previous_s is not None and at_s - previous_s > self._stale_s:
            self._slope.clear()
        self._slope.add(at_s, zone.temperature_c)
        self._temperature_c, self._zone_type = zone.temperature_c, zone.type
        self._trips = (zone.passive_c, zone.critical_c)
        return True

    def view(self, now_s: float) -> ThermalView:
        """What is known at `now_s`."""
        throttled, why = _throttling(self._tree.cooling, self._throttling)
        types = tuple(zone.type for zone in self._tree.zones)
        others = tuple(_possible(zone.temperature_c) for zone in self._tree.zones)
        age_s = self._gate.age_s(now_s)
        if age_s > self._stale_s:
            reason = self._reason or "nothing could be read since"
            if self._gate.last_s is not None:
                reason = f"the newest good reading is {age_s:.1f} s old; {reason}"
            return ThermalView(
                self._gate.last_s,
                False,
                reason,
                zone=self._zone_type,
                throttled=throttled,
                throttle_reason=why,
                zone_types=types,
                zone_temperatures_c=others,
            )
        return ThermalView(
            self._gate.last_s,
            True,
            "",
            self._temperature_c,
            self._zone_type,
            self._slope.per_minute(now_s),
            *self._trips,
            throttled,
            why,
            types,
            others,
        )


def _possible(temperature_c: float) -> float:
    return temperature_c if RANGE_C[0] <= temperature_c <= RANGE_C[1] else NAN


def _throttling(cooling: tuple[Cooling, ...], firmware: Throttling | None) -> tuple[bool, str]:
    """Whether the processor is slowed down now, and by what."""
    active = [each for each in cooling if each.state > 0]
    reasons = [f"{each.type} at step {each.state} of {each.max_state}" for each in active]
    if firmware is not None and firmware.now:
        reasons += firmware.now
    throttled = bool(active) or (firmware is not None and firmware.active)
    return throttled, "; ".join(reasons) if throttled else ""

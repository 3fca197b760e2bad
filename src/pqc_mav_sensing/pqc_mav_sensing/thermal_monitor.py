# SPDX-License-Identifier: Apache-2.0
"""From looks at the thermal tree to what `thermal` publishes: choice of the zone, validation, rate. Pure."""

import math
from dataclasses import dataclass

from pqc_mav_sensing.gate import Gate, GateLimits
from pqc_mav_sensing.slope import SlidingSlope
from pqc_mav_sensing.thermal_tree import Cooling, Tree, Zone
from pqc_mav_sensing.vcgencmd import Throttling

NAN = math.nan
NO_ZONE = Zone("", NAN, NAN, NAN, -1)
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
        self._zone = NO_ZONE  # that was judged last
        self._temperature_c = NAN
        self._reason = "no thermal zone has been read yet"

    @property
    def refused(self) -> int:
        """Readings that were refused so far."""
        return self._gate.refused

    def look(self, at_s: float, tree: Tree, throttling: Throttling | None = None) -> bool:
        """Take one look. Returns whether the temperature counts."""
        self._tree, self._throttling = tree, throttling
        zone = self._chosen(at_s)
        if zone is None:
            self._reason = self._gate.refuse(self._why_none())
            return False
        if not zone.same(self._zone):
            self._gate.forget()
            self._slope.clear()
        self._zone = zone
        if math.isnan(zone.temperature_c):
            self._reason = self._gate.refuse(f"zone {zone.type} gives no temperature")
            return False
        previous_s = self._gate.last_s
        self._reason = self._gate.judge(at_s, zone.temperature_c)
        if self._reason:
            return False
        if previous_s is not None and at_s - previous_s > self._stale_s:
            self._slope.clear()
        self._slope.add(at_s, zone.temperature_c)
        self._temperature_c = zone.temperature_c
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
                zone=self._zone.type,
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
            self._zone.type,
            self._slope.per_minute(now_s),
            self._zone.passive_c,
            self._zone.critical_c,
            throttled,
            why,
            types,
            others,
        )

    def _chosen(self, at_s: float) -> Zone | None:
        """Once a zone has been believed it is kept: when it vanishes, another's temperature must not replace it.

        But one that is more surely the processor's does, as of a driver that is loaded later, and after a while another
        one of the same type, whose number may be new.
        """
        best = self._tree.zone(self._wanted)
        if self._gate.last_s is None:
            return best
        if best is not None and best.rank < self._zone.rank and not math.isnan(best.temperature_c):
            return best
        kept = next(filter(self._zone.same, self._tree.zones), None)
        if kept is None and self._gate.age_s(at_s) > self._stale_s:
            return self._tree.zone(self._zone.type)
        return kept

    def _why_none(self) -> str:
        """Why there is no zone that counts, one clause."""
        types = ", ".join(each.type for each in self._tree.zones)
        if self._zone is not NO_ZONE:
            why = f"zone {self._zone.number} of type '{self._zone.type}' is gone"
        else:
            why = f"there is no zone of type '{self._wanted}' here" if self._wanted else "there is no thermal zone here"
        return why + (f"; there are: {types}" if types else "")


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

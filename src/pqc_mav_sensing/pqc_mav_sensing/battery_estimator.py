# SPDX-License-Identifier: Apache-2.0
"""From raw battery readings to what `battery` publishes: validation, voltage rate, charge, endurance. Pure.

A raw reading is judged field by field: the voltage decides whether the reading counts at all; current, temperature and
remaining charge are unknown when they are out of range, without spoiling the rest.
"""

import math
from dataclasses import dataclass

from pqc_mav_sensing.chemistry import Chemistry
from pqc_mav_sensing.gate import Gate, GateLimits
from pqc_mav_sensing.load_free import LoadFreeSlope
from pqc_mav_sensing.peukert import ChargeCounter, Pack, cells_in

NAN = math.nan
STALE_S = 2.0
HIGHEST_PACK_V = 130.0
LOWEST_PACK_V = 0.5
# A pack sags at full throttle, by less than an eighth of its voltage unless it is about to fail.
JUMP_FRACTION = 0.125
# Where neither the owner nor the autopilot says how much the pack holds: a usual one of four cells.
USUAL_AH = 5.0
GRACE_S = 20.0
TEMPERATURE_RANGE_C = (-60.0, 120.0)


@dataclass(frozen=True)
class RawBattery:
    """One reading as it arrived, in SI units; NaN = not reported. Unknown markers (-1, 65535 mV) may still be in it."""

    at_s: float
    voltage_v: float
    current_a: float = NAN  # positive while discharging
    remaining: float = NAN  # 0-1
    temperature_c: float = NAN
    cells: int = 0


@dataclass(frozen=True)
class BatteryState:
    """What is known about the battery at one moment; fields as in BatteryHealth.msg."""

    at_s: float | None  # when the newest good reading was taken
    valid: bool
    reason: str
    age_s: float = NAN
    voltage_v: float = NAN
    current_a: float = NAN
    temperature_c: float = NAN
    voltage_rate_mv_per_min: float = NAN
    state_of_charge: float = NAN
    reported_remaining: float = NAN
    used_mah: float = NAN
    effective_capacity_mah: float = NAN
    endurance_s: float = NAN
    cells: int = 0


class BatteryEstimator:
    """Takes readings in the order they come. Times are seconds of one monotonic clock."""

    # After a silence this long another pack may have been plugged in: its charge is estimated anew. After a shorter one
    # it was, if the voltage at little current says that so much more charge is there than was counted.
    NEW_PACK_AFTER_S = 10.0
    FULLER = 0.4

    def __init__(
        self,
        chemistry: Chemistry,
        capacity_ah: float,
        cells: int = 0,
        *,
        stale_s: float = STALE_S,
        rate_window_s: float = 60.0,
        resistance_ohm: float = 0.0,
        grace_s: float = GRACE_S,
    ) -> None:
        """`cells` 0: as the vehicle reports them, else as the first voltage suggests; `resistance_ohm` 0: estimated;
        `capacity_ah` 0: unknown, the autopilot's own percentage is the charge where it gives one.

        The voltage's rate is that of the load-free voltage: what drops across the resistance when the motors start is
        no discharge, and would look like one of volts per minute. Without a current sensor the rate begins anew
        `grace_s` after the load changed (see `follow`).
        """
        self._resistance_ohm = resistance_ohm
        self._assumed = capacity_ah == 0.0
        self._chemistry, self._capacity_ah, self._given_cells = chemistry, capacity_ah or USUAL_AH, cells
        self._grace_s, self._grace_until_s = grace_s, -math.inf
        self._load: tuple[bool, bool] | None = None
        limits = GateLimits(LOWEST_PACK_V, HIGHEST_PACK_V, 0.2, 0.5, JUMP_FRACTION, stale_s)
        self._gate = Gate("voltage", "V", limits)
        self._slope = LoadFreeSlope(rate_window_s, min(10.0, rate_window_s / 2), resistance_ohm)
        self._counter: ChargeCounter | None = None
        self._guessed = False  # its number of cells, until the autopilot says one
        self._last: RawBattery | None = None
        self._reason = "no battery reading has arrived yet"
        self.accepted = 0
        self.refused = 0

    def add(self, raw: RawBattery) -> bool:
        """Take one reading. Returns whether it counts."""
        if math.isnan(raw.voltage_v):
            self._reason = "what arrived last has no voltage"
            return False
        reason = self._judge(raw)
        if reason:
            self.refused += 1
            self._reason = f"refused: {reason}"
            return False
        self.accepted += 1
        self._reason = ""
        # Twice what the chemistry's cells can give is not a current but an overflow or a marker.
        good = _cleaned(raw, 2.0 * self._chemistry.highest_c_rate * self._capacity_ah)
        gap_s = 0.0 if self._last is None else good.at_s - self._last.at_s
        if gap_s > self._gate.stale_s:
            self._slope.clear()
            if gap_s > self.NEW_PACK_AFTER_S or self._much_fuller(good):
                self._counter = None
        self._last = good
        self._count(good)
        self._note_voltage(good)
        return True

    def follow(self, at_s: float, armed: bool, climbing: bool) -> None:
        """What the vehicle does. Without a current sensor a change of it is the only sign of another load."""
        load = (armed, climbing)
        if self._load is not None and load != self._load:
            self._grace_until_s = at_s + self._grace_s
            if not self._measures_current:
                self._slope.clear()
        self._load = load

    def state(self, now_s: float) -> BatteryState:
        """What is known at `now_s`. Invalid, with NaN in all figures, when no good reading is fresh."""
        last = self._last
        if last is None:
            return BatteryState(None, False, self._reason)
        age_s = now_s - last.at_s
        if age_s > self._gate.stale_s:
            why = self._reason or "nothing more arrived"
            return BatteryState(last.at_s, False, f"the newest good reading is {age_s:.1f} s old; {why}", age_s)
        counter = self._counter
        if self._assumed and not math.isnan(last.remaining):
            counter = None  # an estimate by an assumed capacity is worth less than the autopilot's own
        capacity_ah = counter.pack.capacity_at(counter.mean_current_a, last.temperature_c) if counter else NAN
        return BatteryState(
            at_s=last.at_s,
            valid=True,
            reason="",
            age_s=age_s,
            voltage_v=last.voltage_v,
            current_a=last.current_a,
            temperature_c=last.temperature_c,
            voltage_rate_mv_per_min=1000.0 * self._slope.fit(now_s)[0],
            state_of_charge=counter.charge if counter else last.remaining,
            reported_remaining=last.remaining,
            used_mah=1000.0 * self._counter.used_ah if self._counter else NAN,
            effective_capacity_mah=1000.0 * capacity_ah,
            endurance_s=counter.endurance_s(last.temperature_c) if counter else NAN,
            cells=self._counter.pack.cells if self._counter else 0,
        )

    def _judge(self, raw: RawBattery) -> str:
        if not math.isfinite(raw.voltage_v) or not LOWEST_PACK_V <= raw.voltage_v <= HIGHEST_PACK_V:
            # 0 V and 65,535 mV are how autopilots say that they do not know.
            return self._gate.refuse(f"a voltage of {raw.voltage_v:g} V is impossible")
        cells = self._cells(raw)
        chemistry = self._chemistry
        if cells and not chemistry.cell_low_v <= raw.voltage_v / cells <= chemistry.cell_high_v:
            return self._gate.refuse(f"{raw.voltage_v:g} V is not a possible voltage of {cells} {chemistry.name} cells")
        return self._gate.judge(raw.at_s, raw.voltage_v)

    def _much_fuller(self, good: RawBattery) -> bool:
        if self._counter is None or good.current_a > self._capacity_ah:
            return False
        return (
            self._counter.pack.charge_from_voltage(good.voltage_v, good.current_a) > self._counter.charge + self.FULLER
        )

    def _cells(self, raw: RawBattery) -> int:
        return self._given_cells or (raw.cells if 1 <= raw.cells <= 24 else 0)

    def _note_voltage(self, good: RawBattery) -> None:
        if not math.isnan(good.current_a):
            self._slope.add(good.at_s, good.voltage_v, max(0.0, good.current_a))
        elif not self._measures_current and good.at_s >= self._grace_until_s:
            # When a vehicle measures its current, a reading without one cannot be compared with the others.
            self._slope.add(good.at_s, good.voltage_v, 0.0)

    @property
    def _measures_current(self) -> bool:
        return self._counter is not None and not math.isnan(self._counter.mean_current_a)

    def _count(self, good: RawBattery) -> None:
        known = self._cells(good)
        if self._counter is None or (self._guessed and known):
            cells = known or cells_in(good.voltage_v, self._chemistry)
            if not cells:
                return
            self._guessed = not known
            pack = Pack(self._chemistry, self._capacity_ah, cells, self._resistance_ohm)
            self._slope.assumed_ohm = pack.resistance_ohm
            self._counter = ChargeCounter(pack, pack.charge_from_voltage(good.voltage_v, good.current_a))
        if self._assumed or (math.isnan(good.current_a) and math.isnan(self._counter.mean_current_a)):
            # No capacity of which to count down, or no current sensor: only the voltage is known.
            self._counter.charge = self._counter.pack.charge_from_voltage(good.voltage_v, good.current_a)
        self._counter.draw(good.at_s, good.current_a, good.temperature_c)


def _cleaned(raw: RawBattery, highest_current_a: float) -> RawBattery:
    """The reading with NaN for every field that is unknown or impossible."""
    known_current = math.isfinite(raw.current_a) and abs(raw.current_a) <= highest_current_a
    low_c, high_c = TEMPERATURE_RANGE_C
    return RawBattery(
        at_s=raw.at_s,
        voltage_v=raw.voltage_v,
        current_a=raw.current_a if known_current else NAN,
        # -0.01 and 2.55 are what "unknown" (-1 and 255 %) becomes on its way through bridges.
        remaining=raw.remaining if 0.0 <= raw.remaining <= 1.0 else NAN,
        temperature_c=raw.temperature_c if low_c <= raw.temperature_c <= high_c else NAN,
        cells=raw.cells,
    )

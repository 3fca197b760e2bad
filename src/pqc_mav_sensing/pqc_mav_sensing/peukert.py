# SPDX-License-Identifier: Apache-2.0
"""State of charge by coulomb counting with Peukert's law and temperature compensation. Pure.

Each amount of charge drawn weighs as much as the pack's capacity at this current and temperature says: an ampere-hour
drawn fast, or in the cold, empties the pack further than one drawn slowly and warm (see `chemistries.yaml`).
"""

import math
from dataclasses import dataclass

from pqc_mav_sensing.chemistry import Chemistry

LIHV_V = 4.36  # a full cell of it has 4.35 V


@dataclass(frozen=True)
class Pack:
    """A battery pack: chemistry, rated capacity [Ah], cells in series, resistance [ohm] (0 = as the chemistry's)."""

    chemistry: Chemistry
    capacity_ah: float
    cells: int
    measured_ohm: float = 0.0

    def capacity_at(self, current_a: float, temperature_c: float) -> float:
        """Charge [Ah] a full pack of this temperature gives at this current; NaN temperature = reference.

        Currents below the rated one give the rated capacity: Peukert's law, read literally, would promise more than the
        cell holds. Currents above the highest one count as that.
        """
        chemistry = self.chemistry
        rated_a = chemistry.rated_c_rate * self.capacity_ah
        highest_a = chemistry.highest_c_rate * self.capacity_ah
        drawn_a = min(max(current_a, rated_a), max(highest_a, rated_a))
        by_current = (rated_a / drawn_a) ** (chemistry.peukert_exponent - 1.0)
        known_c = chemistry.reference_temperature_c if math.isnan(temperature_c) else temperature_c
        fraction: float = by_current * chemistry.capacity_fraction(known_c)
        return self.capacity_ah * fraction

    @property
    def resistance_ohm(self) -> float:
        """Ohmic resistance of the pack: measured, or as its chemistry suggests."""
        return self.measured_ohm or self.cells * self.chemistry.resistance_mohm_ah / self.capacity_ah / 1000.0

    def resting_v(self, voltage_v: float, current_a: float) -> float:
        """The pack's voltage with the drop of the current across its resistance added back; NaN current = none."""
        return voltage_v if math.isnan(current_a) else voltage_v + max(0.0, current_a) * self.resistance_ohm

    def charge_from_voltage(self, voltage_v: float, current_a: float) -> float:
        """State of charge (0-1) from the pack's voltage under this current."""
        return self.chemistry.charge_at(self.resting_v(voltage_v, current_a) / self.cells)


def cells_in(voltage_v: float, chemistry: Chemistry) -> int:
    """Cells in series of a pack that was not described: the fewest that fit, for a pack is full when it is plugged in.

    Returns 0 when no number from 1 to 24 puts the cells into their range. A low 6S pack looks like a full 5S one: say
    the number where it is known. Up to 6S a full LiHV pack fits "lipo", too; a larger one looks like a LiPo pack of
    one cell more that is hardly used.
    """
    low, full = chemistry.resting_v[0], 1.01 * chemistry.resting_v[-1]
    lihv = range(1, 7) if chemistry.name == "lipo" else ()
    fits = (n for n in range(1, 25) if low <= voltage_v / n <= (LIHV_V if n in lihv else full))
    return next(fits, 0)


class ChargeCounter:
    """State of charge of one pack from its first estimate on. Times are seconds of a monotonic clock."""

    # What was drawn between two readings further apart is unknown.
    LONGEST_STEP_S = 5.0
    _CURRENT_TAU_S = 10.0

    def __init__(self, pack: Pack, charge: float) -> None:
        self.pack = pack
        self.charge = min(1.0, max(0.0, charge))
        self.used_ah = 0.0
        self.mean_current_a = math.nan
        self._at_s: float | None = None
        self._current_a = math.nan

    def draw(self, at_s: float, current_a: float, temperature_c: float) -> None:
        """Take a reading: the current since the last one is the mean of both (trapezoidal rule)."""
        before_s, before_a = self._at_s, self._current_a
        self._at_s, self._current_a = at_s, current_a
        if math.isnan(current_a):
            return
        if before_s is None or math.isnan(before_a) or not 0.0 < at_s - before_s <= self.LONGEST_STEP_S:
            self.mean_current_a = current_a if math.isnan(self.mean_current_a) else self.mean_current_a
            return
        step_s = at_s - before_s
        mean_a = (before_a + current_a) / 2.0
        drawn_ah = mean_a * step_s / 3600.0
        self.used_ah += drawn_ah
        self.charge = min(1.0, max(0.0, self.charge - drawn_ah / self.pack.capacity_at(mean_a, temperature_c)))
        weight = 1.0 - math.exp(-step_s / self._CURRENT_TAU_S)
        self.mean_current_a += (mean_a - self.mean_current_a) * weight

    def endurance_s(self, temperature_c: float, least_current_a: float = 0.05) -> float:
        """Time until empty at the mean current of the last ten seconds; NaN at nearly no current."""
        current_a = self.mean_current_a
        if math.isnan(current_a) or current_a < least_current_a:
            return math.nan
        return 3600.0 * self.charge * self.pack.capacity_at(current_a, temperature_c) / current_a

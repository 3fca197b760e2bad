# SPDX-License-Identifier: Apache-2.0
"""Lithium-polymer pack: voltage, current and charge under a power load.

Equivalent circuit with an open-circuit voltage over state of charge, an ohmic resistance that grows in the cold and
one relaxation pair (Thevenin model). The load is a power, so the current solves P = (E - I R0) I. Volts, amperes,
ampere-hours, watts, degrees Celsius. No clock: `step` is given the time step.
"""

import bisect
import math
from dataclasses import dataclass
from enum import IntEnum

# Open-circuit volts per cell over state of charge, at rest: the usual curve of a LiPo cell.
_OCV_SOC = (0.0, 0.05, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90, 1.0)
_OCV_V = (3.27, 3.61, 3.69, 3.73, 3.77, 3.79, 3.82, 3.87, 3.92, 3.98, 4.08, 4.20)


def open_circuit_voltage(soc: float) -> float:
    """Return a cell's open-circuit voltage (V) at a state of charge, which is clamped to 0..1."""
    soc = max(0.0, min(1.0, soc))
    i = min(bisect.bisect_right(_OCV_SOC, soc), len(_OCV_SOC) - 1)
    span = (soc - _OCV_SOC[i - 1]) / (_OCV_SOC[i] - _OCV_SOC[i - 1])
    return _OCV_V[i - 1] + span * (_OCV_V[i] - _OCV_V[i - 1])


class BatteryLevel(IntEnum):
    """How much charge is left, against the warning thresholds."""

    OK = 0
    LOW = 1
    CRITICAL = 2
    EMERGENCY = 3
    DEPLETED = 4


@dataclass(frozen=True)
class BatterySpec:
    """A 4S 5 Ah pack with its wiring."""

    cells: int = 4
    capacity_ah: float = 5.0
    resistance_ohm: float = 0.022
    relaxation_ohm: float = 0.010
    relaxation_tau_s: float = 20.0
    cold_factor_per_k: float = 0.02


@dataclass(frozen=True)
class BatteryThresholds:
    """State of charge (0..1) below which each warning holds; low > critical > emergency."""

    low: float = 0.15
    critical: float = 0.07
    emergency: float = 0.05


class Battery:
    """State of the pack. `voltage` and `current` are those at the terminals in the last step."""

    def __init__(self, spec: BatterySpec | None = None, soc: float = 1.0) -> None:
        if not 0.0 <= soc <= 1.0:
            raise ValueError(f"battery charge {soc} is out of range: give 0..1")
        self.spec = spec or BatterySpec()
        self.soc = soc
        self.voltage = self.spec.cells * open_circuit_voltage(soc)
        self.current = 0.0
        self.consumed_ah = 0.0
        self.energy_wh = 0.0
        self.heat_w = 0.0
        self.brownout = False
        self._relaxation_v = 0.0
        self._mean_current = 0.0

    def resistance(self, temperature_c: float) -> float:
        """Ohmic resistance (ohm): nominal at 25 degrees and above, growing exponentially in the cold."""
        return self.spec.resistance_ohm * math.exp(self.spec.cold_factor_per_k * max(0.0, 25.0 - temperature_c))

    def step(self, dt: float, load_w: float, temperature_c: float) -> None:
        """Draw load_w watts (>= 0) for dt seconds. Beyond what the pack can give, it gives its maximum (brownout)."""
        spec = self.spec
        if self.soc <= 0.0:
            self.voltage, self.current, self.heat_w, self.brownout = 0.0, 0.0, 0.0, load_w > 0.0
            return
        r0 = self.resistance(temperature_c)
        source = spec.cells * open_circuit_voltage(self.soc) - self._relaxation_v
        disc = source * source - 4.0 * r0 * load_w
        self.brownout = disc < 0.0
        self.current = (source - math.sqrt(max(disc, 0.0))) / (2.0 * r0)
        self.voltage = source - self.current * r0
        self.heat_w = self.current**2 * r0 + self._relaxation_v**2 / spec.relaxation_ohm
        target = self.current * spec.relaxation_ohm
        self._relaxation_v = target + (self._relaxation_v - target) * math.exp(-dt / spec.relaxation_tau_s)
        drawn = min(self.current * dt / 3600.0, self.soc * spec.capacity_ah)
        self.soc = max(0.0, self.soc - drawn / spec.capacity_ah)
        self.consumed_ah += drawn
        self.energy_wh += self.voltage * drawn
        self._mean_current += (self.current - self._mean_current) * (1.0 - math.exp(-dt / 10.0))

    @property
    def remaining_percent(self) -> int:
        """State of charge in whole percent."""
        return round(100.0 * self.soc)

    @property
    def time_remaining_s(self) -> int | None:
        """Seconds left at the mean current of the last ten seconds; None when next to nothing flows."""
        if self._mean_current < 0.05:
            return None
        return int(self.soc * self.spec.capacity_ah * 3600.0 / self._mean_current)

    def level(self, thresholds: BatteryThresholds) -> BatteryLevel:
        """Return how the charge stands against the thresholds."""
        if self.soc <= 0.0:
            return BatteryLevel.DEPLETED
        if self.soc < thresholds.emergency:
            return BatteryLevel.EMERGENCY
        if self.soc < thresholds.critical:
            return BatteryLevel.CRITICAL
        return BatteryLevel.LOW if self.soc < thresholds.low else BatteryLevel.OK

# SPDX-License-Identifier: Apache-2.0
"""A simulated companion computer that heats up: one heat capacity, and a thermal tree as Linux lays it out.

The processor's temperature follows its power by C dT/dt = P - (T - T_air) / R. Above the passive trip point a cooling
device slows it down, as the kernel's step-wise governor would. No clock of its own. Whoever reads the tree must say
that it is simulated: nothing here was measured.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_common.atomic_file import atomic_write

ZONE_TYPE = "cpu-thermal"
COOLING_TYPE = "cpufreq-cpu0"


@dataclass(frozen=True)
class BoardSpec:
    """Thermal resistance [K/W], time constant [s], air [Cel], trip points [Cel], steps of the cooling device."""

    resistance_k_w: float = 7.0
    tau_s: float = 12.0
    air_c: float = 25.0
    passive_c: float = 80.0
    critical_c: float = 110.0
    steps: int = 4


class BoardThermal:
    """The board, at first in equilibrium with its idle power [W]."""

    def __init__(self, power_w: float = 3.5, spec: BoardSpec | None = None) -> None:
        self.spec = spec or BoardSpec()
        self.power_w = power_w
        self.temperature_c = self.spec.air_c + self.spec.resistance_k_w * power_w
        self._at_s: float | None = None

    @property
    def throttle_step(self) -> int:
        """State of the cooling device: one step for each 2 K above the passive trip point."""
        above_k = self.temperature_c - self.spec.passive_c
        return 0 if above_k <= 0 else min(self.spec.steps, 1 + int(above_k / 2.0))

    def advance(self, now_s: float) -> None:
        """Brings the temperature to `now_s`; exact for constant power, whatever the step."""
        if self._at_s is not None:
            target = self.spec.air_c + self.spec.resistance_k_w * self.power_w
            decay = math.exp(-max(0.0, now_s - self._at_s) / self.spec.tau_s)
            self.temperature_c = target + (self.temperature_c - target) * decay
        self._at_s = now_s

    def write(self, root: Path) -> None:
        """The tree below `root`; each file is replaced as a whole, so that no reader sees half a number."""
        zone, cooling = root / "thermal_zone0", root / "cooling_device0"
        for folder in (zone, cooling):
            folder.mkdir(parents=True, exist_ok=True)
        _replace(zone / "type", ZONE_TYPE)
        for number, (kind, celsius) in enumerate(
            (("passive", self.spec.passive_c), ("critical", self.spec.critical_c))
        ):
            _replace(zone / f"trip_point_{number}_type", kind)
            _replace(zone / f"trip_point_{number}_temp", str(round(celsius * 1000)))
        _replace(cooling / "type", COOLING_TYPE)
        _replace(cooling / "max_state", str(self.spec.steps))
        self.update(root)

    def update(self, root: Path) -> None:
        """The two files that change."""
        _replace(root / "cooling_device0" / "cur_state", str(self.throttle_step))
        _replace(root / "thermal_zone0" / "temp", str(round(self.temperature_c * 1000)))


def _replace(path: Path, content: str) -> None:
    # A simulated kernel has no disk: there is nothing to bring to it many times a second.
    atomic_write(path, content + "\n", durable=False)

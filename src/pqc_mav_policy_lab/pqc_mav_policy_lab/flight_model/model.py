# SPDX-License-Identifier: Apache-2.0
"""A simulated drone's battery, processor temperature and load, one second a step. No clock, no randomness, no I/O.

The battery is the simulator's (pqc_mav_sim.battery: equivalent circuit of a 4S 5 Ah pack). The processor's temperature
relaxes to what the documents measured at three loads; its time constant is ours. Everything made here is simulated.
"""

import math
from collections import deque
from dataclasses import dataclass

from pqc_mav_policy.telemetry.inputs import Battery, Phase, System, Thermal, Vehicle
from pqc_mav_policy_lab.computer_power import computer_power_w
from pqc_mav_policy_lab.flight_model.conditions import CPU_BASELINE, CPU_TST, CPU_XGBOOST, Conditions
from pqc_mav_sensing.load_free import LoadFreeSlope
from pqc_mav_sim.airframe import SEA_LEVEL_DENSITY, AirframeSpec, rotor_power
from pqc_mav_sim.battery import Battery as Pack
from pqc_mav_sim.plant import AVIONICS_W

# [rpi5-report] section 23: load and temperature without a detector, with XGBoost, with the transformer.
_LOADS = (CPU_BASELINE, CPU_XGBOOST, CPU_TST)
_TEMPERATURES_C = (60.8, 73.3, 82.8)
# The documents name no room temperature; a laboratory's is assumed, and that warmer air shifts them all equally.
LABORATORY_C = 25.0
# Time in which a Raspberry Pi with a passive cooler covers 63 % of a step of load: about one and a half minutes (ours).
THERMAL_TAU_S = 90.0
# The kernel slows a Raspberry Pi down from here ([pqcmav-paper] I).
THROTTLE_C = 80.0
# Windows of the slopes, the defaults of pqc_mav_sensing.
VOLTAGE_WINDOW_S = 60
LEAST_VOLTAGE_S = 10.0
ASSUMED_OHM = 0.016  # what its profile 'lipo' suggests for this pack, whose own 22 mohm have to be found in flight
TEMPERATURE_WINDOW_S = 30
# Rotor power relative to hovering, from the airframe's momentum theory at 2.5 m/s climb, 8 m/s forward, 1 m/s descent.
_SPEC = AirframeSpec()
_HOVER_W = rotor_power(_SPEC, _SPEC.hover_thrust_n, 0.0, 0.0, SEA_LEVEL_DENSITY)
ROTOR_W = {
    Phase.UNKNOWN: 0.0,
    Phase.DISARMED: 0.0,
    Phase.TAKEOFF: rotor_power(_SPEC, _SPEC.hover_thrust_n, 2.5, 0.0, SEA_LEVEL_DENSITY),
    Phase.CRUISE: rotor_power(_SPEC, _SPEC.hover_thrust_n, 0.0, 8.0, SEA_LEVEL_DENSITY),
    Phase.HOVER: _HOVER_W,
    Phase.LANDING: rotor_power(_SPEC, _SPEC.hover_thrust_n, -1.0, 0.0, SEA_LEVEL_DENSITY),
}


def settled_temperature_c(cpu_percent: float, ambient_c: float) -> float:
    """The processor's temperature after a long time at a steady load, on the lines through the published points."""
    index = 0 if cpu_percent < _LOADS[1] else 1
    span = (cpu_percent - _LOADS[index]) / (_LOADS[index + 1] - _LOADS[index])
    temperature = _TEMPERATURES_C[index] + span * (_TEMPERATURES_C[index + 1] - _TEMPERATURES_C[index])
    return temperature + ambient_c - LABORATORY_C


class Slope:
    """Slope per minute of a value sampled once a second, by regression over the last `window_s` samples."""

    def __init__(self, window_s: int) -> None:
        self._values: deque[float] = deque(maxlen=window_s)

    def add(self, value: float) -> float | None:
        """The slope with this value in it; None before there are five."""
        self._values.append(value)
        count = len(self._values)
        if count < 5:
            return None
        middle = (count - 1) / 2.0
        spread = count * (count * count - 1) / 12.0
        return 60.0 * sum((index - middle) * entry for index, entry in enumerate(self._values)) / spread


@dataclass(frozen=True)
class Readings:
    """What sensing would publish about one second; `missing` as in inputs.DecisionInput."""

    battery: Battery
    thermal: Thermal
    vehicle: Vehicle
    system: System
    power_w: float  # of the companion computer
    missing: tuple[str, ...] = ()


class FlightModel:
    """The drone's own state. `step` takes a second's conditions and how long a handshake computed in it."""

    def __init__(
        self,
        *,
        soc: float = 1.0,
        ambient_c: float = 20.0,
        cpu_percent: float = CPU_BASELINE,
        raw_voltage: bool = False,
    ) -> None:
        """`raw_voltage`: the voltage's slope is that of the terminals, sag and all, as it was judged when the figures
        of the cascade were first computed; otherwise it is the one that sensing publishes, without the load."""
        self.pack = Pack(soc=soc)
        self.temperature_c = settled_temperature_c(cpu_percent, ambient_c)
        self._raw_slope = Slope(VOLTAGE_WINDOW_S) if raw_voltage else None
        self._load_free = LoadFreeSlope(VOLTAGE_WINDOW_S, LEAST_VOLTAGE_S)
        self._load_free.assumed_ohm = ASSUMED_OHM
        self._second = 0
        self._temperature_slope = Slope(TEMPERATURE_WINDOW_S)

    def _voltage_rate(self, voltage: float) -> float | None:
        if self._raw_slope is not None:
            return self._raw_slope.add(1000.0 * voltage)
        self._second += 1
        self._load_free.add(float(self._second), voltage, self.pack.current)
        rate, _ = self._load_free.fit(float(self._second))
        return None if math.isnan(rate) else 1000.0 * rate

    @property
    def throttled(self) -> bool:
        """Whether the kernel slows the processor down."""
        return self.temperature_c > THROTTLE_C

    def step(self, conditions: Conditions, computing_s: float) -> Readings:
        """One second. `computing_s` (0-1) is how much of it one of four cores spent on a handshake."""
        cpu = min(100.0, conditions.cpu_percent + 25.0 * computing_s)
        settled = settled_temperature_c(cpu, conditions.ambient_c)
        self.temperature_c = settled + (self.temperature_c - settled) * math.exp(-1.0 / THERMAL_TAU_S)
        power = computer_power_w(cpu)
        other = AVIONICS_W - computer_power_w(CPU_BASELINE)
        self.pack.step(1.0, ROTOR_W[conditions.phase] + other + power, conditions.ambient_c)
        voltage = self.pack.voltage
        rate = self._voltage_rate(voltage)
        return Readings(
            battery=Battery(voltage, rate, self.pack.soc, 0.0, True, self.pack.spec.cells),
            thermal=Thermal(
                self.temperature_c, self._temperature_slope.add(self.temperature_c), self.throttled, 0.0, True
            ),
            vehicle=Vehicle(conditions.phase is not Phase.DISARMED, conditions.phase, 0.0, True),
            system=System(cpu, 0.0, True),
            power_w=power,
        )

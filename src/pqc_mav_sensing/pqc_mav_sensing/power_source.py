# SPDX-License-Identifier: Apache-2.0
"""Where power figures can come from: an INA219, the kernel's hwmon, or a model of the processor's load."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pqc_mav_sensing import sysfs
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219 import Bus, Ina219, Outcome
from pqc_mav_sensing.ina219_registers import Setup

NAN = math.nan


@dataclass(frozen=True)
class PowerReading:
    """One reading of a source; figures are meaningful for a SAMPLE only. NaN = this source does not measure it."""

    outcome: Outcome
    volts: float = NAN
    amperes: float = NAN
    watts: float = NAN


class PowerSource(Protocol):
    """Something that can be read again and again."""

    name: str  # as PowerSample.source says it
    measured: bool
    resolution: str
    rate_hz: float  # how often reading makes sense

    def open(self) -> None:
        """Find it and set it up. Raises SensorError."""

    def look(self, now_s: float) -> PowerReading:
        """Take one reading. Raises SensorError."""

    def check(self) -> None:
        """Once a second: is it still set up? Raises SensorError."""

    def close(self) -> None:
        """Release it."""


class Ina219Source:
    """A sensor on an I2C bus; the bus is opened anew each time, since a bus adapter may vanish too."""

    name, measured = "ina219", True

    def __init__(self, open_bus: Callable[[], Bus], address: int, setup: Setup, rate_hz: float) -> None:
        self._open_bus, self._address, self._setup = open_bus, address, setup
        self.rate_hz = rate_hz
        self.resolution = str(setup.resolution)
        self._bus: Bus | None = None
        self._sensor: Ina219 | None = None

    def open(self) -> None:
        """Opens the bus and writes configuration and calibration."""
        self.close()
        try:
            self._bus = self._open_bus()
        except OSError as error:
            raise SensorError(f"the I2C bus cannot be opened: {error.strerror or error}") from None
        sensor = Ina219(self._bus, self._address, self._setup)
        sensor.begin()
        self._sensor = sensor

    def look(self, now_s: float) -> PowerReading:
        """A sample when a conversion is ready."""
        if self._sensor is None:
            raise SensorError("the INA219 has not been set up")
        reading = self._sensor.look()
        if reading.outcome is not Outcome.SAMPLE:
            return PowerReading(reading.outcome)
        return PowerReading(reading.outcome, reading.volts, reading.amperes, reading.volts * reading.amperes)

    def check(self) -> None:
        """Does the sensor still hold what was written?"""
        if self._sensor is not None:
            self._sensor.verify()

    def close(self) -> None:
        """Gives the bus back."""
        bus, self._bus, self._sensor = self._bus, None, None
        if bus is not None:
            bus.close()


class HwmonSource:
    """A power sensor that a kernel driver serves: ina2xx by preference, else anything with a power reading.

    Files and units: Documentation/hwmon/sysfs-interface.rst of the Linux kernel (in*: mV, curr*: mA, power*: uW).
    """

    name, measured, resolution, rate_hz = "hwmon", True, "", 50.0
    _PREFERRED = "ina"
    _NOT_THE_BOARD = ("amdgpu", "radeon", "nouveau", "i915", "xe", "nvme", "BAT", "mlx", "iwlwifi")
    _MOST_W = 1000.0
    _VOLT_RANGE = (0.5, 60.0)

    def __init__(self, root: Path = Path("/sys/class/hwmon")) -> None:
        self._root = root
        self._device: Path | None = None
        self._power = ""

    def open(self) -> None:
        """Looks for the device."""
        self._device = None
        candidates: list[tuple[bool, Path, str]] = []
        for path in sysfs.numbered(self._root, "hwmon"):
            kind = sysfs.text(path / "name") or ""
            if kind.startswith(self._NOT_THE_BOARD):
                continue
            for file in ("power1_input", "power1_average"):
                if sysfs.number(path / file) is not None:
                    candidates.append((not kind.startswith(self._PREFERRED), path, file))
                    break
        if not candidates:
            raise SensorError(f"no hwmon device below {self._root} measures power")
        _, self._device, self._power = min(candidates, key=lambda each: each[0])
        self.look(0.0)

    def look(self, now_s: float) -> PowerReading:
        """Reads the device's files."""
        if self._device is None:
            raise SensorError("no hwmon device was chosen")
        microwatt = sysfs.number(self._device / self._power)
        if microwatt is None or not 0 <= microwatt <= self._MOST_W * 1e6:
            raise SensorError(f"{self._device / self._power} holds no power reading")
        millivolt, milliampere = (sysfs.number(self._device / file) for file in ("in1_input", "curr1_input"))
        volts = NAN if millivolt is None else millivolt / 1000.0
        if millivolt is not None and not self._VOLT_RANGE[0] <= volts <= self._VOLT_RANGE[1]:
            raise SensorError(f"{self._device}/in1_input holds {millivolt} mV, which no supply has")
        amperes = NAN if milliampere is None else milliampere / 1000.0
        return PowerReading(Outcome.SAMPLE, volts, amperes, microwatt / 1e6)

    def chip(self) -> dict[str, str | None]:
        """Which device was chosen, and the shunt that its driver was told [uOhm]. Raises SensorError."""
        if self._device is None:
            raise SensorError("no hwmon device was chosen")
        told = {name: sysfs.text(self._device / name) for name in ("name", "shunt_resistor")}
        return {"device": (self._device / "device").resolve().name, **told}

    def check(self) -> None:
        """Nothing to prepare: every reading finds out anew."""

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True)
class PowerModel:
    """Power as a straight line over the processor's load [W].

    The defaults are the line through two published points of a Raspberry Pi 5 that flies this tunnel with an ML-KEM
    suite: 3.990 W at the mean load of 25.0 % and 5.102 W at the peak load of 45.7 % (PQC-MAV paper, table X).
    """

    idle_w: float = 2.65
    full_w: float = 8.02

    def watts(self, load: float) -> float:
        """Power at a load (0-1), which is clamped."""
        return self.idle_w + (self.full_w - self.idle_w) * min(1.0, max(0.0, load))


class ModelSource:
    """No sensor at all: an estimate, and it says so. `busy` returns (busy, total) processor time since boot [s]."""

    # The kernel counts in steps of 10 ms, so a shorter window says little, and more than one look at it a half nothing.
    name, measured, resolution, rate_hz = "model", False, "", 4.0
    _WINDOW_S = 0.5

    def __init__(self, model: PowerModel, busy: Callable[[], tuple[float, float]]) -> None:
        self._model, self._busy = model, busy
        self._looks: deque[tuple[float, float, float]] = deque()

    def open(self) -> None:
        """Starts to count."""
        self._looks.clear()

    def look(self, now_s: float) -> PowerReading:
        """The estimate for the last half second; the first reading has nothing to count from."""
        try:
            busy_s, total_s = self._busy()
        except (OSError, RuntimeError) as error:
            raise SensorError(f"the processor's load cannot be read: {error}") from None
        while len(self._looks) > 1 and now_s - self._looks[1][0] >= self._WINDOW_S:
            self._looks.popleft()
        self._looks.append((now_s, busy_s, total_s))
        _, first_busy_s, first_total_s = self._looks[0]
        if total_s <= first_total_s:
            return PowerReading(Outcome.DUPLICATE)
        load = (busy_s - first_busy_s) / (total_s - first_total_s)
        return PowerReading(Outcome.SAMPLE, watts=self._model.watts(load))

    def check(self) -> None:
        """Nothing can be lost."""

    def close(self) -> None:
        """Nothing is held open."""

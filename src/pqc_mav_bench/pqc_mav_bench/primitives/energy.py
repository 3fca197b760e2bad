# SPDX-License-Identifier: Apache-2.0
"""Energy of a stretch of work, where a sensor measures it: the processor's own counter (powercap) or a power sensor.

A model is no sensor: energy computed from the load would only repeat the times.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from pqc_mav_bench.errors import BenchError
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.power_source import HwmonSource

POWERCAP = Path("/sys/class/powercap")
SAMPLE_S = 0.005


class PowercapMeter:
    """The package's energy counter (RAPL), which wraps."""

    source = "powercap"

    def __init__(self, zone: Path) -> None:
        self._energy = zone / "energy_uj"
        self._range = int((zone / "max_energy_range_uj").read_text())
        self._first = 0

    def begin(self) -> None:
        """Starts."""
        self._first = int(self._energy.read_text())

    def end(self) -> float:
        """Joules since `begin`."""
        return ((int(self._energy.read_text()) - self._first) % (self._range + 1)) / 1e6


class PowerSensorMeter:
    """Integrates a power sensor by the trapezoidal rule, in a thread; `read` returns watts or raises SensorError."""

    def __init__(self, source: str, read: Callable[[], float], interval_s: float = SAMPLE_S) -> None:
        self.source = source
        self._read = read
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._joules = 0.0
        self._failure: SensorError | None = None

    def begin(self) -> None:
        """Starts."""
        self._joules, self._failure = 0.0, None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stop,), daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Joules since `begin`. Raises BenchError when the sensor failed in between."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None:
            raise BenchError(str(self._failure))
        return self._joules

    def _run(self, stop: threading.Event) -> None:
        try:
            self._integrate(stop)
        except SensorError as error:
            self._failure = error

    def _integrate(self, stop: threading.Event) -> None:
        last_s, last_w = time.monotonic(), self._read()
        while True:
            ended = stop.wait(self._interval_s)
            now_s, now_w = time.monotonic(), self._read()
            self._joules += (now_s - last_s) * (now_w + last_w) / 2
            last_s, last_w = now_s, now_w
            if ended:
                return


EnergyMeter = PowercapMeter | PowerSensorMeter


def find_meter(powercap: Path = POWERCAP, hwmon: Path = Path("/sys/class/hwmon")) -> EnergyMeter | None:
    """The first sensor there is: the processor's counter, which only root may read on many kernels, then what hwmon
    has of the board's power (the INA219's driver is one)."""
    for zone in sorted(powercap.glob("*:0")):
        try:
            meter = PowercapMeter(zone)
            meter.begin()
        except (OSError, ValueError):
            continue
        return meter
    source = HwmonSource(hwmon)
    try:
        source.open()
    except SensorError:
        return None
    return PowerSensorMeter(source.name, lambda: source.look(time.monotonic()).watts)

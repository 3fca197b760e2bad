# SPDX-License-Identifier: Apache-2.0
"""Many power samples to one summary, and energy by the trapezoidal rule. Pure; times are monotonic seconds."""

import math
from dataclasses import dataclass

NAN = math.nan


@dataclass(frozen=True)
class PowerSummary:
    """One interval; fields as in PowerSample.msg. Figures are NaN when there was no sample."""

    interval_s: float
    samples: int
    voltage_v: float = NAN
    current_a: float = NAN
    power_mean_w: float = NAN
    power_min_w: float = NAN
    power_peak_w: float = NAN
    duplicates: int = 0
    overflows: int = 0
    errors: int = 0

    @property
    def rate_hz(self) -> float:
        """Samples per second achieved."""
        return self.samples / self.interval_s if self.interval_s > 0 else 0.0


class PowerWindow:
    """Collects one interval after the other."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._clear()

    def _clear(self) -> None:
        self.samples = self.duplicates = self.overflows = self.errors = 0
        self._watts = self._volts = self._amperes = 0.0
        self._least_w, self._most_w = math.inf, -math.inf

    def sample(self, volts: float, amperes: float, watts: float) -> None:
        """Take one sample; NaN volts or amperes make those means NaN."""
        self.samples += 1
        self._volts += volts
        self._amperes += amperes
        self._watts += watts
        self._least_w, self._most_w = min(self._least_w, watts), max(self._most_w, watts)

    def finish(self, now_s: float) -> PowerSummary:
        """End the interval and begin the next one."""
        count, interval_s = self.samples, now_s - self._began_s
        counters = {"duplicates": self.duplicates, "overflows": self.overflows, "errors": self.errors}
        if count:
            means = (self._volts / count, self._amperes / count, self._watts / count)
            summary = PowerSummary(interval_s, count, *means, self._least_w, self._most_w, **counters)
        else:
            summary = PowerSummary(interval_s, 0, **counters)
        self._began_s = now_s
        self._clear()
        return summary


class EnergyMeter:
    """Energy of one source. What was drawn in a gap longer than `longest_gap_s` is not known and not counted."""

    def __init__(self, longest_gap_s: float = 0.5) -> None:
        self._longest_gap_s = longest_gap_s
        self._last: tuple[float, float] | None = None
        self.joules = 0.0
        self.missing_s = 0.0

    def sample(self, at_s: float, watts: float) -> None:
        """Take one sample; samples come in the order of time."""
        if self._last is not None:
            step_s = at_s - self._last[0]
            if step_s > self._longest_gap_s:
                self.missing_s += step_s
            elif step_s > 0:
                self.joules += (self._last[1] + watts) / 2.0 * step_s
        self._last = (at_s, watts)

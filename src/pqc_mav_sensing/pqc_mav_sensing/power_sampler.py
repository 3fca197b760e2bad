# SPDX-License-Identifier: Apache-2.0
"""Reads the best available power source at its rate, survives sensor faults, and summarises. No thread, no clock.

The caller's loop is: `tick(now)`, sleep until the time it returns; now and then `summary(now)` from any other thread.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219 import LostSetupError, Outcome
from pqc_mav_sensing.power_source import PowerSource
from pqc_mav_sensing.power_window import EnergyMeter, PowerSummary, PowerWindow

FAILURES = 3  # failed reads in a row after which a source counts as lost
RETRY_S = 0.25  # after a source was lost
FALL_BACK_S = 2.0  # how long a lost source is waited for before the next one is taken
BETTER_S = 5.0  # how often a better source is looked for
CHECK_S = 1.0
POLL_S = 0.0001  # until a conversion is ready
POLLS = 4
LATE_PERIODS = 10  # what is later than this many periods is dropped, not caught up with


@dataclass(frozen=True)
class PowerView:
    """One published interval."""

    source: str
    measured: bool
    valid: bool
    reason: str
    resolution: str
    target_rate_hz: float
    energy_j: float
    missing_s: float
    restarts: int
    summary: PowerSummary


class PowerSampler:
    """`sources`: best first. With one source only that one is used, however long it is gone."""

    def __init__(
        self,
        sources: Sequence[PowerSource],
        now_s: float,
        on_sample: Callable[[float, float, float, float], None] | None = None,
    ) -> None:
        """`on_sample(time, volts, amperes, watts)` gets every good sample, on the sampling thread."""
        self._sources = list(sources)
        self._meters = {source.name: EnergyMeter() for source in self._sources}
        self._on_sample = on_sample
        self._lock = threading.Lock()
        self._window = PowerWindow(now_s)
        self._at = -1  # index of the source in use, -1 = none could be opened yet
        self._open = False
        self._reason = "no source of power figures has been read yet"
        self._good_s = now_s  # when the source in use last gave a figure, or said that it cannot
        self._opened_s = now_s
        self._failures = 0  # in a row
        self._next_better_s = now_s
        self._next_check_s = now_s + CHECK_S
        self._deadline_s = now_s
        self._polls = 0
        self.restarts = 0  # times a source was set up again

    @property
    def source(self) -> PowerSource | None:
        """The source in use; None before the first could be opened."""
        return self._sources[self._at] if self._at >= 0 else None

    def tick(self, now_s: float) -> float:
        """Take one reading. Returns when to take the next."""
        if now_s >= self._next_better_s and self._at != 0:
            self._next_better_s = now_s + BETTER_S
            self._take_best(now_s)
        source = self.source
        if source is None:
            return now_s + RETRY_S
        if not self._open:
            return self._reopen(source, now_s)
        try:
            if now_s >= self._next_check_s:
                self._next_check_s = now_s + CHECK_S
                source.check()
            reading = source.look(now_s)
        except LostSetupError as error:
            self._lost(str(error))
            return now_s  # it answers: it can be set up at once
        except SensorError as error:
            return self._failed(source, now_s, str(error))
        self._failures = 0
        if reading.outcome in (Outcome.SAMPLE, Outcome.OVERFLOW):
            self._good_s = now_s
        elif now_s - max(self._good_s, self._opened_s) >= FALL_BACK_S:
            self._lost(f"{source.name} has given no new figure for {FALL_BACK_S:g} s")
            return now_s
        with self._lock:
            if reading.outcome is Outcome.SAMPLE:
                self._reason = ""
                self._window.sample(reading.volts, reading.amperes, reading.watts)
                self._meters[source.name].sample(now_s, reading.watts)
            elif reading.outcome is Outcome.DUPLICATE:
                self._window.duplicates += 1
            elif reading.outcome is Outcome.OVERFLOW:
                self._window.overflows += 1
                self._reason = "the sensor's arithmetic overflows: the current is beyond the range it was set up for"
            else:
                self._window.errors += 1
                self._reason = "the sensor's registers contradict each other"
        if reading.outcome is Outcome.SAMPLE and self._on_sample is not None:
            self._on_sample(now_s, reading.volts, reading.amperes, reading.watts)
        return self._next(source, now_s, reading.outcome)

    def summary(self, now_s: float) -> PowerView:
        """Ends the interval; may be called from another thread."""
        with self._lock:
            summary = self._window.finish(now_s)
            source = self.source
            if source is None:
                return PowerView("none", False, False, self._reason, "", 0.0, 0.0, 0.0, self.restarts, summary)
            meter = self._meters[source.name]
            valid = summary.samples > 0
            return PowerView(
                source=source.name,
                measured=source.measured,
                valid=valid,
                reason="" if valid else self._reason or "no new conversion in this interval",
                resolution=source.resolution,
                target_rate_hz=source.rate_hz,
                energy_j=meter.joules,
                missing_s=meter.missing_s,
                restarts=self.restarts,
                summary=summary,
            )

    def close(self) -> None:
        """Releases the source."""
        if self._open and self.source is not None:
            self.source.close()
            self._open = False

    def _failed(self, source: PowerSource, now_s: float, reason: str) -> float:
        """One read failed: a disturbance on the bus, until it has happened often enough in a row to be the end."""
        self._failures += 1
        if self._failures >= FAILURES:
            self._lost(reason)
            return now_s + RETRY_S
        with self._lock:
            self._window.errors += 1
            self._reason = reason
        return self._next(source, now_s, Outcome.TORN)

    def _next(self, source: PowerSource, now_s: float, outcome: Outcome) -> float:
        period_s = 1.0 / source.rate_hz
        if outcome is Outcome.DUPLICATE and self._polls < POLLS and period_s > POLLS * POLL_S:
            self._polls += 1
            return now_s + POLL_S
        self._polls = 0
        self._deadline_s += period_s
        if now_s - self._deadline_s > LATE_PERIODS * period_s:
            self._deadline_s = now_s
        return self._deadline_s

    def _take_best(self, now_s: float) -> None:
        """Opens the best source that can be opened, of those better than the one in use."""
        candidates = self._sources if self._at < 0 else self._sources[: self._at]
        for index, source in enumerate(candidates):
            reason = _try(source)
            if not reason:
                self._use(index, now_s)
                return
            if self._at < 0:
                self._reason = reason

    def _reopen(self, source: PowerSource, now_s: float) -> float:
        if now_s - self._good_s >= FALL_BACK_S:
            for index in range(self._at + 1, len(self._sources)):
                if not _try(self._sources[index]):
                    self._use(index, now_s)
                    self._next_better_s = now_s + BETTER_S
                    return now_s
        reason = _try(source)
        if not reason:
            self.restarts += 1
            self._begin(now_s)
            return now_s
        with self._lock:
            self._window.errors += 1
            self._reason = reason
        return now_s + RETRY_S

    def _use(self, index: int, now_s: float) -> None:
        self.close()
        with self._lock:
            self._at = index
        self._good_s = now_s
        self._begin(now_s)

    def _begin(self, now_s: float) -> None:
        """A source was opened."""
        self._open, self._failures = True, 0
        self._opened_s = self._deadline_s = now_s
        self._next_check_s = now_s + CHECK_S

    def _lost(self, reason: str) -> None:
        self.close()
        with self._lock:
            self._window.errors += 1
            self._reason = reason


def _try(source: PowerSource) -> str:
    """Opens a source. Returns "" or why it cannot be opened."""
    try:
        source.open()
    except SensorError as error:
        source.close()
        return str(error)
    return ""

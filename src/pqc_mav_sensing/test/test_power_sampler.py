# SPDX-License-Identifier: Apache-2.0
"""The sampler as a whole on the fake bus, up to ten thousand looks with faults of every kind."""

import math
import random
from collections.abc import Callable

import pytest
from fake_i2c import Clock, FakeBus, FakeIna219

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219_registers import setup_for
from pqc_mav_sensing.power_sampler import PowerSampler, PowerView
from pqc_mav_sensing.power_source import Ina219Source, ModelSource, PowerModel

SETUP = setup_for(0.1, 3.2, 1000.0)
ADDRESS = 0x40


class Bench:
    """A sampler on a fake bus with a fake clock, and all samples it believed."""

    def __init__(self, *, with_model: bool = False, transfer_s: float = 45 / 400e3) -> None:
        self.clock = Clock()
        self.chip = FakeIna219(self.clock)
        self.fault: Callable[[str], str] = lambda _kind: ""
        self.plugged = True
        self.samples: list[tuple[float, float, float, float]] = []
        self._transfer_s = transfer_s
        sources = [Ina219Source(self._open, ADDRESS, SETUP, 1000.0)]
        if with_model:
            sources.append(ModelSource(PowerModel(), lambda: (self.clock.now_s * 0.3, self.clock.now_s)))
        self.sampler = PowerSampler(sources, self.clock.now_s, lambda *sample: self.samples.append(sample))

    def _open(self) -> FakeBus:
        chips = {ADDRESS: self.chip} if self.plugged else {}
        self.bus = FakeBus(self.clock, chips, lambda kind: self.fault(kind), self._transfer_s)
        return self.bus

    def unplug(self) -> None:
        self.plugged = False
        self.bus.chips.clear()

    def plug(self) -> None:
        self.plugged = True
        self.chip.power_cycle()
        self.bus.chips[ADDRESS] = self.chip

    def run(self, seconds: float) -> PowerView:
        """Runs the loop of the sampling thread, with 50 us of Python per turn."""
        end_s = self.clock.now_s + seconds
        while self.clock.now_s < end_s:
            wake_s = self.sampler.tick(self.clock.now_s)
            self.clock.advance(50e-6)
            self.clock.now_s = max(self.clock.now_s, wake_s)
        return self.sampler.summary(self.clock.now_s)


def test_one_kilohertz_is_reached_at_400_khz() -> None:
    bench = Bench()
    bench.run(0.1)
    view = bench.run(1.0)
    assert view.source == "ina219" and view.measured and view.valid
    assert view.summary.rate_hz == pytest.approx(1000.0, rel=0.01)
    assert view.summary.power_mean_w == pytest.approx(4.0, abs=0.02)
    assert view.resolution == "bus 11 bit, shunt 12 bit" and view.target_rate_hz == 1000.0


def test_a_slow_bus_is_seen_in_the_achieved_rate() -> None:
    view = Bench(transfer_s=45 / 100e3).run(1.0)
    assert view.valid and 400 < view.summary.rate_hz < 800


def test_conversions_slower_than_asked_are_duplicates() -> None:
    bench = Bench()
    bench.run(0.01)
    bench.chip.configuration = bench.chip.configuration | 0b1111 << 7 & 0x780 & 0b0011 << 7  # bus at 12 bit
    view = bench.run(0.5)
    assert view.summary.rate_hz < 950 and view.summary.duplicates > 20


def test_energy_is_that_of_the_load() -> None:
    bench = Bench()
    bench.chip.amperes = lambda t: 0.8 + 0.4 * math.sin(40 * t)
    view = bench.run(5.0)
    assert view.energy_j == pytest.approx(5.0 * 4.0, rel=0.02)
    assert view.summary.power_peak_w == pytest.approx(6.0, abs=0.05)
    assert view.summary.power_min_w == pytest.approx(2.0, abs=0.05)


def test_unplugged_and_plugged_again() -> None:
    bench = Bench()
    bench.run(0.2)
    bench.unplug()
    view = bench.run(1.0)
    view = bench.run(0.1)
    assert not view.valid and "does not answer" in view.reason and math.isnan(view.summary.power_mean_w)
    assert view.source == "ina219"
    bench.plug()
    bench.run(0.5)
    view = bench.run(0.1)
    assert view.valid and view.restarts >= 1 and view.summary.power_mean_w == pytest.approx(4.0, abs=0.02)


def test_after_a_long_absence_the_first_conversion_is_waited_for() -> None:
    """A sensor set up again has nothing new for most of a millisecond; that is no reason to give it up at once."""
    bench = Bench()
    bench.run(0.2)
    bench.unplug()
    bench.run(10.0)
    bench.plug()
    bench.run(0.5)
    view = bench.run(0.1)
    assert view.valid and view.summary.samples > 90 and view.restarts == 1


def test_a_power_cycled_sensor_is_set_up_at_once_and_no_0_a_is_published() -> None:
    bench = Bench()
    bench.run(0.2)
    bench.chip.power_cycle()
    view = bench.run(0.1)
    assert view.restarts == 1 and view.summary.samples > 80
    assert view.summary.power_min_w == pytest.approx(4.0, abs=0.02)


def test_a_lost_sensor_falls_back_to_a_model_that_says_so_and_comes_back() -> None:
    bench = Bench(with_model=True)
    measured_j = bench.run(1.0).energy_j
    bench.unplug()
    bench.run(3.0)
    view = bench.run(1.0)
    assert (view.source, view.measured, view.valid) == ("model", False, True)
    assert view.summary.power_mean_w == pytest.approx(PowerModel().watts(0.3), rel=0.01)
    bench.plug()
    bench.run(6.0)
    view = bench.run(0.1)
    assert (view.source, view.measured, view.valid) == ("ina219", True, True)
    # The model's energy is not mixed into the sensor's.
    assert measured_j < view.energy_j < 1.0 * 4.0 + 6.2 * 4.0 and view.missing_s > 3.0


def test_without_a_sensor_from_the_start() -> None:
    bench = Bench(with_model=True)
    bench.plugged = False
    view = bench.run(1.0)
    assert view.source == "model" and not view.measured and view.valid
    alone = Bench()
    alone.plugged = False
    view = alone.run(1.0)
    assert (view.source, view.valid) == ("none", False) and "does not answer" in view.reason


def test_a_sensor_that_stops_converting_is_given_up_and_set_up_again() -> None:
    bench = Bench()
    bench.run(0.2)
    bench.chip.configuration &= ~0b111  # power-down
    bench.run(3.5)
    view = bench.run(0.1)
    assert view.valid and view.restarts >= 1


def test_an_error_that_is_no_sensors_is_not_hidden() -> None:
    bench = Bench()
    bench.run(0.1)

    def broken(_kind: str) -> str:
        raise ZeroDivisionError

    bench.fault = broken
    with pytest.raises(ZeroDivisionError):
        bench.run(0.1)


FAULTS = ("nack", "bus_error", "timeout", "lost", "stuck_high", "power_cycle")


@pytest.mark.parametrize("seed", range(8))
def test_ten_thousand_looks_with_faults_believe_no_wrong_value(seed: int) -> None:
    """One transfer in thirty goes wrong, the sensor is unplugged now and then, and the load moves all the time."""
    rng = random.Random(seed)
    bench = Bench()
    volts = bench.chip.volts = lambda t: 5.0 + 0.05 * math.sin(3 * t)
    amperes = bench.chip.amperes = lambda t: 1.2 + 0.6 * math.sin(17 * t)
    bench.fault = lambda _kind: rng.choice(FAULTS) if rng.random() < 1 / 30 else ""
    injected = bench.chip.power_cycles
    views = []
    looks = 0
    while looks < 10_000:
        wake_s = bench.sampler.tick(bench.clock.now_s)
        looks += 1
        bench.clock.advance(50e-6)
        bench.clock.now_s = max(bench.clock.now_s, wake_s)
        if rng.random() < 0.001:
            bench.unplug() if bench.plugged else bench.plug()
        if not bench.plugged and rng.random() < 0.05:
            bench.plug()
        if looks % 100 == 0:
            views.append(bench.sampler.summary(bench.clock.now_s))
    assert bench.chip.power_cycles - injected > 50 and len(bench.samples) > 3000
    for at_s, seen_v, seen_a, seen_w in bench.samples:
        # A conversion ended at most two pairs ago; in that time the load moves by less than 30 mA and 1 mV.
        assert seen_v == pytest.approx(volts(at_s), abs=0.012)
        assert seen_a == pytest.approx(amperes(at_s), abs=0.035)
        assert seen_w == pytest.approx(seen_v * seen_a)
    for view in views:
        assert view.valid == (view.summary.samples > 0)
        if view.valid:
            assert 2.5 < view.summary.power_min_w <= view.summary.power_mean_w <= view.summary.power_peak_w < 9.5
        else:
            assert view.reason and math.isnan(view.summary.power_mean_w)


def test_sources_that_fail_to_open_are_closed() -> None:
    class Broken:
        name, measured, resolution, rate_hz = "hwmon", True, "", 10.0
        closed = 0

        def open(self) -> None:
            raise SensorError("is not there")

        def look(self, _now_s: float) -> None:
            raise AssertionError

        check = look

        def close(self) -> None:
            Broken.closed += 1

    sampler = PowerSampler([Broken()], 0.0)
    assert sampler.tick(0.0) > 0.0
    assert sampler.summary(0.1).reason == "is not there" and Broken.closed == 1

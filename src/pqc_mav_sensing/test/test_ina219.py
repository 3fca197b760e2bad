# SPDX-License-Identifier: Apache-2.0
"""The driver on a fake bus: what it writes, what it believes, what it refuses."""

import pytest
from fake_i2c import Clock, FakeBus, FakeIna219

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.ina219 import Ina219, LostSetupError, Outcome
from pqc_mav_sensing.ina219_registers import setup_for

SETUP = setup_for(0.1, 3.2, 1000.0)
ADDRESS = 0x40


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def chip(clock: Clock) -> FakeIna219:
    return FakeIna219(clock)


@pytest.fixture
def bus(clock: Clock, chip: FakeIna219) -> FakeBus:
    return FakeBus(clock, {ADDRESS: chip})


def begun(bus: FakeBus) -> Ina219:
    sensor = Ina219(bus, ADDRESS, SETUP)
    sensor.begin()
    return sensor


def test_begin_writes_both_registers_high_byte_first(bus: FakeBus, chip: FakeIna219) -> None:
    begun(bus)
    assert (chip.configuration, chip.calibration) == (SETUP.configuration, SETUP.calibration)


def test_a_sample_is_what_flows(bus: FakeBus, clock: Clock) -> None:
    sensor = begun(bus)
    clock.advance(0.001)
    reading = sensor.look()
    assert reading.outcome is Outcome.SAMPLE
    assert reading.volts == pytest.approx(5.0, abs=0.004)
    assert reading.amperes == pytest.approx(0.8, abs=2 * SETUP.current_lsb_a + 10e-6 / 0.1)


def test_current_may_flow_the_other_way(bus: FakeBus, clock: Clock, chip: FakeIna219) -> None:
    chip.amperes = lambda _t: -1.5
    sensor = begun(bus)
    clock.advance(0.001)
    assert sensor.look().amperes == pytest.approx(-1.5, abs=3e-4)


def test_before_a_conversion_there_is_nothing_new(bus: FakeBus, clock: Clock, chip: FakeIna219) -> None:
    sensor = begun(bus)
    clock.advance(0.001)
    assert sensor.look().outcome is Outcome.SAMPLE
    assert sensor.look().outcome is Outcome.DUPLICATE
    clock.advance(chip.pair_s)
    assert sensor.look().outcome is Outcome.SAMPLE


def test_overflow_is_no_sample(bus: FakeBus, clock: Clock, chip: FakeIna219) -> None:
    chip.volts, chip.amperes = (lambda _t: 15.9), (lambda _t: 3.3)
    sensor = begun(bus)
    chip.calibration = 0xFFFE  # wrong by far, as another program's would be
    clock.advance(0.001)
    assert sensor.look().outcome is Outcome.OVERFLOW


def test_zero_current_after_a_power_cycle_is_not_believed(bus: FakeBus, clock: Clock, chip: FakeIna219) -> None:
    sensor = begun(bus)
    chip.power_cycle()
    clock.advance(0.002)
    with pytest.raises(LostSetupError, match="calibration"):
        sensor.look()
    sensor.begin()
    clock.advance(0.001)
    assert sensor.look().amperes == pytest.approx(0.8, abs=1e-3)


def test_two_faults_in_one_look_do_not_make_a_sample(bus: FakeBus, clock: Clock) -> None:
    """The power register is torn, then the supply goes away and the current's read is all ones."""
    sensor = begun(bus)
    clock.advance(0.001)
    faults = iter(["", "", "stuck_high", "power_cycle", "stuck_high"])
    bus.fault = lambda _kind: next(faults, "")
    with pytest.raises(LostSetupError):
        sensor.look()


def test_zero_current_with_its_calibration_is_believed(bus: FakeBus, clock: Clock, chip: FakeIna219) -> None:
    chip.amperes = lambda _t: 0.0
    sensor = begun(bus)
    clock.advance(0.001)
    reading = sensor.look()
    assert (reading.outcome, reading.amperes) == (Outcome.SAMPLE, 0.0)


def test_another_configuration_is_noticed(bus: FakeBus, chip: FakeIna219) -> None:
    sensor = begun(bus)
    chip.write(0, 0x399F)
    with pytest.raises(LostSetupError, match="0x399f"):
        sensor.verify()


def test_a_sample_torn_by_a_step_is_read_again(clock: Clock, chip: FakeIna219) -> None:
    """The load steps between the read of the bus voltage and that of the current."""
    bus = FakeBus(clock, {ADDRESS: chip})
    sensor = begun(bus)
    clock.advance(chip.pair_s * 0.9)
    clock.advance(chip.pair_s * 0.95)  # the next pair ends during the three reads
    step_s = clock.now_s + 0.0001
    chip.volts = lambda t: 5.0 if t < step_s else 3.0
    chip.amperes = lambda t: 0.8 if t < step_s else 3.0
    reading = sensor.look()
    assert reading.outcome is Outcome.SAMPLE
    assert (round(reading.volts, 1), round(reading.amperes, 1)) in {(5.0, 0.8), (3.0, 3.0)}


def test_all_ones_are_no_reading(bus: FakeBus, clock: Clock) -> None:
    sensor = begun(bus)
    clock.advance(0.001)
    bus.fault = lambda _kind: "stuck_high"
    assert sensor.look().outcome is Outcome.TORN


@pytest.mark.parametrize("first", [0x1111, 0x1104, 0x0101, 0x2104, 0x3131, 0x4127, 0xFFFF])
def test_nothing_is_written_to_another_chip_at_its_address(
    bus: FakeBus, chip: FakeIna219, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A PCA9685 (servos; with and without counting on), an INA226, lines that are stuck."""
    written: list[int] = []
    monkeypatch.setattr(chip, "read", lambda: first)
    monkeypatch.setattr(chip, "write", lambda *given: written.append(*given))
    with pytest.raises(SensorError, match=f"no INA219 as it starts .*0x{first:04x}"):
        Ina219(bus, ADDRESS, SETUP).begin()
    assert not written


def test_no_answer_is_one_sentence(bus: FakeBus) -> None:
    with pytest.raises(SensorError, match="0x41 does not answer"):
        Ina219(bus, 0x41, SETUP).begin()

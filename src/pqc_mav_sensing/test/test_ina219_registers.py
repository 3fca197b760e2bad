# SPDX-License-Identifier: Apache-2.0
"""Figures of the data sheet SBOS448, and that every setup the code accepts is one the sensor can have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.ina219_registers import (
    SHUNT_RANGES_V,
    BusWord,
    power_word,
    resolution_for,
    setup_for,
    signed,
    swapped,
)


def test_the_data_sheets_own_example() -> None:
    """SBOS448, 8.6.4 and table 8: 2 mohm, steps of 1 mA; 10 A at 11.98 V are 119.8 W."""
    made = setup_for(0.002, 32.768, 500.0)
    assert made.calibration == 20480
    assert made.current_lsb_a == pytest.approx(1e-3)
    bus_word = 0x5D98
    assert BusWord.decode(bus_word).volts == pytest.approx(11.98)
    assert 2000 * made.calibration // 4096 == 10_000  # 20 mV over the shunt
    assert power_word(10_000, bus_word) == 5990


def test_one_kilohertz_is_not_12_plus_12_bit() -> None:
    made = resolution_for(1000.0)
    assert str(made) == "bus 11 bit, shunt 12 bit"
    assert made.longest_s == pytest.approx(890e-6)


@pytest.mark.parametrize(
    ("rate_hz", "text"),
    [
        (100.0, "bus 12 bit, shunt 12 bit"),
        (850.0, "bus 12 bit, shunt 12 bit"),
        (854.0, "bus 11 bit, shunt 12 bit"),
        (1300.0, "bus 10 bit, shunt 12 bit"),
        (2000.0, "bus 10 bit, shunt 11 bit"),
        (5000.0, "bus 9 bit, shunt 9 bit"),
    ],
)
def test_resolution_follows_the_rate(rate_hz: float, text: str) -> None:
    assert str(resolution_for(rate_hz)) == text


def test_too_fast_is_refused_with_the_fastest() -> None:
    with pytest.raises(SensingError, match="5376"):
        resolution_for(6000.0)


def test_configuration_word() -> None:
    """16 V, +-320 mV, bus 11 bit, shunt 12 bit, continuous."""
    assert setup_for(0.1, 3.2, 1000.0).configuration == 0b0_0_0_11_0010_0011_111
    assert setup_for(0.1, 0.4, 100.0, 20.0).configuration == 0b0_0_1_00_0011_0011_111


@pytest.mark.parametrize(
    ("shunt", "current", "volts", "said"),
    [
        (0.0, 1.0, 12.0, "shunt"),
        (0.1, 3.3, 12.0, "at most 0.32 V"),
        (0.1, 1.0, 33.0, "26 V"),
        (0.1, 0.0, 5.0, "drop 0 V"),
    ],
)
def test_what_cannot_be_is_refused(shunt: float, current: float, volts: float, said: str) -> None:
    with pytest.raises(SensingError, match=said):
        setup_for(shunt, current, 1000.0, volts)


@given(st.floats(0.0005, 10.0), st.floats(0.01, 0.32), st.sampled_from([50.0, 1000.0, 2000.0]))
def test_every_accepted_setup_covers_its_current(shunt_ohm: float, drop_v: float, rate_hz: float) -> None:
    current_a = drop_v / shunt_ohm
    made = setup_for(shunt_ohm, current_a, rate_hz)
    assert 0 < made.calibration <= 0xFFFE and made.calibration % 2 == 0
    assert made.current_lsb_a * made.calibration * shunt_ohm == pytest.approx(0.04096)
    assert made.current_lsb_a * 0x7FFF >= current_a * 0.999
    assert SHUNT_RANGES_V[made.configuration >> 11 & 0b11] >= drop_v * 0.999
    assert made.resolution.longest_s <= 1.0 / rate_hz


def test_words() -> None:
    assert swapped(0x1234) == 0x3412
    assert signed(0xFFFF) == -1 and signed(0x7FFF) == 32767 and signed(0x8000) == -32768
    word = BusWord.decode(1250 << 3 | 0b10)
    assert (word.volts, word.ready, word.overflow, word.possible) == (5.0, True, False, True)
    assert BusWord.decode(0b01).overflow and not BusWord.decode(0xFFFF).possible
    assert power_word(-20000, 1250 << 3) == 5000
